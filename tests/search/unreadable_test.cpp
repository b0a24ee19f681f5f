// Sessions that cannot be read: reported at each search, searched as soon as they can be read
// again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "search/search_fixture.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using test::HitIds;
using test::must;
using test::SearchFileTest;
using test::user;

// As chat directories list and read sessions of which a file cannot be opened.
class UnreadableSession final : public Source {
 public:
  UnreadableSession(Source& inside, SessionId id) : inside_(inside), id_(std::move(id)) {}
  Result<std::optional<Session>> find(const SessionId& id) override {
    return id == id_ && !listed ? fail(failure, "cannot open it") : inside_.find(id);
  }
  Result<SessionPage> list(const SessionQuery& query) override {
    auto page = inside_.list(query);
    if (page && !listed) {
      std::erase_if(page->sessions, [this](const SessionInfo& info) { return info.id == id_; });
      page->damage.push_back({id_.str(), "cannot open it", ""});
    }
    return page;
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return id == id_ && !readable ? fail(failure, "cannot open it") : inside_.read(id, range, sink);
  }
  const SourceCapabilities& capabilities() const override { return capabilities_; }

  bool listed = true;
  bool readable = true;
  Code failure = Code::io;

 private:
  Source& inside_;
  SessionId id_;
  SourceCapabilities capabilities_;
};

class UnreadableSessionTest : public SearchFileTest {
 protected:
  UnreadableSessionTest() {
    add("a", {user("first word")});
    add("b", {user("second word")});
    add("c", {user("third word")});
    index_ = must(
        SearchIndex::open(file(), {.on_progress = {}, .on_damage = [this](const Damage& damage) {
                                     reported_.push_back(cat(damage.where, ": ", damage.reason));
                                   }}));
  }
  HitIds search() {
    reported_.clear();
    EXPECT_TRUE(must(index_->update_index(sources_[0])));
    const SearchPage found = must(index_->search(sources_, {.terms = must(parse_search("word"))}));
    for (const Damage& damage : found.damage) {
      reported_.push_back(cat(damage.where, ": ", damage.reason));
    }
    return hit_ids(found);
  }

  UnreadableSession unreadable_{*store_, test::session_id("b")};
  SearchSource sources_[1] = {{"chatdir:test", &unreadable_}};
  std::vector<std::string> reported_;
  const std::vector<std::string> expected_ = {"b: cannot open it"};
};

TEST_F(UnreadableSessionTest, IsReportedAndIndexedLaterIfItIsNotListed) {
  unreadable_.listed = false;
  EXPECT_EQ(search().size(), 2U);
  EXPECT_EQ(reported_, expected_);
  EXPECT_EQ(search().size(), 2U);
  EXPECT_EQ(reported_, expected_) << "each time";
  unreadable_.listed = true;
  EXPECT_EQ(search().size(), 3U);
  EXPECT_TRUE(reported_.empty());
}

TEST_F(UnreadableSessionTest, IsReportedAndIndexedLaterIfItCannotBeRead) {
  for (const Code code : {Code::io, Code::corrupt}) {
    unreadable_.failure = code;
    unreadable_.readable = false;
    EXPECT_EQ(search().size(), 2U);
    EXPECT_EQ(reported_, expected_);
    unreadable_.readable = true;
    EXPECT_EQ(search().size(), 3U);
    EXPECT_TRUE(reported_.empty());
    add("b", {user("more")});
    index_ = nullptr;
    std::filesystem::remove_all(file().parent_path());
    index_ = must(
        SearchIndex::open(file(), {.on_progress = {}, .on_damage = [this](const Damage& damage) {
                                     reported_.push_back(cat(damage.where, ": ", damage.reason));
                                   }}));
  }
}

TEST_F(UnreadableSessionTest, IsReportedIfItWasIndexedBefore) {
  for (const Code code : {Code::corrupt, Code::io}) {
    EXPECT_EQ(search().size(), 3U);
    unreadable_.failure = code;
    unreadable_.readable = false;
    EXPECT_EQ(search().size(), 2U);
    EXPECT_EQ(reported_, expected_);
    unreadable_.readable = true;
    EXPECT_EQ(search().size(), 3U);
  }
}

TEST_F(UnreadableSessionTest, IsReportedAgainIfNothingHasChanged) {
  const std::filesystem::path database = folder_.path() / "reprise.db";
  must(replace_file(database, ""));
  std::filesystem::last_write_time(database, std::filesystem::file_time_type::clock::now() - 1h);
  sources_[0].url = "sqlite:" + database.native();
  unreadable_.readable = false;
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(search().size(), 2U);
    EXPECT_EQ(reported_, expected_);
  }
}

TEST_F(UnreadableSessionTest, StaysInTheIndex) {
  EXPECT_EQ(search().size(), 3U);
  unreadable_.listed = false;
  EXPECT_EQ(search().size(), 2U);
  unreadable_.listed = true;
  const SearchPage found = must(index_->search(sources_, {.terms = must(parse_search("word"))}));
  EXPECT_EQ(found.hits.size(), 3U) << "without another update";
}

// A purge drops the words of a part, which also holds other sessions.
TEST_F(UnreadableSessionTest, IsIndexedAgainAfterAPurge) {
  EXPECT_EQ(search().size(), 3U);
  must(store_->capabilities().trash->purge(test::session_id("a")));
  must(index_->forget(sources_[0].url, std::array{test::session_id("a")}));
  for (const Code code : {Code::io, Code::corrupt}) {
    unreadable_.failure = code;
    unreadable_.readable = false;
    for (int time = 0; time < 2; ++time) {
      EXPECT_EQ(search().size(), 1U);
      EXPECT_EQ(reported_, expected_) << "each time";
    }
  }
  unreadable_.readable = true;
  EXPECT_EQ(search().size(), 2U);
  EXPECT_TRUE(reported_.empty());
}

TEST_F(UnreadableSessionTest, ThatIsAnOriginDoesNotKeepOthersFromTheIndex) {
  must(store_->capabilities().forking->fork(test::session_id("b"), Seq{1},
                                            Session{.info = {.id = test::session_id("f")}}));
  must(store_->append(test::session_id("f"), {user("fork word")}, {}));
  unreadable_.listed = false;
  unreadable_.readable = false;
  EXPECT_GE(search().size(), 3U);
  EXPECT_THAT(reported_, testing::Each("b: cannot open it"));
}

}  // namespace
}  // namespace reprise
