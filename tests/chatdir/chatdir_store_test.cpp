// Chat directories beyond the contract: files and modes, ids, limits, unusual contents.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "chatdir/chatdir_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/print.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

unsigned mode_of(const fs::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
}

TEST(ChatdirStore, OnlyFoldersNamedByUuidsAreChats) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const std::string messages = directory.read(directory.messages(id));
  for (const char* const name : {"notes", "20260101", "b0416d7c-2e49-4408-9615"}) {
    directory.write(directory.root() / "chat" / name / "messages.jsonl", messages);
  }
  const SessionPage page = must(directory.open()->list({}));
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(page.sessions.front().id, id);
}

TEST(ChatdirStore, AnUnreadablePointInTheLogIsDamage) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  {
    const auto store = directory.open();
    must(store->create(chat_session(1)));
    must(store->append(id, {user("question")}, {}));
  }
  const fs::path file = directory.chat(id) / "reprise.json";
  std::string json = directory.read(file);
  constexpr std::string_view kTail = R"("tail":")";
  const auto at = json.find(kTail);
  ASSERT_NE(at, std::string::npos) << json;
  json.insert(at + kTail.size(), "no number ");
  directory.write(file, json);
  EXPECT_EQ(must(directory.open()->list({})).damage.size(), 1U);
  EXPECT_EQ(texts_of(*directory.open(), id), Texts{"question"});
}

TEST(ChatdirStore, TemporaryFilesOfKilledProcessesAreRemovedByTheNextWriter) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path chat = directory.chat(id);
  const pid_t gone = in_child([] { return 0; });
  EXPECT_EQ(exit_code_of(gone), 0);
  const fs::path left[] = {
      chat / "reprise.json.reprise-0.tmp", chat / "messages.jsonl.reprise-3.tmp",
      chat / cat("input.md.", gone, ".2.tmp"), chat / "steps" / "001" / "usage.json.reprise-0.tmp"};
  const fs::path others[] = {chat / "notes.tmp", chat / "input.md.1.2.tmp",
                             chat / "steps" / "001" / "report.reprise-x.tmp"};
  for (const fs::path& file : left) {
    directory.write(file, "left");
  }
  for (const fs::path& file : others) {
    directory.write(file, "of others");
  }
  const auto in_use = must(TemporaryFile::create(chat / "prompt.md"));
  must(get(*directory.open({.access = Access::read}), id));
  EXPECT_TRUE(fs::exists(left[0])) << "a reader removes nothing";
  must(directory.open()->append(id, {user("more")}, {}));
  for (const fs::path& file : left) {
    EXPECT_FALSE(fs::exists(file)) << file;
  }
  for (const fs::path& file : others) {
    EXPECT_TRUE(fs::exists(file)) << file;
  }
  EXPECT_TRUE(fs::exists(in_use.name()));
}

TEST(ChatdirStore, FilesArePrivate) {
  const ChatDirectory directory;
  const ::mode_t before = ::umask(0);
  {
    const auto store = directory.open();
    must(store->create(chat_session(1)));
    must(store->append(chat_id(1), {user("x")},
                       {.begin_partial = PartialStart{operation_id("a"), this_process(), "", ""}}));
    const std::vector<Block> delta = {TextBlock{"x", {}}};
    must(store->capabilities().partials->add_partial(chat_id(1), operation_id("a"), delta));
    must(store->capabilities().rewriting->replace_suffix(chat_id(1), {0}, {}, {}));
    must(store->capabilities().artefacts->append_artefact(chat_id(1), {1}, "log", "x"));
    must(store->capabilities().current_session->set_current(chat_id(1)));
    must(store->create(chat_session(2)));
    must(store->capabilities().trash->trash(chat_id(2), at(1)));
  }
  ::umask(before);
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory.root())) {
    EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0700U : 0600U) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 12);
}

TEST(ChatdirStore, TakesOnlyUuids) {
  const ChatDirectory directory;
  const auto store = directory.open();
  for (const char* name : {"abc", "b0416d7c-2e49-4408-9615-e32c41d0873g", "current",
                           "b0416d7c-2e49-4408-9615-e32c41d087388", "llimo.json"}) {
    const SessionId id = session_id(name);
    EXPECT_TRUE(fails(store->create(session(name)), Code::invalid_argument)) << name;
    EXPECT_EQ(must(store->find(id)), std::nullopt) << name;
    EXPECT_TRUE(fails(store->append(id, {user("x")}, {}), Code::invalid_argument)) << name;
    EXPECT_TRUE(fails(store->update(id, {}), Code::invalid_argument)) << name;
    EXPECT_TRUE(fails(store->capabilities().trash->purge(id), Code::invalid_argument)) << name;
  }
}

TEST(ChatdirStore, AppendsAndNeverRewrites) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  std::string before;
  struct stat first{};
  ASSERT_EQ(::stat(directory.messages(chat_id(1)).c_str(), &first), 0);
  for (int i = 0; i < 20; ++i) {
    must(store->append(chat_id(1), {user(cat("message ", i))}, {}));
    const std::string after = directory.read(directory.messages(chat_id(1)));
    EXPECT_TRUE(after.starts_with(before));
    before = after;
  }
  struct stat last{};
  ASSERT_EQ(::stat(directory.messages(chat_id(1)).c_str(), &last), 0);
  EXPECT_EQ(first.st_ino, last.st_ino);
}

TEST(ChatdirStore, TheLimitOfMessagesIsReportedAndNothingIsTruncated) {
  const ChatDirectory directory;
  {
    const auto store = directory.open({}, {.messages_max = 5});
    must(store->create(chat_session(1)));
    must(store->append(chat_id(1), messages(5), {}));
    const auto refused = store->append(chat_id(1), {user("one more")}, {});
    ASSERT_TRUE(fails(refused, Code::unsupported));
    EXPECT_NE(refused.error().message.find("messages=N"), std::string::npos);
    EXPECT_EQ(texts_of(*store, chat_id(1)).size(), 5U);
    EXPECT_TRUE(works(store->append(chat_id(1), {}, {.operation = operation_id("op")})));
    EXPECT_TRUE(
        works(store->capabilities().rewriting->replace_suffix(chat_id(1), {4}, messages(1), {})));
  }
  const auto more = must(open_store(cat("chatdir:", directory.root().native(), "?messages=1001")));
  must(more->append(chat_id(1), messages(996), {}));
  EXPECT_TRUE(fails(more->append(chat_id(1), messages(1), {}), Code::unsupported));
  // Longer ones can be read.
  const auto less = must(open_store(cat("chatdir:", directory.root().native())));
  EXPECT_EQ(texts_of(*less, chat_id(1)).size(), 1001U);
  EXPECT_EQ(must(less->list({})).sessions.front().head, Seq{1001});
  EXPECT_TRUE(fails(less->append(chat_id(1), messages(1), {}), Code::unsupported));
  for (const char* bad : {"?messages=", "?messages=0", "?messages=x", "?messages=5x"}) {
    EXPECT_TRUE(
        fails(open_store(cat("chatdir:", directory.root().native(), bad)), Code::invalid_argument))
        << bad;
  }
}

TEST(ChatdirStore, IsRecognisedByWhatIsThere) {
  const ChatDirectory directory;
  fs::create_directories(directory.root());
  EXPECT_EQ(must(recognise_store(directory.root())), "");
  fs::create_directories(directory.root() / "chat" / "not a chat");
  EXPECT_EQ(must(recognise_store(directory.root())), "");
  directory.write_original();
  EXPECT_EQ(must(recognise_store(directory.root())), cat("chatdir:", directory.root().native()));
  fs::remove(directory.root() / "chat" / "current");
  EXPECT_EQ(must(recognise_store(directory.root())), cat("chatdir:", directory.root().native()));
  const auto store = must(open_store(directory.root().native(), {.access = Access::read}));
  EXPECT_EQ(must(store->list({})).sessions.size(), 1U);
}

TEST(ChatdirStore, ReadingCreatesNothing) {
  const ChatDirectory directory;
  EXPECT_TRUE(
      fails(open_chatdir_store(directory.root(), {.access = Access::read}), Code::not_found));
  must(directory.open()->create(chat_session(1)));
  const auto before = directory.snapshot();
  const auto store = directory.open({.access = Access::read});
  EXPECT_TRUE(fails(store->create(chat_session(2)), Code::unsupported));
  EXPECT_TRUE(fails(store->append(chat_id(1), {user("x")}, {}), Code::unsupported));
  EXPECT_TRUE(fails(store->update(chat_id(1), {.title = "x"}), Code::unsupported));
  EXPECT_TRUE(fails(store->capabilities().trash->trash(chat_id(1), at(1)), Code::unsupported));
  EXPECT_TRUE(fails(store->capabilities().artefacts->save_artefact(chat_id(1), {1}, "x", "x"),
                    Code::unsupported));
  EXPECT_TRUE(
      fails(store->capabilities().current_session->set_current(chat_id(1)), Code::unsupported));
  EXPECT_TRUE(works(store->list({})));
  EXPECT_TRUE(works(read_all(*store, chat_id(1))));
  EXPECT_TRUE(works(store->capabilities().artefacts->list_artefacts(chat_id(1))));
  EXPECT_EQ(directory.snapshot(), before);
}

TEST(ChatdirStore, UnusualContentsCostOnlyThemselves) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("fine")}, {}));
  must(store->create(chat_session(2)));
  must(store->create(chat_session(3)));
  fs::remove(directory.messages(chat_id(2)));
  fs::create_directory(directory.messages(chat_id(2)));
  fs::remove(directory.messages(chat_id(3)));
  ASSERT_EQ(::mkfifo(directory.messages(chat_id(3)).c_str(), 0600), 0);
  directory.write(fs::path("chat") / chat_id(4).str(), "a file where a folder should be");
  fs::create_symlink("nowhere", directory.root() / "chat" / chat_id(5).str());
  const SessionPage page = must(store->list({}));
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(page.sessions.front().id, chat_id(1));
  EXPECT_EQ(page.damage.size(), 2U);
  EXPECT_TRUE(fails(read_all(*store, chat_id(2)), Code::corrupt));
  EXPECT_TRUE(fails(store->append(chat_id(3), {user("x")}, {}), Code::corrupt));
  EXPECT_TRUE(fails(store->append(chat_id(4), {user("x")}, {}), Code::not_found));
  EXPECT_TRUE(fails(store->append(chat_id(5), {user("x")}, {}), Code::not_found));
  EXPECT_EQ(texts_of(*store, chat_id(1)), Texts{"fine"});
}

TEST(ChatdirStore, AMovedChatBecomesUnknown) {
  const ChatDirectory directory;
  const auto store = directory.open();
  const auto other = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("1")}, {}));
  must(other->capabilities().trash->trash(chat_id(1), at(1)));
  must(store->append(chat_id(1), {user("2")}, {}));
  EXPECT_EQ(must(get(*store, chat_id(1))).info.state, SessionState::trashed);
  must(other->capabilities().trash->restore(chat_id(1)));
  must(store->append(chat_id(1), {user("3")}, {}));
  EXPECT_EQ(texts_of(*other, chat_id(1)), (Texts{"1", "2", "3"}));
  must(other->capabilities().trash->purge(chat_id(1)));
  EXPECT_TRUE(fails(store->append(chat_id(1), {user("4")}, {}), Code::not_found));
  EXPECT_FALSE(fs::exists(directory.chat(chat_id(1)))) << "nothing comes back by itself";
  must(other->create(chat_session(1)));
  must(store->append(chat_id(1), {user("new")}, {}));
  EXPECT_EQ(texts_of(*other, chat_id(1)), Texts{"new"});
}

TEST(ChatdirStore, ReplacedMessagesAreKept) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("q"), assistant("first")}, {}));
  const std::string before = directory.read(directory.messages(chat_id(1)));
  must(store->capabilities().rewriting->replace_suffix(chat_id(1), {1}, {assistant("second")}, {}));
  EXPECT_EQ(directory.read(directory.chat(chat_id(1)) / "replaced.jsonl"),
            before.substr(before.find('\n') + 1));
  // A record without one message per line can be replaced, too.
  const SessionId id = directory.write_original();
  directory.write(directory.messages(id),
                  "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"},\n"
                  "{\"role\":\"user\",\"content\":\"c\"}]");
  const std::string array = directory.read(directory.messages(id));
  must(store->capabilities().rewriting->replace_suffix(id, {1}, {assistant("new")}, {}));
  EXPECT_EQ(texts_of(*directory.open(), id), (Texts{"a", "new"}));
  EXPECT_EQ(directory.read(directory.messages(id).native() + ".bak"), array);
}

TEST(ChatdirStore, AFailedReplacementAddsNoReplacedMessages) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("q"), assistant("first")}, {}));
  const fs::path replaced = directory.chat(chat_id(1)) / "replaced.jsonl";
  const std::string before = directory.read(directory.messages(chat_id(1)));
  Rewriting& rewriting = *store->capabilities().rewriting;
  Message deep = assistant("");
  deep.blocks = {ToolUseBlock{"t", "n", raw(std::string(511, '[') + std::string(511, ']')), {}}};
  for (int tries = 0; tries < 2; ++tries) {
    EXPECT_TRUE(
        fails(rewriting.replace_suffix(chat_id(1), {1}, {deep}, {}), Code::invalid_argument));
    EXPECT_FALSE(fs::exists(replaced));
  }
  must(rewriting.replace_suffix(chat_id(1), {1}, {assistant("second")}, {}));
  EXPECT_EQ(directory.read(replaced), before.substr(before.find('\n') + 1));
}

// A crash between writing the two files of a replacement: it is atomic.
TEST(ChatdirStore, AnInterruptedReplacementIsAtomic) {
  const ChatDirectory directory;
  const SessionId id = chat_id(1);
  const fs::path metadata = directory.chat(id) / "reprise.json";
  const AppendOptions options{.operation = operation_id("cut")};
  std::string old_log;
  std::string new_log;
  std::string old_metadata;
  {
    const auto store = directory.open();
    must(store->create(chat_session(1)));
    must(store->append(id, messages(4), {}));
    old_log = directory.read(directory.messages(id));
    old_metadata = directory.read(metadata);
    must(store->capabilities().rewriting->replace_suffix(id, {2}, {}, options));
    new_log = directory.read(directory.messages(id));
  }
  const Session after = must(get(*directory.open(), id));
  // The state when only the metadata was written.
  const std::string finished = directory.read(metadata);
  const std::string pending =
      cat(old_metadata.substr(0, old_metadata.rfind('}')), R"(,"cut":)", finished, "}\n");
  for (const bool is_renamed : {true, false}) {
    directory.write(metadata, pending);
    directory.write(directory.messages(id), is_renamed ? new_log : old_log);
    const auto store = directory.open();
    EXPECT_EQ(must(get(*store, id)).info.head, Seq{is_renamed ? 2 : 4});
    EXPECT_EQ(must(get(*store, id)).info.updated_at, after.info.updated_at);
    const AppendResult again =
        must(store->capabilities().rewriting->replace_suffix(id, {2}, {}, options));
    EXPECT_EQ(again.repeated, is_renamed);
    EXPECT_EQ(must(get(*store, id)), after);
  }
}

TEST(ChatdirStore, DeletesWithoutRoomForAnotherFile) {
  const ChatDirectory directory;
  fs::create_directories(directory.root());
  const SmallDisk disk(directory.root(), "size=8m,nr_inodes=60");
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const SessionId original = directory.write_original();
  {
    const auto store = directory.open();
    for (const int number : {1, 2, 3}) {
      must(store->create(chat_session(number)));
      must(store->append(chat_id(number), {user("x")}, {}));
    }
    must(store->capabilities().archives->archive(chat_id(3), at(1)));
  }
  fs::remove(directory.root() / "trash");
  disk.fill();
  disk.fill_with_files();
  const auto store = directory.open();
  for (const SessionId& id : {chat_id(1), original, chat_id(3)}) {
    EXPECT_TRUE(works(store->capabilities().trash->purge(id))) << id.str();
    EXPECT_EQ(must(store->find(id)), std::nullopt);
  }
  EXPECT_TRUE(works(store->capabilities().trash->trash(chat_id(2), at(1))));
}

TEST(ChatdirStore, RemovesFilesOfDeadProcesses) {
  const ChatDirectory directory;
  must(directory.open()->create(chat_session(1)));
  const std::string made = "chat/.new-" + chat_id(2).str();
  const std::string needed = "chat/.new-" + chat_id(3).str();
  directory.write(made + "/messages.jsonl", "");
  directory.write(made + "/reprise.json", "words");
  directory.write(needed + "/messages.jsonl", "words\n");
  directory.write("chat/.new-thing/notes", "of another program");
  directory.write("chat/.making-" + chat_id(6).str() + "/messages.jsonl", "words\n");
  directory.write("archive/.leaving-" + chat_id(4).str() + "/messages.jsonl", "words");
  directory.write("chat/current.reprise-0.tmp", "words");
  directory.write("chat/notes.reprise-0.tmp", "of another program");
  must(directory.open()->create(chat_session(5)));
  const auto has = [&](const std::string& name) { return fs::exists(directory.root() / name); };
  EXPECT_FALSE(has(made));
  EXPECT_TRUE(has(needed)) << "its messages are nowhere else";
  EXPECT_TRUE(has("chat/.new-thing/notes"));
  EXPECT_FALSE(has("chat/.making-" + chat_id(6).str())) << "it was never acknowledged";
  EXPECT_FALSE(has("archive/.leaving-" + chat_id(4).str()));
  EXPECT_FALSE(has("chat/current.reprise-0.tmp"));
  EXPECT_TRUE(has("chat/notes.reprise-0.tmp"));
}

// The holder of the lock may be stopped: waiting for it is bounded.
TEST(ChatdirStore, ReadingBesideAHeldLockEnds) {
  const ChatDirectory directory;
  must(directory.open()->create(chat_session(1)));
  const pid_t dead = in_child([&] {
    const PartialStart start{operation_id("running"), this_process(), "p", "m", at(1)};
    return directory.open()->append(chat_id(1), {user("first")}, {.begin_partial = start}) ? 0 : 1;
  });
  ASSERT_EQ(exit_code_of(dead), 0);
  const auto lock = must(LockFile::open(directory.chat(chat_id(1)) / ".lock"));
  const auto store = directory.open({.busy_timeout = std::chrono::seconds(1)});
  const auto echo = must(make_provider("echo", {}));
  TurnObserver observer;
  Conversation conversation(*echo, store.get(), must(get(*store, chat_id(1))),
                            {.busy_timeout = std::chrono::milliseconds(50)});
  {
    const LockFile::Hold hold = must(lock->acquire(std::chrono::steady_clock::now()));
    EXPECT_TRUE(fails(conversation.ask("second", observer), Code::busy));
  }
  EXPECT_TRUE(works(conversation.ask("third", observer)));
  EXPECT_EQ(texts_of(*store, chat_id(1)), (Texts{"first", "third", "first\n\nthird"}));
}

TEST(ChatdirStore, ABackupReplacesAnAbandonedOne) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  directory.write("copy.making/chat/x/messages.jsonl", "words");
  {
    const Fd owner = must(open_file(directory.root() / "copy.making", O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(::flock(owner.get(), LOCK_EX), 0);
    EXPECT_TRUE(
        fails(store->capabilities().backup->backup(directory.root() / "copy"), Code::conflict));
    EXPECT_TRUE(fs::exists(directory.root() / "copy.making/chat/x"));
  }
  EXPECT_TRUE(works(store->capabilities().backup->backup(directory.root() / "copy")));
  EXPECT_FALSE(fs::exists(directory.root() / "copy.making"));
  EXPECT_FALSE(fs::exists(directory.root() / "copy/chat/x"));
  directory.write("other.making/photo", "of another program");
  EXPECT_TRUE(
      fails(store->capabilities().backup->backup(directory.root() / "other"), Code::conflict));
}

TEST(ChatdirStore, AnOlderArchiveIsPurgedWithItsChat) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user("old words")}, {}));
  must(store->capabilities().archives->archive(chat_id(1), at(1)));
  directory.write("chat/" + chat_id(1).str() + "/messages.jsonl", "");
  must(store->capabilities().trash->purge(chat_id(1)));
  EXPECT_EQ(must(store->find(chat_id(1))), std::nullopt);
}

}  // namespace
}  // namespace reprise::test
