// A record truncated at any position: whole batches are readable, the torn end is quarantined, and
// the next message is in a line of its own.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <iterator>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "chatdir/chatdir_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

std::int64_t damaged(Store& store, const SessionId& id) {
  return must(store.read(id, {}, [](Message&&) { return Flow::proceed; })).damaged;
}

TEST(TornChat, IsRepairedWithTheNextMessage) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  {
    const auto store = directory.open();
    must(store->create(chat_session(1)));
    must(store->append(id, {user("question")}, {}));
    must(store->append(id, {assistant("answer"), user("next")},
                       {.operation = operation_id("op-1")}));
  }
  const std::string whole = directory.read(directory.messages(id));
  const std::size_t first_end = whole.find('\n');
  const std::size_t second_end = whole.find('\n', first_end + 1);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    directory.write(directory.messages(id), whole.substr(0, cut));
    fs::remove(fs::path(directory.messages(id)) += ".bak");
    Texts expected = cut >= first_end ? Texts{"question"} : Texts{};
    const bool is_whole = cut == whole.size() - 1;  // except for the line end
    if (is_whole) {
      expected.insert(expected.end(), {"answer", "next"});
    }
    const std::size_t intact = cut < first_end    ? 0
                               : cut == first_end ? cut
                               : is_whole         ? cut
                                                  : first_end + 1;
    const bool is_torn = intact != cut;
    const auto reader = directory.open({.access = Access::read});
    ASSERT_EQ(texts_of(*reader, id), expected) << cut;
    ASSERT_EQ(damaged(*reader, id), is_torn ? 1 : 0) << cut;
    ASSERT_EQ(directory.read(directory.messages(id)), whole.substr(0, cut))
        << "reading heals nothing";

    const auto store = directory.open();
    const AppendResult again = must(store->append(id, {assistant("again"), user("and on")},
                                                  {.operation = operation_id("op-1")}));
    ASSERT_EQ(again.repeated, is_whole) << cut;
    if (!is_whole) {
      expected.insert(expected.end(), {"again", "and on"});
    }
    ASSERT_EQ(texts_of(*reader, id), expected) << cut;
    ASSERT_EQ(texts_of(*directory.open(), id), expected) << cut;
    ASSERT_EQ(damaged(*reader, id), 0) << cut;
    if (is_torn) {
      ASSERT_EQ(directory.read(directory.messages(id).native() + ".bak"),
                whole.substr(intact, cut - intact))
          << "not a byte is lost";
    }
  }
  EXPECT_LT(second_end, whole.size());
}

TEST(TornChat, OfTheOriginalLosesOnlyItsLastLine) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const std::string whole = directory.read(directory.messages(id));
  std::size_t longest = 0;
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    directory.write(directory.messages(id), whole.substr(0, cut));
    const auto store = directory.open();
    const Texts there = texts_of(*store, id);
    ASSERT_GE(there.size(), longest) << cut;
    longest = there.size();
    must(store->append(id, {user("on")}, {}));
    ASSERT_EQ(texts_of(*directory.open(), id).size(), there.size() + 1) << cut;
    ASSERT_EQ(texts_of(*directory.open(), id).back(), "on") << cut;
  }
  EXPECT_EQ(longest, 3U);
}

TEST(TornChat, IsNotReportedWhileItIsWritten) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(id, {user("question")}, {}));
  directory.write(directory.messages(id),
                  directory.read(directory.messages(id)) + R"({"role":"assis)");
  EXPECT_EQ(damaged(*store, id), 1);
  const auto lock = must(LockFile::open(directory.chat(id) / ".lock"));
  const auto hold = must(lock->acquire(std::chrono::steady_clock::now()));
  EXPECT_EQ(damaged(*store, id), 0) << "somebody is writing it";
  EXPECT_EQ(texts_of(*store, id), Texts{"question"});
}

TEST(TornChat, UnreadableMetadataIsQuarantined) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  {
    const auto store = directory.open();
    must(store->create(chat_session(1)));
    must(store->append(id, {user("What is the answer?")}, {}));
  }
  const fs::path metadata = directory.chat(id) / "reprise.json";
  const std::string whole = directory.read(metadata);
  for (std::size_t cut = 0; cut + 1 < whole.size(); cut += 7) {
    directory.write(metadata, whole.substr(0, cut));
    const auto store = directory.open();
    const SessionPage page = must(store->list({}));
    ASSERT_EQ(page.sessions.size(), 1U) << cut;
    EXPECT_EQ(page.sessions.front().title, "What is the answer?")
        << "as of a chat without metadata";
    ASSERT_EQ(page.damage.size(), 1U) << cut;
    EXPECT_EQ(texts_of(*store, id), Texts{"What is the answer?"});
    must(store->update(id, {.title = "renamed"}));
    EXPECT_EQ(must(get(*store, id)).info.title, "renamed");
    bool is_intact = false;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory.chat(id))) {
      is_intact = is_intact || (entry.path() != metadata && entry.is_regular_file() &&
                                must(read_file(entry.path())) == whole.substr(0, cut));
    }
    EXPECT_TRUE(is_intact) << cut;
  }
}

TEST(ChatRepair, ReportsAFileThatItCannotCopy) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("one")}, {}));
  fs::remove(directory.root() / "chat" / "current");
  fs::create_symlink("/etc/hostname", directory.root() / "chat" / "current");
  const fs::path target = directory.root().parent_path() / "repaired";
  const VerifyReport repaired = must(store->capabilities().repair->repair_into(target));
  ASSERT_EQ(repaired.damage.size(), 1U);
  EXPECT_EQ(repaired.damage.front().where, (directory.root() / "chat" / "current").native());
  EXPECT_FALSE(fs::exists(target / "chat" / "current"));
  EXPECT_EQ(texts_of(*must(open_chatdir_store(target)), chat_id(1)), Texts{"one"});
}

// A file that cannot be written is an error of the copy, not damage of the chat.
TEST(ChatRepair, LeavesNothingWhereItFails) {
  const ChatDirectory directory;
  must(directory.open()->create(chat_session(1)));
  must(directory.open()->append(chat_id(1), {user(std::string(200'000, 'x'))}, {}));
  const fs::path target = directory.root().parent_path() / "repaired";
  const pid_t child = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 2;
    }
    const auto store = directory.open({.access = Access::read});
    return fails(store->capabilities().repair->repair_into(target), Code::io) ? 0 : 3;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(target.parent_path())), 1)
      << "only the directory itself";
  EXPECT_TRUE(works(directory.open()->capabilities().repair->repair_into(target)));
}

// What cannot be read is damage, and the rest is copied.
TEST(ChatRepair, CopiesTheRestOfAChatBesideAPipe) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("one")}, {}));
  must(store->capabilities().artefacts->save_artefact(chat_id(1), {1}, "answer", "two"));
  const fs::path pipe = directory.chat(chat_id(1)) / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const fs::path target = directory.root().parent_path() / "repaired";
  const VerifyReport repaired = must(store->capabilities().repair->repair_into(target));
  ASSERT_EQ(repaired.damage.size(), 1U);
  EXPECT_EQ(repaired.damage.front().where, pipe.native());
  const auto copy = must(open_chatdir_store(target));
  EXPECT_EQ(texts_of(*copy, chat_id(1)), Texts{"one"});
  EXPECT_EQ(must(copy->capabilities().artefacts->find_artefact(chat_id(1), {1}, "answer")), "two");
}

TEST(DamagedChat, IsRepairedIntoACopy) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(id, {user("one")}, {.operation = operation_id("op-1")}));
  must(store->append(id, {assistant("two"), user("three")}, {}));
  must(store->capabilities().artefacts->save_artefact(id, {1}, "answer", "two"));
  must(store->capabilities().artefacts->save_artefact(id, {1}, "messages", "of the request"));
  must(store->create(chat_session(2)));
  must(store->capabilities().trash->trash(chat_id(2), at(1)));
  const SessionId original = directory.write_original();
  std::string log = directory.read(directory.messages(id));
  log.replace(log.find("two"), 3, "t\xFFo");
  log.insert(log.find('\n') + 1, "noise\n");
  directory.write(directory.messages(id), log);
  const auto before = directory.snapshot();

  const VerifyReport report = must(directory.open()->capabilities().repair->verify());
  EXPECT_EQ(report.sessions, 3);
  EXPECT_EQ(report.messages, 6);
  EXPECT_EQ(report.damage.size(), 2U);
  const fs::path target = directory.root().parent_path() / "repaired";
  const VerifyReport repaired = must(store->capabilities().repair->repair_into(target));
  EXPECT_EQ(repaired.damage, report.damage);
  EXPECT_EQ(directory.snapshot(), before);
  EXPECT_TRUE(fails(store->capabilities().repair->repair_into(target), Code::conflict));

  const auto copy = must(open_chatdir_store(target));
  EXPECT_EQ(must(copy->capabilities().repair->verify()).damage, std::vector<Damage>{});
  EXPECT_EQ(texts_of(*copy, id), (Texts{"one", "t\uFFFDo", "three"}));
  EXPECT_EQ(texts_of(*copy, original), texts_of(*store, original));
  EXPECT_EQ(must(get(*copy, id)).info, must(get(*store, id)).info);
  EXPECT_EQ(must(get(*copy, chat_id(2))).info.state, SessionState::trashed);
  EXPECT_EQ(must(copy->capabilities().artefacts->find_artefact(id, {1}, "answer")), "two");
  EXPECT_EQ(must(copy->capabilities().artefacts->find_artefact(id, {1}, "messages")),
            "of the request");
  EXPECT_EQ(must(copy->capabilities().current_session->current()), original);
  EXPECT_EQ(must(read_file(target / "chat" / id.str() / "messages.jsonl.bak")), log);
  EXPECT_TRUE(must(copy->append(id, {user("x")}, {.operation = operation_id("op-1")})).repeated);
}

TEST(Backup, IsTheWholeDirectory) {
  const ChatDirectory directory;
  const auto store = directory.open();
  for (const int number : {1, 2, 3}) {
    must(store->create(chat_session(number)));
    must(store->append(chat_id(number), {user(cat("chat ", number))}, {}));
  }
  must(store->capabilities().artefacts->save_artefact(chat_id(1), {1}, "answer", "one"));
  must(store->capabilities().archives->archive(chat_id(2), at(1)));
  must(store->capabilities().trash->trash(chat_id(3), at(1)));
  must(store->capabilities().current_session->set_current(chat_id(1)));
  directory.write(directory.chat(chat_id(1)) / "notes" / "more.txt", "mine");
  const std::vector<std::string> like_the_record = {"messages.jsonl", "reprise.json", ".lock"};
  for (const std::string& name : like_the_record) {
    must(store->capabilities().artefacts->save_artefact(chat_id(1), {1}, name, name));
  }
  const fs::path target = directory.root().parent_path() / "kept";
  must(store->capabilities().backup->backup(target));
  const auto intact = must(open_chatdir_store(target, {.access = Access::read}));
  for (const int number : {1, 2, 3}) {
    EXPECT_EQ(texts_of(*intact, chat_id(number)), Texts{cat("chat ", number)});
    EXPECT_EQ(must(get(*intact, chat_id(number))).info.state,
              must(get(*store, chat_id(number))).info.state);
  }
  EXPECT_EQ(must(intact->capabilities().current_session->current()), chat_id(1));
  EXPECT_EQ(must(intact->capabilities().artefacts->find_artefact(chat_id(1), {1}, "answer")),
            "one");
  EXPECT_EQ(must(read_file(target / "chat" / chat_id(1).str() / "notes" / "more.txt")), "mine");
  for (const std::string& name : like_the_record) {
    EXPECT_EQ(must(intact->capabilities().artefacts->find_artefact(chat_id(1), {1}, name)), name);
  }
  EXPECT_TRUE(fails(store->capabilities().backup->backup(target), Code::conflict));
}

// Another program rewrites the messages whenever they are about to be copied.
TEST(Backup, OfAChatThatChangesAllTheTimeIsBusy) {
  const ChatDirectory directory;
  int changes = 0;
  const auto change = [&](const Progress& /*progress*/) {
    const fs::path messages = directory.messages(chat_id(1));
    must(replace_file(messages, directory.read(messages)));
    ++changes;
  };
  must(directory.open()->create(chat_session(1)));
  must(directory.open()->append(chat_id(1), {user("question")}, {}));
  const fs::path target = directory.root().parent_path() / "copy";
  const auto store = directory.open({.on_progress = change});
  EXPECT_TRUE(fails(store->capabilities().backup->backup(target), Code::busy));
  EXPECT_GT(changes, 10);
  EXPECT_FALSE(fs::exists(target));
}

}  // namespace
}  // namespace reprise::test
