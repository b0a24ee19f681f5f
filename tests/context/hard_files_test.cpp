// A full disk, and unusually large files.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "base/variable.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

using Texts = std::vector<std::string>;

class HardFiles : public testing::Test {
 protected:
  fs::path file() const { return folder_.path() / "openai.json"; }
  fs::path trash() const { return folder_.path() / "openai.json.trash"; }
  // Opens the store again, like the next process.
  std::unique_ptr<Store> open(const StoreOptions& options = {}) const {
    return must(open_context_store(file(), options));
  }
  Texts stored(const SessionId& id, const StoreOptions& options = {}) const {
    return texts(must(read_all(*open(options), id)));
  }

  const SessionId id_ = session_id("s");
  TemporaryFolder folder_;
};

class ContextOnAFullDisk : public HardFiles {
 protected:
  void SetUp() override {
    if (!disk_.is_mounted()) {
      GTEST_SKIP() << "mounting a small disk needs root";
    }
  }

  void fill() const { disk_.fill(); }
  void delete_with_reserve() const { fs::remove(folder_.path() / "filler"); }

  // More than the space reserved for deleting.
  const std::string long_text_ = std::string(600'000, 'x');

 private:
  SmallDisk disk_{folder_.path()};
};

class ContextInTheTrash : public HardFiles {};
class ContextInTwoPlaces : public HardFiles {};
class ContextWithALongLine : public HardFiles {};
class ContextOfMoreThanOneGibibyte : public HardFiles {};

TEST_F(ContextOfMoreThanOneGibibyte, IsRefusedAndNotMovedAway) {
  must(replace_file(file(), "{}"));
  fs::resize_file(file(), (std::uintmax_t{1} << 30U) + 1);  // sparse
  const auto store = open();
  EXPECT_TRUE(fails(store->list({}), Code::invalid_argument));
  EXPECT_TRUE(fails(store->create(session("s")), Code::invalid_argument));
  EXPECT_EQ(fs::file_size(file()), (std::uintmax_t{1} << 30U) + 1);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_TRUE(entry.path().filename() == "openai.json" ||
                entry.path().filename() == "openai.json.lock")
        << entry.path();
  }
}

TEST_F(ContextOnAFullDisk, FailsAndKeepsTheOldFileByteForByte) {
  const auto store = open();
  must(store->create(session("s")));
  must(store->append(id_, {user("first")}, {}));
  const std::string before = must(read_file(file()));
  fill();
  EXPECT_TRUE(fails(store->append(id_, {user(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_EQ(must(read_file(file())), before);
  EXPECT_EQ(texts(must(read_all(*store, id_))), Texts{"first"});
  EXPECT_EQ(stored(id_, {.access = Access::read}), Texts{"first"});
  delete_with_reserve();
  EXPECT_TRUE(works(store->append(id_, {user("second")}, {})));
  EXPECT_EQ(stored(id_), (Texts{"first", "second"}));
}

// The disk has no free block.
TEST_F(ContextOnAFullDisk, ALongConversationCanBeDeletedAndRestored) {
  must(open()->create(session("s")));
  must(open()->append(id_, {user(long_text_)}, {}));
  fill();
  const auto store = open();
  ASSERT_TRUE(works(store->capabilities().trash->trash(id_, at(1))));
  EXPECT_EQ(must(get(*store, id_)).info.state, SessionState::trashed);
  EXPECT_EQ(must(store->list({})).sessions.size(), 0U);
  delete_with_reserve();
  must(store->capabilities().trash->restore(id_));
  EXPECT_EQ(must(get(*open(), id_)).info.state, SessionState::active);
  EXPECT_EQ(stored(id_), Texts{long_text_});
  const auto again = open();
  must(again->update(id_, {.title = "long"}));
  fill();
  ASSERT_TRUE(works(again->capabilities().trash->trash(id_, at(2))));
  ASSERT_TRUE(works(again->capabilities().trash->purge(id_)));
  EXPECT_EQ(must(open()->find(id_)), std::nullopt);
}

AppendOptions running(std::string_view answer) {
  Owner dead = this_process();
  dead.started += 1;
  return {.begin_partial = PartialStart{operation_id(answer), dead, "p", "m", Time{}}};
}

// The pending turn beside the file is moved, too, so that the next turn does not overwrite it.
TEST_F(ContextOnAFullDisk, ALongConversationWithARunningAnswerCanBeDeletedAndRestored) {
  {
    const auto store = open();
    must(store->create(session("s")));
    must(store->append(id_, {user(long_text_), assistant("yes")}, {}));
    must(store->append(id_, {user("and?")}, running("one")));
    const std::vector<Block> half = {TextBlock{"half", {}}};
    must(store->capabilities().partials->add_partial(id_, operation_id("one"), half));
  }
  const Texts parts = {long_text_, "yes", "and?"};
  fill();
  ASSERT_TRUE(works(open()->capabilities().trash->trash(id_, at(1))));
  EXPECT_EQ(stored(id_), parts);
  delete_with_reserve();
  const auto store = open();
  must(store->create(session("next")));
  must(store->append(session_id("next"), {user("other")}, running("two")));
  EXPECT_TRUE(fails(store->capabilities().trash->restore(id_), Code::busy));
  must(store->capabilities().trash->purge(session_id("next")));
  must(store->capabilities().trash->restore(id_));
  EXPECT_EQ(stored(id_), parts);
  const auto left = must(open()->capabilities().partials->find_partial(id_));
  ASSERT_TRUE(left);
  EXPECT_EQ(left->blocks, (std::vector<Block>{TextBlock{"half", {}}}));
  EXPECT_TRUE(fs::is_empty(trash()));
}

// The file beside it has the pending turn of only one session.
TEST_F(ContextInTheTrash, IsPurgedBesideTheTurnOfAnother) {
  const auto store = open();
  must(store->create(session("s")));
  must(store->append(id_, {user("q"), assistant("a")}, {}));
  must(store->capabilities().trash->trash(id_, at(1)));
  must(store->create(session("new")));
  must(store->append(session_id("new"), {user("asked")}, running("one")));
  must(store->capabilities().trash->purge(id_));
  EXPECT_EQ(stored(session_id("new")), Texts{"asked"});
}

// The state after a process died while moving a session to the trash.
TEST_F(ContextInTwoPlaces, IsInTheOldPlaceAndPurgedFromBoth) {
  const auto store = open();
  must(store->create(session("s")));
  must(store->append(id_, {user("q")}, {}));
  const fs::path trashed = trash() / "s.json";
  fs::create_directories(trash());
  fs::create_hard_link(file(), trashed);
  EXPECT_EQ(must(get(*store, id_)).info.state, SessionState::active);
  must(store->capabilities().trash->trash(id_, at(1)));
  EXPECT_EQ(must(get(*store, id_)).info.state, SessionState::trashed);
  must(store->capabilities().trash->restore(id_));
  fs::create_hard_link(file(), trashed);
  must(store->capabilities().trash->purge(id_));
  EXPECT_EQ(must(open()->find(id_)), std::nullopt);
  EXPECT_FALSE(fs::exists(trashed));
}

TEST_F(ContextWithALongLine, ReadsAndWritesIt) {
  const bool is_long = !variable("REPRISE_LONG").empty();
  const std::size_t size = is_long ? 90'000'000 : 9'000'000;
  must(replace_file(file(), cat(R"({"conversation":[{"role":"user","content":")",
                                std::string(size, 'x'), R"("}]})")));
  const auto store = open();
  const SessionId id = must(store->list({})).sessions.front().id;
  must(store->append(id, {assistant("that was long")}, {}));
  const Texts there = stored(id);
  ASSERT_EQ(there.size(), 2U);
  EXPECT_EQ(there.front().size(), size);
}

}  // namespace
}  // namespace reprise::test
