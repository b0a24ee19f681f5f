// The folder of session files: its subfolders, files of others, invalid files.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sessions/fixture.h"
#include "store/sessions/layout.h"
#include "store/sessions/session_json.h"
#include "support/build.h"
#include "support/must.h"
#include "support/print.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using store::sessions::read_info;

class SessionsStore : public testing::Test {
 protected:
  SessionsStore() : store_(must(open_sessions_store(root()))) {}

  fs::path root() const { return folder_.path() / "sessions"; }
  fs::path closed(std::string_view id) const { return root() / cat(id, ".json"); }
  fs::path active(std::string_view id) const { return root() / "active" / cat(id, ".json"); }
  fs::path trashed(std::string_view id) const {
    return root() / "trash" / "active" / cat(id, ".json");
  }
  // All files below the root except the lock file.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root())) {
      const std::string name = entry.path().lexically_relative(root()).native();
      if (entry.is_regular_file() && name != ".lock") {
        names.push_back(name);
      }
    }
    std::ranges::sort(names);
    return names;
  }
  void put(const fs::path& file, std::string_view bytes) {
    must(make_private_folders(file.parent_path()));
    must(replace_file(file, bytes));
  }
  std::vector<std::string> damaged() {
    std::vector<std::string> places;
    for (const Damage& damage : must(store_->list({})).damage) {
      EXPECT_FALSE(damage.reason.empty());
      places.push_back(fs::path(damage.where).lexically_relative(root()).native());
    }
    std::ranges::sort(places);
    return places;
  }
  std::vector<std::string> listed() {
    std::vector<std::string> ids;
    for (const SessionInfo& info : must(store_->list({})).sessions) {
      ids.push_back(info.id.str());
    }
    return ids;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

using Names = std::vector<std::string>;

TEST_F(SessionsStore, ASessionIsInTheFolderOfItsState) {
  const SessionId id = session_id("s");
  must(store_->create(session("s")));
  must(store_->append(id, messages(2), {}));
  EXPECT_EQ(files(), Names{"active/s.json"});
  must(store_->update(id, {.state = SessionState::closed, .closed_at = at(9)}));
  EXPECT_EQ(files(), (Names{".reprise/s.json", "s.json"}));
  EXPECT_NE(must(read_file(closed("s"))).find(format_time(at(9))), std::string::npos);
  must(store_->capabilities().trash->trash(id, at(10)));
  EXPECT_EQ(files(), (Names{".reprise/s.json", "trash/s.json"}));
  must(store_->capabilities().trash->restore(id));
  EXPECT_EQ(files(), (Names{".reprise/s.json", "s.json"}));
  must(store_->update(id, {.state = SessionState::active, .closed_at = std::optional<Time>()}));
  EXPECT_EQ(files(), (Names{".reprise/s.json", "active/s.json"}));
  must(store_->capabilities().trash->trash(id, at(11)));
  EXPECT_EQ(files(), (Names{".reprise/s.json", "trash/active/s.json"}));
  must(store_->capabilities().trash->restore(id));
  EXPECT_EQ(files(), (Names{".reprise/s.json", "active/s.json"}));
  must(store_->capabilities().trash->purge(id));
  EXPECT_EQ(files(), Names{});
}

TEST_F(SessionsStore, APurgeRemovesManualCopiesInOtherFolders) {
  must(store_->create(session("s")));
  const std::string bytes = must(read_file(active("s")));
  put(closed("s"), bytes);
  put(trashed("s"), "unreadable");
  must(store_->capabilities().trash->purge(session_id("s")));
  EXPECT_EQ(files(), Names{});
  EXPECT_EQ(listed(), Names{});
}

TEST_F(SessionsStore, IsPrivate) {
  must(store_->create(session("s")));
  for (const auto& entry : fs::recursive_directory_iterator(root())) {
    struct stat status{};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, entry.is_directory() ? 0700U : 0600U) << entry.path();
  }
}

TEST_F(SessionsStore, UnreadableFilesAreReportedAndTheListContinues) {
  put(closed("good"), file_with(entry("user", "a", "2025-12-16T15:00:01Z")));
  must(store_->create(session("ours")));
  fs::create_directory(closed("folder"));
  fs::create_symlink("nowhere", closed("dangling"));
  fs::create_symlink("loop.json", closed("loop"));
  put(closed("array"), "[]");
  put(closed("empty"), "");
  put(closed("torn"), fixture().substr(0, 700));
  put(closed("other"), R"({"name":"app","version":"1.0.0"})");
  put(closed("later"), file_with("", R"(,"version":2)"));
  put(closed("binary"), std::string("\0\xFF\xFE", 3));
  put(closed("large"), cat(R"({"x":")", std::string(11 << 20, 'x'), "\"}"));
  put(root() / "not an id.json", fixture());
  put(active("good"), file_with(""));
  put(root() / "x.json.tmp", "{");
  put(root() / "notes.txt", "{");
  EXPECT_EQ(listed(), (Names{"ours", "good"}));
  EXPECT_EQ(damaged(), (Names{"array.json", "binary.json", "dangling.json", "empty.json",
                              "folder.json", "good.json", "large.json", "later.json", "loop.json",
                              "not an id.json", "other.json", "torn.json"}));
  const VerifyReport report = must(store_->capabilities().repair->verify());
  EXPECT_EQ(report.sessions, 3) << "good.json, too, though another one hides it";
  EXPECT_EQ(report.damage.size(), 11U);
  EXPECT_EQ(must(read_file(closed("array"))), "[]") << "nothing is mended or removed by looking";
}

TEST_F(SessionsStore, InaccessibleFilesAreReported) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  put(closed("good"), file_with(""));
  put(closed("secret"), file_with(""));
  fs::permissions(closed("secret"), fs::perms::none);
  EXPECT_EQ(listed(), Names{"good"});
  EXPECT_EQ(damaged(), Names{"secret.json"});
}

TEST_F(SessionsStore, DamagedFilesAreNotTouched) {
  put(closed("torn"), fixture().substr(0, 700));
  const SessionId id = session_id("torn");
  EXPECT_TRUE(fails(store_->find(id), Code::corrupt));
  EXPECT_TRUE(fails(store_->append(id, messages(1), {}), Code::corrupt));
  EXPECT_TRUE(fails(store_->create(session("torn")), Code::corrupt)) << "its place is taken";
  EXPECT_EQ(must(read_file(closed("torn"))), fixture().substr(0, 700));
}

TEST_F(SessionsStore, ReadingChangesNothing) {
  put(closed(kFixtureId), fixture());
  const auto before = fs::last_write_time(closed(kFixtureId));
  const auto reader = must(open_sessions_store(root(), {.access = Access::read}));
  const SessionId id = session_id(kFixtureId);
  EXPECT_EQ(must(read_all(*reader, id)).size(), 2U);
  EXPECT_EQ(must(reader->list({})).sessions.size(), 1U);
  must(reader->capabilities().repair->verify());
  EXPECT_TRUE(fails(reader->append(id, messages(1), {}), Code::unsupported));
  EXPECT_EQ(files(), Names{cat(kFixtureId, ".json")});
  EXPECT_FALSE(fs::exists(root() / ".lock"));
  EXPECT_EQ(fs::last_write_time(closed(kFixtureId)), before);
  EXPECT_TRUE(
      fails(open_sessions_store(root() / "none", {.access = Access::read}), Code::not_found));
}

TEST_F(SessionsStore, UsesTheListedFile) {
  put(closed("shown"), fixture());
  const SessionId id = session_id("shown");
  EXPECT_EQ(listed(), Names{"shown"});
  must(store_->update(id, {.state = SessionState::active}));
  EXPECT_EQ(files(), Names{"active/shown.json"});
  EXPECT_NE(must(read_file(active("shown"))).find(cat("\"id\": \"", kFixtureId)),
            std::string::npos);
}

TEST_F(SessionsStore, ReadsFilesOfAnotherProgram) {
  const SessionId id = session_id(kFixtureId);
  put(closed(kFixtureId), fixture());
  must(store_->append(id, {user("ours")}, {}));
  put(closed(kFixtureId), fixture());
  EXPECT_EQ(must(read_all(*store_, id)).size(), 2U);
  must(store_->append(id, {user("again", at(100))}, {}));
  EXPECT_EQ(texts(must(read_all(*store_, id))).back(), "again");
  fs::remove(closed(kFixtureId));
  EXPECT_EQ(must(store_->find(id)), std::nullopt);
  EXPECT_TRUE(fails(store_->append(id, {user("gone")}, {}), Code::not_found));
}

TEST_F(SessionsStore, AFailedResumeLeavesTheFileUnchanged) {
  put(closed(kFixtureId), fixture());
  put(root() / "active", "no folder");
  const SessionId id = session_id(kFixtureId);
  EXPECT_FALSE(store_->update(id, {.state = SessionState::active}));
  EXPECT_EQ(must(read_file(closed(kFixtureId))), fixture());
  EXPECT_EQ(files(), (Names{cat(kFixtureId, ".json"), "active"}));
}

TEST_F(SessionsStore, NothingIsMovedOverAnotherFile) {
  put(closed(kFixtureId), fixture());
  must(store_->create(session("s")));
  put(trashed("s"), "{}");
  EXPECT_TRUE(fails(store_->capabilities().trash->trash(session_id("s"), at(1)), Code::conflict));
  EXPECT_EQ(must(read_file(trashed("s"))), "{}");
  EXPECT_EQ(must(get(*store_, session_id("s"))).info.state, SessionState::active);
}

TEST_F(SessionsStore, RefusesToGrowBeyondItsLimit) {
  const SessionId id = session_id("s");
  must(store_->create(session("s")));
  must(store_->append(id, {user(std::string(9 << 20, 'x'))}, {}));
  const auto refused = store_->append(id, {user(std::string(2 << 20, 'y'))}, {});
  EXPECT_TRUE(fails(refused, Code::unsupported));
  EXPECT_NE(refused.error().message.find("10485760"), std::string::npos);
  EXPECT_EQ(must(read_all(*store_, id)).size(), 1U);
  EXPECT_TRUE(works(store_->append(id, {user("small")}, {})));
}

TEST_F(SessionsStore, TruncatedFilesCostOnlyThemselves) {
  put(closed("whole"), fixture());
  for (std::size_t cut = 0; cut < fixture().size(); cut += 13) {
    put(closed("cut"), fixture().substr(0, cut));
    EXPECT_EQ(listed(), Names{"whole"}) << cut;
    EXPECT_EQ(damaged(), Names{"cut.json"}) << cut;
  }
}

TEST_F(SessionsStore, RepairPreservesMessagesBeforeATruncation) {
  must(store_->create(session("whole")));
  must(store_->append(session_id("whole"), messages(20), {}));
  const std::string whole = must(read_file(active("whole")));
  must(store_->capabilities().trash->purge(session_id("whole")));
  std::size_t most = 0;
  for (std::size_t cut = 0; cut < whole.size(); cut += 97) {
    put(closed("cut"), whole.substr(0, cut));
    const fs::path target = folder_.path() / cat("repaired", cut);
    const VerifyReport report = must(store_->capabilities().repair->repair_into(target));
    ASSERT_EQ(report.damage.size(), 1U) << cut;
    EXPECT_EQ(must(read_file(target / "cut.json.bak")), whole.substr(0, cut));
    const auto repaired = must(open_sessions_store(target));
    const auto found = must(repaired->find(session_id("cut")));
    const auto there = found ? must(read_all(*repaired, session_id("cut"))) : messages(0);
    EXPECT_EQ(report.sessions, found ? 1 : 0);
    EXPECT_EQ(report.messages, std::ssize(there));
    ASSERT_GE(there.size(), most) << "more of the file cannot show less";
    most = there.size();
    for (std::size_t i = 0; i < there.size(); ++i) {
      EXPECT_EQ(plain_text(there[i]), cat("message ", i));
    }
  }
  EXPECT_EQ(most, 20U);
}

TEST_F(SessionsStore, ABackupHasEveryFile) {
  must(store_->create(session("open")));
  put(closed(kFixtureId), fixture());
  put(closed("torn"), "{");
  fs::create_directory(closed("folder"));
  const fs::path target = folder_.path() / "backup";
  must(store_->capabilities().backup->backup(target));
  EXPECT_EQ(must(read_file(target / cat(kFixtureId, ".json"))), fixture());
  EXPECT_EQ(must(read_file(target / "torn.json")), "{");
  EXPECT_TRUE(fs::exists(target / "active" / "open.json"));
}

TEST_F(SessionsStore, ABackupHasSessionsThatMoveMeanwhile) {
  constexpr int kSessions = 20;
  constexpr int kBackups = 40;
  std::vector<SessionId> ids;
  for (int i = 0; i < kSessions; ++i) {
    ids.push_back(session_id(cat("s", i)));
    must(store_->create(session(ids.back().str())));
  }
  const std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const SessionState state : {SessionState::closed, SessionState::active}) {
        for (std::size_t i = 0; i < ids.size(); i += 5) {
          must(store_->update(ids[i], {.state = state}));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  });
  int whole = 0;
  for (int i = 0; i < kBackups; ++i) {
    const fs::path target = folder_.path() / std::to_string(i);
    const auto done = store_->capabilities().backup->backup(target);
    if (!done && done.error().code == Code::busy) {
      continue;  // it changes faster than it can be copied
    }
    EXPECT_TRUE(works(done));
    ++whole;
    const auto copy = must(open_sessions_store(target, {.access = Access::read}));
    const SessionPage page = must(copy->list({}));
    EXPECT_EQ(page.sessions.size(), ids.size());
    EXPECT_EQ(page.damage.size(), 0U);
  }
  EXPECT_GT(whole, 0);
}

TEST_F(SessionsStore, IsRecognizedByItsContent) {
  const auto is_here = [this] { return must(store::sessions::is_sessions_folder(root())); };
  EXPECT_FALSE(is_here());
  put(root() / "package.json", R"({"name":"app"})");
  EXPECT_FALSE(is_here());
  must(store_->create(session("s")));
  EXPECT_TRUE(is_here());
  must(store_->update(session_id("s"), {.state = SessionState::closed}));
  EXPECT_TRUE(is_here());
  EXPECT_EQ(must(must(open_store(root().native()))->list({})).sessions.size(), 1U);
}

TEST_F(SessionsStore, ASecondStoreBesideItSeesEveryStep) {
  const auto other = must(open_sessions_store(root()));
  const SessionId id = session_id("s");
  must(store_->create(session("s")));
  for (int i = 0; i < 5; ++i) {
    must((i % 2 == 0 ? other : store_)->append(id, {user(cat("message ", i))}, {}));
  }
  must(other->update(id, {.state = SessionState::closed}));
  EXPECT_EQ(must(read_all(*store_, id)).size(), 5U);
  must(store_->update(id, {.state = SessionState::active}));
  EXPECT_EQ(must(get(*other, id)).info.state, SessionState::active);
}

// A list reads only the two ends of a file; it must show the same as the whole file.
class Listing : public SessionsStore {
 protected:
  SessionInfo from_ends(const fs::path& file) {
    const store::sessions::Location location = must(store::sessions::Layout(root()).location(file));
    return must(read_info(file, location, {}));
  }
  void expect_same(const SessionId& id, const fs::path& file) {
    const SessionInfo whole = must(get(*store_, id)).info;
    EXPECT_EQ(from_ends(file), whole);
    const std::string json = must(read_file(file));
    const store::sessions::Location location{id, whole.state};
    EXPECT_EQ(store::sessions::info_from_ends(location, json, json), whole)
        << "the ends of a file of ours say all";
  }
};

TEST_F(Listing, OfOurFilesNeedsTheEndsOnly) {
  const Session whole = full_session("whole");
  must(store_->create(whole));
  must(store_->append(whole.info.id, messages(500), {}));
  must(store_->append(
      whole.info.id, {full_message()},
      {.begin_partial = PartialStart{operation_id("answer"), this_process(), "p", "m", at(7)}}));
  expect_same(whole.info.id,
              must(store::sessions::Layout(root()).find(whole.info.id)).value_or("gone"));
}

TEST_F(Listing, OfALongHistoryOfPromptsReadsMore) {
  Session chatty = session("chatty");
  for (int i = 0; i < 100; ++i) {
    chatty.prompt_history.emplace_back(300, 'p');
  }
  must(store_->create(chatty));
  for (int i = 0; i < 120; ++i) {
    must(store_->append(chatty.info.id, messages(2), {.operation = operation_id(cat("op-", i))}));
  }
  expect_same(chatty.info.id, active("chatty"));
}

TEST_F(Listing, OfFilesOfTheOriginalCountsTheirMessages) {
  put(closed("theirs"), fixture());
  EXPECT_EQ(from_ends(closed("theirs")), must(get(*store_, session_id("theirs"))).info);
  EXPECT_EQ(from_ends(closed("theirs")).head, Seq{2});
}

// Texts and other programs' line ends that look like the end of a conversation.
TEST_F(Listing, IsNotMisled) {
  const std::string created = "\n  \"created_at\": \"1999-01-01T00:00:00Z\"";
  const std::string lines = created + ",\n  \"name\": \"false\"\n}";
  Session tricky = session("tricky");
  tricky.info.title = lines;
  must(store_->create(tricky));
  must(
      store_->append(tricky.info.id, {user(lines), assistant(std::string(9000, 'x') + lines)}, {}));
  expect_same(tricky.info.id, active("tricky"));

  const std::string inner = R"({"reprise": "{\"messages\":7}",)" + created +
                            ",\n  \"id\": \"m\", \"name\": \"false\", \"updated_at\": \"x\"\n}";
  put(closed("foreign"), file_with(inner + "," + entry("user", std::string(9000, 'x'), "x")));
  EXPECT_EQ(from_ends(closed("foreign")), must(get(*store_, session_id("foreign"))).info);
  // The same at the very end, just before the root closes.
  std::string last = file_with("");
  last.pop_back();
  put(closed("last"), last + R"(,"zzz":)" + inner + "}");
  EXPECT_EQ(from_ends(closed("last")), must(get(*store_, session_id("last"))).info);
}

// In another program's file, prompts may be on lines that look like members.
TEST_F(Listing, OmitsOnlyTheHistoryOfPrompts) {
  const std::string members =
      "{\n  \"closed_at\": null,\n  \"conversation\": [],"
      "\n  \"created_at\": \"2020-01-01T00:00:00Z\","
      "\n  \"id\": \"x\",\n  \"name\": \"own\","
      "\n  \"prompt_history\": ";
  const std::string end = ",\n  \"reprise\": \"{\\\"messages\\\":0}\",\n  \"version\": 1\n}";
  const std::vector<std::string> histories = {
      "[\n  \"one\",\n  \"name\"\n]",  "[\n  \"one\"]", "[{\n  \"name\": \"false\"}]",
      "[[\n  \"created_at\"], \"x\"]", "\n  \"name\"",
  };
  for (const std::string& history : histories) {
    put(closed("theirs"), cat(members, history, end));
    EXPECT_EQ(from_ends(closed("theirs")), must(get(*store_, session_id("theirs"))).info)
        << history;
    EXPECT_EQ(from_ends(closed("theirs")).title, "own") << history;
  }
}

// Programs that ignore the lock are waited for like a lock, however often they write meanwhile.
TEST_F(SessionsStore, AnEditOutlastsAnotherProgramThatKeepsWriting) {
  const SessionId id = session("busy").info.id;
  must(store_->create(session("busy")));
  const fs::path file = active(id.str());
  int tries = 0;
  const auto edit = [&](std::vector<Todo>& todos) -> Result<> {
    todos = {{"done at last", TodoStatus::pending, "", {}}};
    return ++tries <= 30 ? replace_file(file, must(read_file(file))) : Result<>();
  };
  must(store_->capabilities().todos->edit_todos(id, edit));
  EXPECT_EQ(tries, 31);
  EXPECT_EQ(must(store_->capabilities().todos->todos(id)).size(), 1U);
}

}  // namespace
}  // namespace reprise::test
