// A full disk, and files larger than anybody expects.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "base/variable.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Store> open_at(const fs::path& folder, const StoreOptions& options = {}) {
  return must(open_context_store(folder / "openai.json", options));
}

TEST(ContextOnAFullDisk, FailsAndKeepsTheOldFileByteForByte) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto store = open_at(folder.path());
  const SessionId id = session_id("s");
  must(store->create(session("s")));
  must(store->append(id, {user("first")}, {}));
  const std::string before = must(read_file(folder.path() / "openai.json"));
  disk.fill();
  EXPECT_TRUE(fails(store->append(id, {user(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_EQ(must(read_file(folder.path() / "openai.json")), before);
  EXPECT_EQ(texts(must(read_all(*store, id))), std::vector<std::string>{"first"});
  EXPECT_EQ(texts(must(read_all(*open_at(folder.path(), {.access = Access::read}), id))),
            std::vector<std::string>{"first"});
  fs::remove(folder.path() / "filler");
  EXPECT_TRUE(works(store->append(id, {user("second")}, {})));
  EXPECT_EQ(must(read_all(*open_at(folder.path()), id)).size(), 2U);
}

// More than the room that is kept for deleting, and not a block more on the disk.
TEST(ContextOnAFullDisk, ALongConversationCanBeDeletedAndComesBack) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const SessionId id = session_id("s");
  const std::string text(600'000, 'x');
  {
    const auto store = open_at(folder.path());
    must(store->create(session("s")));
    must(store->append(id, {user(text)}, {}));
  }
  disk.fill();
  const auto store = open_at(folder.path());
  ASSERT_TRUE(works(store->capabilities().trash->trash(id, at(1))));
  EXPECT_EQ(must(get(*store, id)).info.state, SessionState::trashed);
  EXPECT_EQ(must(store->list({})).sessions.size(), 0U);
  fs::remove(folder.path() / "filler");
  must(store->capabilities().trash->restore(id));
  EXPECT_EQ(must(get(*open_at(folder.path()), id)).info.state, SessionState::active);
  EXPECT_EQ(texts(must(read_all(*open_at(folder.path()), id))), std::vector<std::string>{text});
  const auto again = open_at(folder.path());
  must(again->update(id, {.title = "long"}));
  disk.fill();
  ASSERT_TRUE(works(again->capabilities().trash->trash(id, at(2))));
  ASSERT_TRUE(works(again->capabilities().trash->purge(id)));
  EXPECT_EQ(must(open_at(folder.path())->find(id)), std::nullopt);
}

AppendOptions running(std::string_view answer) {
  Owner dead = this_process();
  dead.started += 1;
  return {.begin_partial = PartialStart{operation_id(answer), dead, "p", "m", Time{}}};
}

// What was held beside the file goes with it, so that the next turn there does not overwrite it.
TEST(ContextOnAFullDisk, ALongConversationWithARunningAnswerCanBeDeletedAndComesBack) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const SessionId id = session_id("s");
  const std::string text(600'000, 'x');
  {
    const auto store = open_at(folder.path());
    must(store->create(session("s")));
    must(store->append(id, {user(text), assistant("yes")}, {}));
    must(store->append(id, {user("and?")}, running("one")));
    const std::vector<Block> half = {TextBlock{"half", {}}};
    must(store->capabilities().partials->add_partial(id, operation_id("one"), half));
  }
  const std::vector<std::string> said = {text, "yes", "and?"};
  disk.fill();
  ASSERT_TRUE(works(open_at(folder.path())->capabilities().trash->trash(id, at(1))));
  EXPECT_EQ(texts(must(read_all(*open_at(folder.path()), id))), said);
  fs::remove(folder.path() / "filler");
  const auto store = open_at(folder.path());
  must(store->create(session("next")));
  must(store->append(session_id("next"), {user("other")}, running("two")));
  EXPECT_TRUE(fails(store->capabilities().trash->restore(id), Code::busy));
  must(store->capabilities().trash->purge(session_id("next")));
  must(store->capabilities().trash->restore(id));
  EXPECT_EQ(texts(must(read_all(*open_at(folder.path()), id))), said);
  const auto left = must(open_at(folder.path())->capabilities().partials->find_partial(id));
  ASSERT_TRUE(left);
  EXPECT_EQ(left->blocks, (std::vector<Block>{TextBlock{"half", {}}}));
  EXPECT_TRUE(fs::is_empty(folder.path() / "openai.json.trash"));
}

// The file beside it has the turn of one session only.
TEST(ContextInTheTrash, IsPurgedBesideTheTurnOfAnother) {
  const TemporaryFolder folder;
  const auto store = open_at(folder.path());
  must(store->create(session("old")));
  must(store->append(session_id("old"), {user("q"), assistant("a")}, {}));
  must(store->capabilities().trash->trash(session_id("old"), at(1)));
  must(store->create(session("new")));
  must(store->append(session_id("new"), {user("asked")}, running("one")));
  must(store->capabilities().trash->purge(session_id("old")));
  EXPECT_EQ(texts(must(read_all(*open_at(folder.path()), session_id("new")))),
            std::vector<std::string>{"asked"});
}

// As a process leaves it that dies while it moves a session into the trash.
TEST(ContextInTwoPlaces, IsWhereItWasAndPurgedFromBoth) {
  const TemporaryFolder folder;
  const auto store = open_at(folder.path());
  const SessionId id = session_id("s");
  must(store->create(session("s")));
  must(store->append(id, {user("q")}, {}));
  const fs::path trashed = folder.path() / "openai.json.trash" / "s.json";
  fs::create_directories(trashed.parent_path());
  fs::create_hard_link(folder.path() / "openai.json", trashed);
  EXPECT_EQ(must(get(*store, id)).info.state, SessionState::active);
  must(store->capabilities().trash->trash(id, at(1)));
  EXPECT_EQ(must(get(*store, id)).info.state, SessionState::trashed);
  must(store->capabilities().trash->restore(id));
  fs::create_hard_link(folder.path() / "openai.json", trashed);
  must(store->capabilities().trash->purge(id));
  EXPECT_EQ(must(open_at(folder.path())->find(id)), std::nullopt);
  EXPECT_FALSE(fs::exists(trashed));
}

TEST(ContextWithALongLine, ReadsAndWritesIt) {
  const bool is_long = !variable("REPRISE_LONG").empty();
  const std::size_t size = is_long ? 90'000'000 : 9'000'000;
  const TemporaryFolder folder;
  must(replace_file(
      folder.path() / "openai.json",
      cat(R"({"conversation":[{"role":"user","content":")", std::string(size, 'x'), R"("}]})")));
  const auto store = open_at(folder.path());
  const SessionId id = must(store->list({})).sessions.front().id;
  must(store->append(id, {assistant("that was long")}, {}));
  const auto there = must(read_all(*open_at(folder.path()), id));
  ASSERT_EQ(there.size(), 2U);
  EXPECT_EQ(plain_text(there.front()).size(), size);
}

}  // namespace
}  // namespace reprise::test
