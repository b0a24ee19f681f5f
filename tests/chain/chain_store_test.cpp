// The file of a chain store, changed by users and other programs.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "chain/chain_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr std::string_view kFirst = "0b1a2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";

class ChainStore : public testing::Test {
 protected:
  std::unique_ptr<Store> open(Access access = Access::write) {
    return must(open_chain_store(
        file_, {.access = access,
                .on_warning = [this](std::string_view text) { notices_.emplace_back(text); }}));
  }
  std::string bytes() const { return must(read_file(file_)); }
  void put(std::string_view text) const { must(replace_file(file_, text)); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      all.push_back(entry.path().filename().string());
    }
    std::ranges::sort(all);
    return all;
  }
  static void answer(Store& store, std::string_view id, std::string_view response, Time when) {
    Message message;
    message.role = role::kAssistant;
    message.provider = "openai-responses";
    message.response_id = response;
    message.created_at = when;
    must(
        store.append(session_id(id), {message}, {.operation = operation_id(cat("op-", response))}));
  }
  static Texts ids(Store& store, std::string_view id) {
    Texts all;
    for (const ResponseLink& link : must(get(store, session_id(id))).response_chain) {
      all.push_back(link.response_id);
    }
    return all;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "conversations.json";
  Texts notices_;
};

TEST_F(ChainStore, ContinuesRowsOfAnotherProgram) {
  put(kOriginalChain);
  const auto store = open();
  answer(*store, kFirst, "resp_3", at(100));
  std::string expected(kOriginalChain);
  expected.replace(expected.find("\"resp_2\""), 8, "\"resp_2\",\n        \"resp_3\"");
  const std::string written = bytes();
  EXPECT_EQ(ids(*open(), kFirst), (Texts{"resp_1", "resp_2", "resp_3"}));
  EXPECT_TRUE(written.starts_with(expected.substr(0, expected.find("\"createdAt\""))));
  EXPECT_TRUE(written.ends_with(kOriginalChain.substr(kOriginalChain.find("\"id\": \"1b1a"))))
      << "the other row, byte for byte, and no line end";
}

TEST_F(ChainStore, NewestActivityIsListedFirstAndUnreadableDatesLast) {
  put(R"({"conversations": [{"id": "bad", "updatedAt": "soon"},
      {"id": "zulu", "updatedAt": "2026-01-18T20:00:00Z"},
      {"id": "offset", "updatedAt": "2026-01-18T20:30:00+01:00"}, {"id": "none"}]})");
  Texts listed;
  for (const SessionInfo& info : must(open()->list({})).sessions) {
    listed.push_back(info.id.str());
  }
  EXPECT_EQ(listed, (Texts{"zulu", "offset", "none", "bad"}));
}

TEST_F(ChainStore, ReadingChangesNothing) {
  EXPECT_TRUE(fails(open_chain_store(file_, {.access = Access::read}), Code::not_found));
  EXPECT_EQ(names(), Texts{});
  for (const std::string_view text : {kOriginalChain, std::string_view("damaged")}) {
    put(text);
    const auto store = open(Access::read);
    EXPECT_TRUE(works(store->list({})));
    EXPECT_TRUE(works(store->capabilities().repair->verify()));
    EXPECT_FALSE(store->create(session("x")));
    EXPECT_EQ(bytes(), text);
    EXPECT_EQ(names(), Texts{"conversations.json"});
  }
}

TEST_F(ChainStore, ADamagedFileIsQuarantined) {
  for (const char* const damaged : {"{}", "null", "not json", "[]", ""}) {
    put(damaged);
    const auto store = open();
    EXPECT_EQ(must(store->list({})).sessions.size(), 0U);
    EXPECT_EQ(must(store->list({})).damage.size(), 1U);
    notices_.clear();
    must(store->create(session("s")));
    EXPECT_EQ(notices_.size(), 1U) << damaged;
    EXPECT_EQ(must(store->list({})).sessions.size(), 1U);
  }
  EXPECT_EQ(must(read_file(folder_.path() / "conversations.json.bak")), "{}");
  EXPECT_EQ(must(read_file(folder_.path() / "conversations.json.bak.1")), "null");
  EXPECT_EQ(must(read_file(folder_.path() / "conversations.json.bak.4")), "");
}

// It is not read, and it is not taken for damage, which would be moved away.
TEST_F(ChainStore, AFileOfMoreThanOneGibibyteIsRefused) {
  put(R"({"conversations": []})");
  fs::resize_file(file_, (std::uintmax_t{1} << 30U) + 1);  // sparse
  const auto store = open();
  EXPECT_TRUE(fails(store->list({}), Code::invalid_argument));
  EXPECT_TRUE(fails(store->create(session("s")), Code::invalid_argument));
  EXPECT_EQ(fs::file_size(file_), (std::uintmax_t{1} << 30U) + 1);
  EXPECT_EQ(names(), (Texts{"conversations.json", "conversations.json.lock"}));
}

TEST_F(ChainStore, OneBadRowCostsOnlyItself) {
  put(R"({"conversations": [{"id": "a"}, 5, {"id": "b"}]})");
  const auto store = open();
  EXPECT_EQ(must(store->list({})).damage.size(), 1U);
  answer(*store, "b", "r", at(1));
  EXPECT_EQ(names(), (Texts{"conversations.json", "conversations.json.lock"})) << "nothing aside";
  EXPECT_NE(bytes().find("\n    5,\n"), std::string::npos);
  EXPECT_EQ(must(store->capabilities().repair->verify()).damage.size(), 1U);
}

TEST_F(ChainStore, TrashedRowsAreHiddenFromTheOriginal) {
  put(kOriginalChain);
  const auto store = open();
  must(store->capabilities().trash->trash(session_id(kFirst), at(1)));
  EXPECT_EQ(bytes().find(kFirst), std::string::npos);
  EXPECT_EQ(ids(*open(), kFirst), (Texts{"resp_1", "resp_2"}));
  EXPECT_EQ(names(),
            (Texts{"conversations.json", "conversations.json.lock", "conversations.json.trash"}));
  EXPECT_EQ(must(store->capabilities().trash->remnants()), std::vector<Remnant>{});
  must(store->capabilities().trash->restore(session_id(kFirst)));
  EXPECT_NE(bytes().find(kFirst), std::string::npos);
  EXPECT_EQ(names(), (Texts{"conversations.json", "conversations.json.lock"}));
}

// Another program has read the file before our change and writes it afterwards.
TEST_F(ChainStore, IdsOfBothSidesAreKept) {
  put(kOriginalChain);
  const auto store = open();
  answer(*store, kFirst, "ours", at(100));
  must(store->create(session("new")));
  answer(*store, "new", "first", at(101));
  std::string theirs(kOriginalChain);
  theirs.replace(theirs.find("\"resp_2\""), 8, "\"resp_2\",\n        \"theirs\"");
  put(theirs);
  EXPECT_EQ(ids(*store, kFirst), (Texts{"resp_1", "resp_2", "theirs", "ours"}));
  EXPECT_EQ(ids(*store, "new"), Texts{"first"});
  answer(*store, kFirst, "last", at(102));
  const auto again = open();
  EXPECT_EQ(ids(*again, kFirst), (Texts{"resp_1", "resp_2", "theirs", "ours", "last"}));
  EXPECT_EQ(ids(*again, "new"), Texts{"first"});
}

// It cannot be determined whether the row was trashed.
TEST_F(ChainStore, AnOverwrittenRowIsNotLostIfTheTrashCannotBeRead) {
  put(kOriginalChain);
  const auto store = open();
  must(store->create(session("new")));
  answer(*store, "new", "first", at(101));
  fs::create_directory(fs::path(file_) += ".trash");
  put(kOriginalChain);
  must(store->update(session_id(kFirst), {.title = "x"}));
  fs::remove(fs::path(file_) += ".trash");
  EXPECT_EQ(ids(*open(), "new"), Texts{"first"});
}

TEST_F(ChainStore, RowsRemovedByAnotherProcessAreNotRestored) {
  put(kOriginalChain);
  const auto store = open();
  answer(*store, kFirst, "ours", at(100));
  must(open()->capabilities().trash->trash(session_id(kFirst), at(1)));
  EXPECT_EQ(must(store->list({})).sessions.size(), 1U);
  must(store->update(session_id("1b1a2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"), {.title = "x"}));
  EXPECT_EQ(must(store->list({})).sessions.size(), 1U);
  // The other program may remove a row that was never ours.
  put(R"({"conversations": []})");
  EXPECT_TRUE(must(open()->list({})).sessions.empty());
}

TEST_F(ChainStore, AFolderInItsPlaceIsAnError) {
  fs::create_directory(file_);
  const auto store = open();
  EXPECT_TRUE(fails(store->list({}), Code::invalid_argument));
  EXPECT_TRUE(fails(store->create(session("s")), Code::invalid_argument));
  EXPECT_TRUE(fs::is_directory(file_));
}

TEST_F(ChainStore, LinksAreFollowedAndPreserved) {
  fs::create_directory(folder_.path() / "real");
  fs::create_symlink("real/file.json", file_);
  must(open()->create(session("s")));
  EXPECT_TRUE(fs::is_symlink(file_));
  EXPECT_TRUE(fs::is_regular_file(folder_.path() / "real" / "file.json"));
}

TEST_F(ChainStore, TheLockReservesSpaceForDeleting) {
  must(open()->create(session("new")));
  struct stat status{};
  ASSERT_EQ(::stat((folder_.path() / "conversations.json.lock").c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 256 << 10);
  EXPECT_LT(status.st_size, 1024) << "beyond its end";
}

TEST_F(ChainStore, FilesArePrivate) {
  must(open()->create(session("s")));
  struct stat status{};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(ChainStore, IsRecognised) {
  file_ = folder_.path() / "anything";
  put(kOriginalChain);
  EXPECT_EQ(must(recognise_store(file_)), cat("chain:", file_.native()));
  put(R"({"conversations": 5})");
  EXPECT_EQ(must(recognise_store(file_)), "");
}

}  // namespace
}  // namespace reprise::test
