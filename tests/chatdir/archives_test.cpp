// Archiving chats, restoring them, and attacks by archives.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "chatdir/chatdir_fixture.h"
#include "chatdir/zip_bytes.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/select.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/zip_file.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using store::chatdir::archive_name;
using store::chatdir::Packing;
using store::chatdir::ZipReader;
using store::chatdir::ZipWriter;
using Texts = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

// Every file below the folder, except locks.
Files files_in(const fs::path& folder) {
  Files files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != ".lock") {
      files[fs::relative(entry.path(), folder)] = must(read_file(entry.path()));
    }
  }
  return files;
}

fs::path archive_of(const ChatDirectory& directory, const SessionId& id) {
  return directory.root() / "archive" / archive_name(id).value();
}

SessionId packed_session(const ChatDirectory& directory) {
  const auto store = directory.open();
  const Session whole = full_session(chat_id(1).str());
  must(store->create(whole));
  Message answer = assistant("answer");
  answer.usage = usage("req-1", 100, 10);
  must(store->append(chat_id(1), {user("question"), answer}, {.operation = operation_id("op-1")}));
  must(store->capabilities().artefacts->save_artefact(chat_id(1), {1}, "answer", "answer"));
  must(
      store->capabilities().todos->edit_todos(chat_id(1), [](std::vector<Todo>& todos) -> Result<> {
        todos.push_back({"do it", TodoStatus::pending, "", {}});
        return {};
      }));
  return chat_id(1);
}

TEST(ChatArchive, IsACompleteChatAndIsRestoredUnchanged) {
  const ChatDirectory directory;
  const SessionId id = packed_session(directory);
  const auto store = directory.open();
  const Session before = must(get(*store, id));
  const Files files = files_in(directory.chat(id));
  must(store->capabilities().archives->archive(id, at(500)));
  must(store->capabilities().archives->archive(id, at(600)));
  EXPECT_FALSE(fs::exists(directory.chat(id)));
  const Files packed = files_in(archive_of(directory, id));
  EXPECT_EQ(packed.size(), 2U);
  EXPECT_TRUE(packed.contains("chat.zip"));
  const std::string& description = packed.at("chat.json");
  EXPECT_EQ(json::find_member(description, "id"), cat("\"", id.str(), "\""));
  EXPECT_EQ(json::find_member(description, "date"), "\"2026-01-18T20:08:20Z\"");
  EXPECT_EQ(json::find_member(description, "messages"), "2");
  EXPECT_EQ(json::find_member(json::find_member(description, "usage"), "inputTokens"), "100");
  EXPECT_NE(json::find_member(description, "title"), "");

  Session archived = before;
  archived.info.state = SessionState::archived;
  EXPECT_EQ(must(get(*store, id)), archived);
  EXPECT_EQ(must(store->list({})).sessions, std::vector<SessionInfo>{});
  EXPECT_EQ(must(store->list({.states = {SessionState::archived}})).sessions,
            std::vector{archived.info});
  EXPECT_EQ(texts_of(*store, id), (Texts{"question", "answer"}));
  EXPECT_EQ(must(store->capabilities().todos->todos(id)).size(), 1U);
  EXPECT_FALSE(must(store->capabilities().partials->find_partial(id)));
  EXPECT_EQ(must(store->capabilities().artefacts->find_artefact(id, {1}, "answer")), "answer");
  EXPECT_EQ(must(store->capabilities().artefacts->find_artefact(id, {2}, "answer")), std::nullopt);
  EXPECT_EQ(must(store->capabilities().artefacts->list_artefacts(id)),
            (std::vector<Artefacts::Entry>{{{1}, "answer.md", 6}}));
  EXPECT_TRUE(fails(store->append(id, {user("x")}, {}), Code::invalid_argument));
  EXPECT_TRUE(fails(store->update(id, {.title = "x"}), Code::invalid_argument));
  EXPECT_TRUE(fails(store->create(before), Code::conflict));

  must(store->capabilities().archives->unarchive(id));
  EXPECT_EQ(files_in(directory.chat(id)), files);
  EXPECT_FALSE(fs::exists(archive_of(directory, id)));
  EXPECT_EQ(must(get(*store, id)), before);
  EXPECT_EQ(must(store->capabilities().current_session->current()), id);
  EXPECT_TRUE(must(store->append(id, {user("x")}, {.operation = operation_id("op-1")})).repeated);
  EXPECT_TRUE(fails(store->capabilities().archives->unarchive(id), Code::invalid_argument));
}

// "PATH MODE TIME" of a chat's folder, and of everything in it except locks.
Texts facts_in(const fs::path& chat) {
  Texts metadata;
  const auto add = [&](const fs::path& path) {
    struct stat status{};
    if (path.filename() != ".lock" && ::stat(path.c_str(), &status) == 0) {
      metadata.push_back(cat(fs::relative(path, chat).native(), " ", status.st_mode, " ",
                             status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec));
    }
  };
  add(chat);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(chat)) {
    add(entry.path());
  }
  std::ranges::sort(metadata);
  return metadata;
}

TEST(ChatArchive, KeepsTimesModesAndEmptyFolders) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path chat = directory.chat(id);
  fs::create_directories(chat / "empty" / "inner");
  fs::permissions(chat / "input.md", fs::perms(0644));
  fs::permissions(chat / "steps" / "001", fs::perms(0750));
  fs::permissions(chat, fs::perms(0751));
  fs::permissions(chat / "steps" / "001" / "response.json", fs::perms(0640));
  const std::array<timespec, 2> long_ago = {timespec{.tv_sec = 1'000'000'001, .tv_nsec = 1},
                                            timespec{.tv_sec = 1'000'000'001, .tv_nsec = 23456789}};
  for (const fs::path& path :
       {chat / "prompt.md", chat / "messages.jsonl", chat / "steps/001/response.json",
        chat / "steps", chat / "empty", chat}) {
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago.data(), 0), 0);
  }
  const auto store = directory.open();
  const Session before = must(get(*store, id));
  EXPECT_EQ(before.info.updated_at, parse_time("2001-09-09T01:46:41.023456Z").value());
  const Texts metadata = facts_in(chat);
  must(store->capabilities().archives->archive(id, at(1)));
  must(store->capabilities().archives->unarchive(id));
  EXPECT_EQ(facts_in(chat), metadata);
  EXPECT_EQ(must(get(*store, id)), before);
}

// Any name and time that a file can have here, beside one that looks like the name of its entry.
TEST(ChatArchive, KeepsOddNamesAndFarTimes) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const fs::path chat = directory.chat(id);
  for (const char* const name : {"f\xffname",
                                 "\x01"
                                 "ctl",
                                 "esc\x1b[31m", "back\\slash", "new\nline", "C:x", "f%FFname",
                                 "f%FFname~", "fo:lder/plain", "ż"}) {
    directory.write(chat / name, name);
  }
  fs::create_directory(chat / "em:pty");
  const std::array<timespec, 2> far = {timespec{.tv_sec = 4'000'000'000, .tv_nsec = 1},
                                       timespec{.tv_sec = 4'000'000'000, .tv_nsec = 23456789}};
  for (const fs::path& path : {chat / "ż", chat / "em:pty"}) {
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), far.data(), 0), 0);
  }
  const auto store = directory.open();
  const Texts metadata = facts_in(chat);
  const Files files = files_in(chat);
  must(store->capabilities().archives->archive(id, at(1)));
  EXPECT_EQ(must(store->capabilities().artefacts->find_artefact(id, {0}, "C:x")), "C:x");
  must(store->capabilities().archives->unarchive(id));
  Files restored = files_in(chat);
  restored["steps/001/response.json"] = files.at("steps/001/response.json");  // redacted
  EXPECT_EQ(restored, files);
  EXPECT_EQ(facts_in(chat), metadata);
}

TEST(ChatArchive, OfTheOriginalHasNoSecretHeaders) {
  const ChatDirectory directory;
  const SessionId id = directory.write_original();
  const Files files = files_in(directory.chat(id));
  const auto store = directory.open();
  must(store->capabilities().archives->archive(id, at(1)));
  const ZipReader zip = must(ZipReader::open(archive_of(directory, id) / "chat.zip"));
  std::string all;
  for (const ZipReader::Entry& entry : must(zip.entries())) {
    must(zip.read(entry, [&all](std::string_view bytes) -> Result<> {
      all += bytes;
      return {};
    }));
  }
  EXPECT_EQ(all.find("secret-"), std::string::npos);
  EXPECT_NE(all.find("\"date\":\"today\""), std::string::npos);
  must(store->capabilities().archives->unarchive(id));
  Files expected = files;
  expected["steps/001/response.json"] =
      R"({"headers":{"Set-Cookie":"[redacted]","x-api-key":"[redacted]",)"
      R"("Authorization":"[redacted]","date":"today"}})";
  EXPECT_EQ(files_in(directory.chat(id)), expected);
}

TEST(ChatArchive, IsFoundByShortIdAndDeletedThroughTheTrash) {
  const ChatDirectory directory;
  const SessionId id = packed_session(directory);
  const auto store = directory.open();
  must(store->capabilities().archives->archive(id, at(1)));
  const Selection archived{.working_dir = "", .numbers = {}, .states = {SessionState::archived}};
  EXPECT_EQ(must(select_session(*store, archive_name(id).value(), archived)).id, id);
  EXPECT_EQ(must(select_session(*store, short_id(id), archived)).id, id);
  EXPECT_EQ(must(select_session(*store, id.str(), archived)).id, id);
  Trash& trash = *store->capabilities().trash;
  must(trash.trash(id, at(2)));
  EXPECT_FALSE(fs::exists(archive_of(directory, id)));
  EXPECT_EQ(must(get(*store, id)).info.state, SessionState::trashed);
  EXPECT_EQ(must(store->list({.states = {SessionState::trashed}})).sessions.size(), 1U);
  EXPECT_EQ(texts_of(*store, id), (Texts{"question", "answer"}));
  EXPECT_TRUE(fails(store->capabilities().archives->unarchive(id), Code::invalid_argument));
  EXPECT_TRUE(fails(store->capabilities().archives->archive(id, at(3)), Code::invalid_argument));
  must(trash.restore(id));
  EXPECT_EQ(must(get(*store, id)).info.state, SessionState::archived);
  must(trash.purge(id));
  EXPECT_EQ(must(store->find(id)), std::nullopt);
}

TEST(ChatArchive, IsNotMadeWhileAnAnswerRuns) {
  const ChatDirectory directory;
  const auto store = directory.open();
  must(store->create(chat_session(1)));
  const PartialStart start{operation_id("a"), this_process(), "p", "m"};
  must(store->append(chat_id(1), {user("q")}, {.begin_partial = start}));
  EXPECT_TRUE(fails(store->capabilities().archives->archive(chat_id(1), at(1)), Code::busy));
  must(store->append(chat_id(1), {}, {.end_partial = operation_id("a")}));
  EXPECT_TRUE(works(store->capabilities().archives->archive(chat_id(1), at(1))));
  EXPECT_TRUE(fails(store->capabilities().archives->archive(chat_id(2), at(1)), Code::not_found));
}

TEST(ChatArchive, OverwritesNoChat) {
  const ChatDirectory directory;
  const SessionId id = packed_session(directory);
  const auto store = directory.open();
  must(store->capabilities().archives->archive(id, at(1)));
  directory.write(directory.messages(id), "{\"role\":\"user\",\"content\":\"newer\"}\n");
  EXPECT_TRUE(fails(store->capabilities().archives->unarchive(id), Code::conflict));
  EXPECT_EQ(texts_of(*store, id), Texts{"newer"}) << "the chat hides the archive";
  const std::vector<SessionState> all = {SessionState::active, SessionState::archived};
  EXPECT_EQ(must(store->list({.states = all})).sessions.size(), 1U);
  const std::string older = must(read_file(archive_of(directory, id) / "chat.zip"));
  must(store->capabilities().archives->archive(id, at(2)));
  EXPECT_EQ(must(read_file(archive_of(directory, id) / "chat.zip.bak")), older)
      << "what was packed before is kept";
  EXPECT_EQ(texts_of(*store, id), Texts{"newer"});
}

TEST(ChatArchive, OfTheOriginalIsListedAndRestored) {
  const ChatDirectory directory;
  const SessionId id = session_id(kOriginalId);
  const fs::path archive = fs::path("archive") / archive_name(id).value();
  directory.write(archive / "chat.json",
                  cat(R"({"id":")", kOriginalId,
                      R"(","date":"2026-01-18T20:00:00.000Z","usage":{"inputTokens":5},)"
                      R"("title":"A title","messages":2})"));
  for (const std::string& prefix : {std::string(), cat(kOriginalId, "/")}) {
    directory.write(
        archive / "chat.zip",
        zip_of(
            {{prefix + "messages.jsonl",
              "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}"},
             {prefix + "steps/", "", 040755},
             {prefix + "steps/001/answer.md", "b"}}));
    const auto store = directory.open();
    const Session found = must(get(*store, id));
    EXPECT_EQ(found.info.title, "A title");
    EXPECT_EQ(found.info.head, Seq{2});
    EXPECT_EQ(found.info.updated_at, at(0));
    EXPECT_EQ(found.usage, usage("", 5, 0));
    EXPECT_EQ(texts_of(*store, id), (Texts{"a", "b"}));
    const std::string zip = directory.read(archive / "chat.zip");
    must(store->capabilities().archives->unarchive(id));
    EXPECT_EQ(texts_of(*store, id), (Texts{"a", "b"}));
    EXPECT_EQ(must(store->capabilities().artefacts->find_artefact(id, {1}, "answer")), "b");
    must(store->capabilities().trash->purge(id));
    directory.write(archive / "chat.json", "not JSON");
    directory.write(archive / "chat.zip", zip);
    const SessionPage page = must(store->list({.states = {SessionState::archived}}));
    EXPECT_EQ(page.sessions.size(), 1U) << "its id is in its name";
    EXPECT_EQ(page.damage.size(), 1U);
    must(store->capabilities().archives->unarchive(id));
    EXPECT_EQ(texts_of(*store, id), (Texts{"a", "b"}));
    must(store->capabilities().trash->purge(id));
    directory.write(archive / "chat.json",
                    cat(R"({"id":")", kOriginalId,
                        R"(","date":"2026-01-18T20:00:00.000Z","usage":{"inputTokens":5},)"
                        R"("title":"A title","messages":2})"));
  }
}

TEST(ChatArchive, WithAttacksIsRefused) {
  const ChatDirectory directory;
  const SessionId id = session_id(kOriginalId);
  const fs::path archive = fs::path("archive") / archive_name(id).value();
  const std::string good = "{\"role\":\"user\",\"content\":\"a\"}\n";
  const auto store = directory.open();
  const std::vector<std::vector<ZipEntryBytes>> attacks = {
      {{"/etc/evil", "x"}},
      {{"../evil", "x"}},
      {{"steps/../../evil", "x"}},
      {{"..", "x"}},
      {{"steps/..", "x"}},
      {{"./evil", "x"}},
      {{"a//b", "x"}},
      {{"a\\..\\evil", "x"}},
      {{"C:evil", "x"}},
      {{"evil\n", "x"}},
      {{"\x1b[31mevil", "x"}},
      {{std::string(300, 'n'), "x"}},
      {{"link", "/etc/passwd", 0120777}},
      {{"device", "", 0020666}},
      {{"pipe", "", 0010666}},
      {{"messages.jsonl", good}, {"messages.jsonl", "other"}},
      {{"a", "x"}, {"a/b", "x"}},
      {{"a/b", "x"}, {"a", "x"}},
      {{"encrypted", "x", 0100644, 0x0801}},
      {{"large", "x", 0100644, 0x0800, 1'200'000'000}},
      {{"large", "x", 0100644, 0x0800, 700'000'000}, {"too", "x", 0100644, 0x0800, 700'000'000}},
      {{"lies", "x", 0100644, 0x0800, 5}},
  };
  for (std::vector<ZipEntryBytes> entries : attacks) {
    const std::string name = entries.front().name;
    entries.insert(entries.begin(), {"first", "harmless"});
    directory.write(archive / "chat.zip", zip_of(entries));
    EXPECT_TRUE(fails(store->capabilities().archives->unarchive(id), Code::corrupt)) << name;
    EXPECT_FALSE(fs::exists(directory.chat(id))) << name;
    EXPECT_TRUE(fs::exists(directory.root() / archive / "chat.zip")) << "the archive stays";
    EXPECT_GE(must(store->capabilities().repair->verify()).damage.size(), 1U) << name;
  }
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(directory.root().parent_path())) {
    EXPECT_EQ(entry.path().native().find("evil"), std::string::npos) << entry.path();
  }
  directory.write(archive / "chat.zip", "no zip at all");
  EXPECT_TRUE(fails(store->capabilities().archives->unarchive(id), Code::corrupt));
  fs::remove(directory.root() / archive / "chat.zip");
  EXPECT_TRUE(fails(store->capabilities().archives->unarchive(id), Code::not_found));
}

TEST(ChatArchive, TruncatedAnywhereIsRefusedOrComplete) {
  const ChatDirectory directory;
  const SessionId id = session_id(kOriginalId);
  const fs::path archive = fs::path("archive") / archive_name(id).value();
  const std::string zip =
      zip_of({{"messages.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n"}, {"input.md", "a"}});
  const auto store = directory.open();
  for (std::size_t cut = 0; cut < zip.size(); ++cut) {
    directory.write(archive / "chat.zip", zip.substr(0, cut));
    EXPECT_FALSE(store->capabilities().archives->unarchive(id)) << cut;
    EXPECT_FALSE(fs::exists(directory.chat(id))) << cut;
  }
}

TEST(ChatArchive, BombsAreRefusedAndNotWritten) {
  const ChatDirectory directory;
  const SessionId id = session_id(kOriginalId);
  const fs::path archive = directory.root() / "archive" / archive_name(id).value();
  fs::create_directories(archive);
  ZipWriter bomb = must(ZipWriter::create(archive / "chat.zip", Packing::deflated));
  must(bomb.add_bytes("bomb", "/", std::string(20'000'000, 'x')));
  must(bomb.close());
  const auto store = directory.open();
  EXPECT_TRUE(fails(store->capabilities().archives->unarchive(id), Code::corrupt));
  // A chat of ours that compresses as well must be restorable.
  must(store->create(chat_session(1)));
  must(store->append(chat_id(1), {user(std::string(20'000'000, 'x'))}, {}));
  must(store->capabilities().archives->archive(chat_id(1), at(1)));
  must(store->capabilities().archives->unarchive(chat_id(1)));
  EXPECT_EQ(texts_of(*store, chat_id(1)).front().size(), 20'000'000U);
}

TEST(ChatArchive, OfMoreThan100000EntriesIsNeitherMadeNorUnpacked) {
  const ChatDirectory directory;
  const fs::path file = directory.root() / "chat.zip";
  std::vector<ZipEntryBytes> entries;
  for (std::int64_t i = 0; i < store::chatdir::kEntriesMax; ++i) {
    entries.push_back({.name = std::to_string(i)});
  }
  directory.write(file, zip_of(entries));
  EXPECT_EQ(must(must(ZipReader::open(file)).entries()).size(), entries.size());
  entries.push_back({.name = "one more"});
  directory.write(file, zip_of(entries));
  EXPECT_TRUE(fails(must(ZipReader::open(file)).entries(), Code::corrupt));
  EXPECT_EQ(must(ZipReader::open(file)).files().entries.size(), entries.size() - 1);

  ZipWriter zip = must(ZipWriter::create(directory.root() / "new.zip", Packing::stored));
  for (std::int64_t i = 0; i < store::chatdir::kEntriesMax; ++i) {
    must(zip.add_bytes(entries[static_cast<std::size_t>(i)].name, file, ""));
  }
  EXPECT_TRUE(fails(zip.add_bytes("one more", file, ""), Code::unsupported));
  EXPECT_TRUE(fails(zip.add_folder("folder/", directory.root()), Code::unsupported));
}

// Files planted while a zip is written must affect neither where its bytes are written nor what is
// read.
class ZipBesideLinks : public testing::Test {
 protected:
  ZipBesideLinks() {
    directory_.write(victim_ / "chat.zip", "mine");
    fs::create_directories(folder_);
  }

  ZipWriter begin() const {
    ZipWriter zip = must(ZipWriter::create(folder_ / "chat.zip", Packing::deflated));
    must(zip.add_bytes("input.md", victim_ / "chat.zip", "text"));
    return zip;
  }
  void expect_untouched() const { EXPECT_EQ(files_in(victim_), (Files{{"chat.zip", "mine"}})); }

  ChatDirectory directory_;
  fs::path victim_ = directory_.root() / "victim";
  fs::path folder_ = directory_.root() / "new";
};

TEST_F(ZipBesideLinks, ALinkInItsPlaceIsRefused) {
  fs::create_symlink(victim_ / "chat.zip", folder_ / "chat.zip");
  EXPECT_FALSE(ZipWriter::create(folder_ / "chat.zip", Packing::deflated));
  expect_untouched();
}

TEST_F(ZipBesideLinks, ALinkPlantedUnderItsNameIsNotWritten) {
  ZipWriter zip = begin();
  fs::remove(folder_ / "chat.zip");
  fs::create_symlink(victim_ / "chat.zip", folder_ / "chat.zip");
  EXPECT_TRUE(fails(zip.close(), Code::conflict));
  expect_untouched();
  EXPECT_TRUE(fs::is_symlink(folder_ / "chat.zip"));
}

TEST_F(ZipBesideLinks, AFolderThatBecomesALinkGetsNothing) {
  ZipWriter zip = begin();
  fs::rename(folder_, directory_.root() / "moved");
  fs::create_directory_symlink(victim_, folder_);
  EXPECT_FALSE(zip.close());
  expect_untouched();
}

TEST_F(ZipBesideLinks, LeavesNoTemporaryFile) {
  ZipWriter zip = begin();
  must(zip.close());
  EXPECT_EQ(files_in(folder_).size(), 1U);
  const ZipReader back = must(ZipReader::open(folder_ / "chat.zip"));
  EXPECT_EQ(must(back.entries()).size(), 1U);
}

// Every state that a crash can leave, created by hand.
class InterruptedArchive : public testing::Test {
 protected:
  InterruptedArchive() : id_(packed_session(directory_)) {
    const auto store = directory_.open();
    chat_ = files_in(directory_.chat(id_));
    must(store->capabilities().archives->archive(id_, at(1)));
    archive_ = files_in(archive_of(directory_, id_));
    fs::remove_all(directory_.root() / "archive");
  }

  void put(const fs::path& folder, const Files& files) const {
    for (const auto& [name, bytes] : files) {
      directory_.write(folder / name, bytes);
    }
  }
  void put_chat(const fs::path& folder = "") const {
    put(folder.empty() ? directory_.chat(id_) : folder, chat_);
  }
  void put_archive(const fs::path& folder = "") const {
    put(folder.empty() ? archive_of(directory_, id_) : folder, archive_);
  }
  void announce(const char* what) const {
    const LogEnd end = end_of_log();
    directory_.write("archive/.doing",
                     cat(R"({"do":")", what, R"(","id":")", id_.str(), R"(","end":)", end.end,
                         R"(,"tail":")", end.tail, R"("})"));
  }

  // Expects a complete session in one place, and no leftover files.
  void expect_in(SessionState state) {
    const auto store = directory_.open();
    EXPECT_EQ(must(get(*store, id_)).info.state, state);
    EXPECT_EQ(texts_of(*store, id_), (Texts{"question", "answer"}));
    EXPECT_EQ(fs::exists(directory_.chat(id_)), state != SessionState::archived);
    EXPECT_EQ(fs::exists(archive_of(directory_, id_)), state == SessionState::archived);
    EXPECT_FALSE(fs::exists(directory_.root() / "archive" / ".doing"));
    // Both operations work in this state.
    if (state == SessionState::archived) {
      must(store->capabilities().archives->unarchive(id_));
    }
    must(store->capabilities().archives->archive(id_, at(2)));
    EXPECT_EQ(texts_of(*store, id_), (Texts{"question", "answer"}));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory_.root())) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(!name.starts_with('.') || name == ".lock") << entry.path();
    }
  }

  fs::path hidden(const char* where, const char* prefix) const {
    return fs::path(where) / cat(prefix, id_.str());
  }

  ChatDirectory directory_;
  SessionId id_;
  Files chat_;
  Files archive_;

 private:
  struct LogEnd {
    std::size_t end;
    std::uint64_t tail;
  };
  LogEnd end_of_log() const {
    const std::string& log = chat_.at("messages.jsonl");
    return {log.size(), fnv1a(std::string_view(log).substr(log.size() - 64))};
  }
};

TEST_F(InterruptedArchive, WhilePacking) {
  put_chat();
  put(hidden("archive", ".new-"), {{"chat.zip", "half"}});
  expect_in(SessionState::closed);
}

TEST_F(InterruptedArchive, WhenPacked) {
  put_chat();
  put_archive(hidden("archive", ".new-"));
  announce("archive");
  expect_in(SessionState::archived);
}

TEST_F(InterruptedArchive, WhenInPlace) {
  put_chat();
  put_archive();
  announce("archive");
  expect_in(SessionState::archived);
}

TEST_F(InterruptedArchive, WhileRemovingTheChat) {
  put(hidden("archive", ".leaving-"), {{"messages.jsonl", "half"}});
  put_archive();
  announce("archive");
  expect_in(SessionState::archived);
}

// Like a crash between the renames: a folder that is a mount point can be read, but not renamed.
TEST_F(InterruptedArchive, WhenTheChatCannotLeave) {
  put_chat();
  {
    const SmallDisk disk(directory_.chat(id_));
    if (!disk.is_mounted()) {
      GTEST_SKIP() << "mounting a small disk needs root";
    }
    put_chat();
    EXPECT_FALSE(directory_.open()->capabilities().archives->archive(id_, at(1)));
    EXPECT_TRUE(fs::exists(archive_of(directory_, id_)));
  }
  expect_in(SessionState::archived);
}

TEST_F(InterruptedArchive, WhenTheArchiveCannotLeave) {
  put_archive();
  {
    const SmallDisk disk(archive_of(directory_, id_));
    if (!disk.is_mounted()) {
      GTEST_SKIP() << "mounting a small disk needs root";
    }
    put_archive();
    EXPECT_FALSE(directory_.open()->capabilities().archives->unarchive(id_));
    EXPECT_TRUE(fs::exists(directory_.chat(id_)));
  }
  expect_in(SessionState::closed);
}

// An older archive must not appear in the place of a chat that is being purged.
TEST_F(InterruptedArchive, PurgedBesideAnOlderArchive) {
  put_chat();
  put_archive();
  {
    const SmallDisk disk(archive_of(directory_, id_));
    if (!disk.is_mounted()) {
      GTEST_SKIP() << "mounting a small disk needs root";
    }
    put_archive();
    EXPECT_FALSE(directory_.open()->capabilities().trash->purge(id_));
    EXPECT_EQ(must(get(*directory_.open(), id_)).info.state, SessionState::closed);
  }
  must(directory_.open()->capabilities().trash->purge(id_));
  EXPECT_EQ(must(directory_.open()->find(id_)), std::nullopt);
  EXPECT_EQ(files_in(directory_.root() / "archive"), Files{});
}

TEST_F(InterruptedArchive, WhilePurging) {
  put(hidden("chat", ".leaving-"), {{"messages.jsonl", "half"}});
  put(hidden("trash", ".leaving-"), {{"messages.jsonl", "half"}});
  const auto damage = [&] {
    std::vector<std::string> found;
    for (const Damage& part : must(directory_.open()->capabilities().verifier->verify()).damage) {
      found.push_back(cat(part.where, ": ", part.reason));
    }
    return found;
  };
  const std::string reason =
      ": partly removed: creating, moving or removing a session removes the rest";
  EXPECT_EQ(damage(),
            (std::vector<std::string>{
                cat((directory_.root() / hidden("chat", ".leaving-")).native(), reason),
                cat((directory_.root() / hidden("trash", ".leaving-")).native(), reason)}));
  EXPECT_TRUE(fails(directory_.open()->capabilities().trash->purge(id_), Code::not_found));
  EXPECT_EQ(damage(), std::vector<std::string>{});
}

TEST_F(InterruptedArchive, WhileUnpacking) {
  put_archive();
  put(hidden("chat", ".new-"), {{"messages.jsonl", "half"}});
  expect_in(SessionState::archived);
}

TEST_F(InterruptedArchive, WhenUnpacked) {
  put_archive();
  put_chat(hidden("chat", ".new-"));
  announce("restore");
  expect_in(SessionState::closed);
}

TEST_F(InterruptedArchive, WhenBackInPlace) {
  put_archive();
  put_chat();
  announce("restore");
  expect_in(SessionState::closed);
}

TEST_F(InterruptedArchive, WhileRemovingTheArchive) {
  put_chat();
  put(hidden("archive", ".leaving-"), {{"chat.zip", "half"}});
  announce("restore");
  expect_in(SessionState::closed);
}

TEST_F(InterruptedArchive, WhenTheChatIsGone) {
  put_archive();
  announce("restore");
  expect_in(SessionState::archived);
}

// Sessions that no list shows are reported.
TEST_F(InterruptedArchive, SessionsThatExistNowhereElseAreReported) {
  for (const char* const folder : {"chat", "archive"}) {
    const fs::path left = hidden(folder, ".new-");
    std::string(folder) == "chat" ? put_chat(left) : put_archive(left);
    const auto store = directory_.open({.access = Access::read});
    const auto damage = must(store->capabilities().verifier->verify()).damage;
    ASSERT_EQ(damage.size(), 1U) << folder;
    EXPECT_EQ(damage[0].where, (directory_.root() / left).native());
    const fs::path repaired = directory_.root().parent_path() / cat("mended-", folder);
    must(store->capabilities().repair->repair_into(repaired));
    EXPECT_EQ(files_in(repaired / left), files_in(directory_.root() / left));
    put_archive();
    EXPECT_TRUE(must(store->capabilities().verifier->verify()).damage.empty())
        << "it is in the archive";
    fs::remove_all(archive_of(directory_, id_));
    fs::remove_all(directory_.root() / left);
  }
}

TEST_F(InterruptedArchive, FoldersWithoutMessagesAreNotReported) {
  put(hidden("chat", ".new-"), {{"messages.jsonl", ""}, {"reprise.json", "{}"}});
  const auto store = directory_.open({.access = Access::read});
  EXPECT_TRUE(must(store->capabilities().verifier->verify()).damage.empty());
}

// A program that opened the store before the crash does not write to the chat being archived.
TEST_F(InterruptedArchive, WritesThatWouldBeLostAreRefused) {
  put_chat();
  const auto store = directory_.open();
  must(store->update(id_, {.title = "opened before"}));
  put_chat();
  put_archive();
  announce("archive");
  EXPECT_TRUE(fails(store->append(id_, {user("late")}, {}), Code::invalid_argument));
  EXPECT_EQ(must(get(*store, id_)).info.state, SessionState::archived);
  EXPECT_EQ(texts_of(*store, id_), (Texts{"question", "answer"}));
}

// Another program has created the chat again in the place for restoring it.
TEST_F(InterruptedArchive, AnExistingChatIsNotOverwritten) {
  put_archive();
  put_chat(hidden("chat", ".new-"));
  announce("restore");
  directory_.write(directory_.messages(id_), "{\"role\":\"user\",\"content\":\"newer\"}\n");
  const auto store = directory_.open();
  EXPECT_EQ(texts_of(*store, id_), Texts{"newer"});
  EXPECT_TRUE(fs::exists(archive_of(directory_, id_) / "chat.zip"));
  EXPECT_FALSE(fs::exists(directory_.root() / "archive" / ".doing"));
  EXPECT_TRUE(works(store->create(chat_session(2)))) << "nothing is blocked";
}

TEST_F(InterruptedArchive, AnUnreadableMoveFileBlocksNothing) {
  for (const std::string& word : {std::string(), std::string(100, '\0'), std::string("{}")}) {
    put_chat();
    put_archive();
    directory_.write("archive/.doing", word);
    EXPECT_EQ(texts_of(*directory_.open({.access = Access::read}), id_),
              (Texts{"question", "answer"}));
    const auto store = directory_.open();
    EXPECT_FALSE(fs::exists(directory_.root() / "archive" / ".doing"));
    must(store->update(id_, {.title = "goes on"}));
    EXPECT_EQ(texts_of(*store, id_), (Texts{"question", "answer"}));
    EXPECT_TRUE(fs::exists(archive_of(directory_, id_) / "chat.zip")) << "nothing was removed";
  }
}

// Deleting after a crash deletes the whole session, not only one of its places.
TEST_F(InterruptedArchive, IsFinishedBeforeTheSessionIsDeleted) {
  put_archive();
  const auto store = directory_.open();
  put_chat(hidden("chat", ".new-"));
  announce("restore");
  must(store->capabilities().trash->trash(id_, at(3)));
  EXPECT_FALSE(fs::exists(directory_.chat(id_)));
  EXPECT_FALSE(fs::exists(archive_of(directory_, id_)));
  EXPECT_EQ(must(get(*store, id_)).info.state, SessionState::trashed);
}

// A chat that temporarily cannot be read is not considered changed.
TEST_F(InterruptedArchive, IsFinishedWhenTheChatCanBeReadAgain) {
  put_chat();
  put_archive();
  announce("archive");
  fs::remove(directory_.messages(id_));
  // Opening a socket fails with ENXIO, like a device that is temporarily missing.
  ASSERT_EQ(::mknod(directory_.messages(id_).c_str(), S_IFSOCK | 0600U, 0), 0);
  EXPECT_TRUE(fails(open_chatdir_store(directory_.root()), Code::io));
  fs::remove(directory_.messages(id_));
  put_chat();
  expect_in(SessionState::archived);
}

TEST_F(InterruptedArchive, ChangesByAnotherProgramAreNotRemoved) {
  put_chat();
  put_archive();
  announce("archive");
  directory_.write(directory_.messages(id_), directory_.read(directory_.messages(id_)) +
                                                 "{\"role\":\"user\",\"content\":\"late\"}\n");
  const auto store = directory_.open();
  EXPECT_EQ(texts_of(*store, id_), (Texts{"question", "answer", "late"}));
  EXPECT_FALSE(fs::exists(directory_.root() / "archive" / ".doing"));
}

}  // namespace
}  // namespace reprise::test
