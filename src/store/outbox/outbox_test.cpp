// Outbox files: acknowledged steps survive a crash, others do not, and garbage is reported.

#include "reprise/outbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <memory>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "store/outbox/outbox_file.h"

namespace reprise::store::outbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUrl = "postgres://a:***@h/d?tenant=t";

Message message(std::string_view text) {
  Message message;
  message.role = role::kUser;
  message.blocks.emplace_back(text_block(text));
  message.created_at = Time(std::chrono::seconds(1'700'000'000));
  return message;
}

OutboxStep step(const std::string& name, std::int64_t after, std::string_view text) {
  return {.operation = *OperationId::parse(name), .after = {after}, .messages = {message(text)}};
}

bool same(const OutboxStep& a, const OutboxStep& b) {
  return a.operation == b.operation && a.after == b.after && a.messages == b.messages &&
         a.replace_from == b.replace_from && a.end_partial == b.end_partial;
}

Session whole_session() {
  Session session{.info = {.id = *SessionId::parse("s")}};
  session.info.title = "a title\n\xc3\xa4";
  session.info.mode = "m";
  session.info.provider = "p";
  session.info.model = "mo";
  session.info.working_dir = "/w";
  session.info.created_at = Time(std::chrono::microseconds(1'700'000'000'000'001));
  session.info.updated_at = session.info.created_at;
  session.system_prompt = "be brief";
  session.config = *RawJson::parse(R"({"a":123456789012345678901234})");
  session.prompt_history = {"one"};
  session.extra = {{"x", *RawJson::parse("[1.0]")}};
  return session;
}

class OutboxFileTest : public testing::Test {
 protected:
  fs::path folder() const { return root_ / "state" / "spill"; }
  std::unique_ptr<Outbox> begin() { return make_outbox_file(folder(), std::string(kUrl)); }
  fs::path only_file() const {
    const auto files = find_outboxes(folder()).value();
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? fs::path() : files.front();
  }
  fs::path file_of(std::string_view bytes) const {
    fs::path file = root_ / "given.jsonl";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  const test::TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
};

TEST_F(OutboxFileTest, ReturnsWhatWasStored) {
  const Session session = whole_session();
  OutboxStep second = step("op2", 6, "\xff two \n\"");
  second.replace_from = Seq{4};
  second.end_partial = *OperationId::parse("answer");
  const BlobHash hash = *BlobHash::parse(std::string(64, 'a'));
  second.blobs = {{hash, std::string("\0\xff bytes", 8)}};
  {
    const auto outbox = begin();
    EXPECT_TRUE(find_outboxes(folder())->empty());
    ASSERT_TRUE(outbox->add(session, step("op1", 5, "one")));
    ASSERT_TRUE(outbox->add(session, second));
    EXPECT_EQ(outbox->where(),
              cat(only_file().native(), "; copy it with: reprise copy spill: '", kUrl, "'"));
  }
  const auto read = read_outbox(only_file());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->session, session);
  EXPECT_EQ(read->store, kUrl);
  EXPECT_EQ(only_file().stem(), read->fork.str());
  EXPECT_EQ(store_of_outbox(only_file()), kUrl);
  ASSERT_EQ(read->steps.size(), 2U);
  EXPECT_TRUE(same(read->steps[0], step("op1", 5, "one")));
  EXPECT_TRUE(same(read->steps[1], second));
  EXPECT_EQ(read->steps[1].blobs, second.blobs);
  struct stat status{};
  ASSERT_EQ(::stat(only_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  ASSERT_EQ(::stat(folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(OutboxFileTest, LinesHaveTheDocumentedMembers) {
  OutboxStep second = step("op2", 6, "two");
  second.replace_from = Seq{4};
  second.end_partial = *OperationId::parse("answer");
  second.blobs = {{*BlobHash::parse(std::string(64, 'a')), "bytes"}};
  {
    const auto outbox = begin();
    ASSERT_TRUE(outbox->add(whole_session(), step("op1", 5, "one")));
    ASSERT_TRUE(outbox->add(whole_session(), second));
  }
  const fs::path file = only_file();
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), 4U);
  using testing::HasSubstr;
  EXPECT_THAT(lines[0], HasSubstr(R"("reprise_spill":1)"));
  EXPECT_THAT(lines[0], HasSubstr(cat(R"("store":")", kUrl, "\"")));
  EXPECT_THAT(lines[0], HasSubstr(R"("session":"s")"));
  EXPECT_THAT(lines[0], HasSubstr(cat(R"("aside":")", file.stem().native(), "\"")));
  for (const std::string_view member : {"title", "mode", "provider", "model", "working_dir",
                                        "created_at", "updated_at", "system_prompt", "config"}) {
    EXPECT_THAT(lines[1], HasSubstr(cat("\"", member, "\":")));
  }
  EXPECT_THAT(lines[2], HasSubstr(R"("operation":"op1")"));
  EXPECT_THAT(lines[2], HasSubstr(R"("after":5)"));
  EXPECT_THAT(lines[2], testing::Not(HasSubstr("replace_from")));
  EXPECT_THAT(lines[3], HasSubstr(R"("replace_from":4)"));
  EXPECT_THAT(lines[3], HasSubstr(R"("end":"answer")"));
  EXPECT_THAT(lines[3], HasSubstr(R"("messages":[{)"));
  EXPECT_THAT(lines[2], testing::Not(HasSubstr("blobs")));
  EXPECT_THAT(lines[3], HasSubstr(cat(R"("blobs":{")", std::string(64, 'a'), R"(":"Ynl0ZXM="})")));
}

// After rotate(), later steps go to another file, and clear() removes only that one.
TEST_F(OutboxFileTest, AnAbandonedFileSurvivesLaterSteps) {
  const auto outbox = begin();
  ASSERT_TRUE(outbox->add(whole_session(), step("op1", 5, "one")));
  outbox->rotate();
  const fs::path left = only_file();
  EXPECT_TRUE(lock_outbox(left)->has_value()) << "anybody may bring it in";
  outbox->clear();
  ASSERT_TRUE(outbox->add(whole_session(), step("op2", 9, "two")));
  EXPECT_EQ(find_outboxes(folder())->size(), 2U);
  outbox->clear();
  EXPECT_EQ(only_file(), left);
  EXPECT_EQ(read_outbox(left)->steps.size(), 1U);
}

TEST_F(OutboxFileTest, ATornLineLosesNothingAcknowledged) {
  {
    const auto outbox = begin();
    ASSERT_TRUE(outbox->add(whole_session(), step("op1", 0, "one")));
    ASSERT_TRUE(outbox->add(whole_session(), step("op2", 1, "two")));
  }
  const std::string bytes = *read_file(only_file());
  const std::size_t second = bytes.find("\n{\"operation\":\"op2\"") + 1;
  for (std::size_t size = second; size < bytes.size(); ++size) {
    const auto read = read_outbox(file_of(bytes.substr(0, size)));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->steps.size(), 1U) << size;
  }
  EXPECT_EQ(read_outbox(file_of(bytes))->steps.size(), 2U);
}

TEST_F(OutboxFileTest, AFailedLineIsTruncatedBeforeTheNext) {
  const auto outbox = begin();
  ASSERT_TRUE(outbox->add(whole_session(), step("op1", 0, "one")));
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit tight = before;
  tight.rlim_cur = fs::file_size(only_file()) + 100;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto added = outbox->add(whole_session(), step("op2", 1, std::string(1000, 'x')));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::io);
  EXPECT_EQ(read_outbox(only_file())->steps.size(), 1U);
  ASSERT_TRUE(outbox->add(whole_session(), step("op3", 1, "three")));
  const auto read = read_outbox(only_file());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->steps.size(), 2U);
  EXPECT_TRUE(same(read->steps[1], step("op3", 1, "three")));
}

TEST_F(OutboxFileTest, AFailedWriteLeavesNoFile) {
  std::ofstream(root_ / "state") << "in the way";
  const auto outbox = begin();
  EXPECT_FALSE(outbox->add(whole_session(), step("op1", 0, "one")));
  fs::remove(root_ / "state");
  ASSERT_TRUE(outbox->add(whole_session(), step("op1", 0, "one")));
  EXPECT_EQ(read_outbox(only_file())->steps.size(), 1U);
}

TEST_F(OutboxFileTest, EachConversationHasItsOwnLockedFile) {
  auto one = begin();
  auto two = begin();
  ASSERT_TRUE(one->add(whole_session(), step("op1", 0, "one")));
  ASSERT_TRUE(two->add(whole_session(), step("op2", 0, "two")));
  ASSERT_TRUE(one->add(whole_session(), step("op3", 1, "three")));
  const auto files = find_outboxes(folder()).value();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(*lock_outbox(files[0]), std::nullopt);
  one.reset();
  const fs::path first = read_outbox(files[0])->steps.size() == 2 ? files[0] : files[1];
  {
    auto held = lock_outbox(first);
    ASSERT_TRUE(held && *held);
    EXPECT_EQ(*lock_outbox(first), std::nullopt);
  }
  ASSERT_TRUE(mark_as_stored(first));
  EXPECT_EQ(find_outboxes(folder())->size(), 1U);
  EXPECT_EQ(read_outbox(cat(first.native(), ".stored"))->steps.size(), 2U);
  two->clear();
  EXPECT_TRUE(find_outboxes(folder())->empty());
  ASSERT_TRUE(two->add(whole_session(), step("op4", 0, "four")));
  EXPECT_EQ(read_outbox(only_file())->steps.size(), 1U);
}

TEST_F(OutboxFileTest, OtherFilesAreReported) {
  const std::string head = R"({"reprise_spill":1,"store":"u","session":"s","aside":"a"})"
                           "\n{}\n";
  const std::string good = R"({"operation":"o","after":0,"messages":[]})"
                           "\n";
  EXPECT_TRUE(read_outbox(file_of(head + good)));
  const std::pair<std::string, std::string_view> bad[] = {
      {"", "this is not an outbox file"},
      {"\n\n", "line 1: this is not an outbox file"},
      {"{\"reprise_spill\":1", "this is not an outbox file"},
      {"[]\n{}\n", "line 1: this is not an outbox file"},
      {R"({"reprise_spill":1,"session":"../x","aside":"a"})"
       "\n{}\n",
       "line 1: "},
      {head.substr(0, head.find('\n')) + "\n[]\n" + good, "line 2: "},
      {head + std::string(100, '[') + "\n", "line 3: "},
      {head + good + "\n" + good, "line 4: "},
      {head + R"({"operation":"","after":0,"messages":[]})"
              "\n",
       "line 3: "},
      {head + R"({"operation":"o","after":-1,"messages":[]})"
              "\n",
       "line 3: it names no"},
      {head + R"({"operation":"o","after":1,"replace_from":2,"messages":[]})"
              "\n",
       "line 3: "},
      {head + R"({"operation":"o","after":99999999999999999999,"messages":[]})"
              "\n",
       "line 3: "},
      {head + R"({"after":0,"messages":[]})"
              "\n",
       "line 3: it names no operation"},
      {head + R"({"operation":"o","after":0,"messages":[7]})"
              "\n",
       "line 3: "},
      {head + R"({"operation":"o","after":0,"messages":{}})"
              "\n",
       "line 3: "},
  };
  for (const auto& [bytes, why] : bad) {
    const auto read = read_outbox(file_of(bytes));
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, Code::corrupt);
    EXPECT_THAT(read.error().message, testing::HasSubstr(why));
    EXPECT_THAT(read.error().message, testing::HasSubstr("given.jsonl"));
  }
  EXPECT_EQ(read_outbox(file_of("{\"reprise_spill\":2}\n{}\n")).error().code, Code::unsupported);
  EXPECT_EQ(read_outbox(root_ / "none").error().code, Code::not_found);
  EXPECT_EQ(store_of_outbox(file_of(std::string(100'000, 'x'))), std::nullopt);
  EXPECT_EQ(store_of_outbox(root_), std::nullopt);
}

}  // namespace
}  // namespace reprise::store::outbox
