#include "store/query.h"

#include <gtest/gtest.h>

#include "reprise/store.h"

namespace reprise::store {
namespace {

SessionInfo info(const char* id, std::int64_t microseconds) {
  SessionInfo info{.id = *SessionId::parse(id)};
  info.updated_at = Time(std::chrono::microseconds(microseconds));
  return info;
}

TEST(Cursor, RoundTrips) {
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-1},
                                  std::int64_t{1'768'766'400'123'456}, INT64_MIN, INT64_MAX}) {
    for (const char* id : {"a", "a:b:c", "0-1@x", "1:2"}) {
      const auto cursor = parse_cursor(format_cursor(info(id, time)));
      ASSERT_TRUE(cursor) << id << ' ' << time;
      EXPECT_EQ(cursor->id.str(), id);
      EXPECT_EQ(cursor->activity, Time(std::chrono::microseconds(time)));
    }
  }
}

TEST(Cursor, RecordsWhetherTheSessionIsPinned) {
  SessionInfo pinned = info("a", 5);
  pinned.pinned = true;
  EXPECT_EQ(parse_cursor(format_cursor(pinned))->group, 0);
  EXPECT_EQ(parse_cursor(format_cursor(info("a", 5)))->group, 1);
}

TEST(Cursor, OtherTextIsRefused) {
  for (const char* text : {"", ":", "1", "1:", ":a", "x:a", "1x:a", "+1:a", " 1:a", "1: a", "1:/",
                           "1.0:a", "9223372036854775808:a", "1:.a", "0x1:a"}) {
    const auto cursor = parse_cursor(text);
    ASSERT_FALSE(cursor) << text;
    EXPECT_EQ(cursor.error().code, Code::invalid_argument);
  }
}

TEST(Query, ALimitOutOfRangeIsRefused) {
  for (const std::size_t limit : {std::size_t{0}, kPageMax + 1, kAllSessions}) {
    EXPECT_FALSE(check_query({.limit = limit}, {})) << limit;
  }
  EXPECT_TRUE(check_query({.limit = kAllSessions}, {.lists_at_once = true}));
  EXPECT_FALSE(check_query({.limit = kPageMax + 1}, {.lists_at_once = true}));
}

TEST(Query, ACursorExcludesTheSessionsBeforeIt) {
  const SessionQuery query{.after = format_cursor(info("m", 5))};
  const auto checked = check_query(query, {});
  ASSERT_TRUE(checked);
  EXPECT_FALSE(matches(info("m", 5), *checked)) << "itself";
  EXPECT_FALSE(matches(info("n", 5), *checked));
  EXPECT_FALSE(matches(info("a", 6), *checked));
  EXPECT_TRUE(matches(info("l", 5), *checked));
  EXPECT_TRUE(matches(info("z", 4), *checked));
}

std::vector<std::string> ids(const SessionPage& page) {
  std::vector<std::string> all;
  all.reserve(page.sessions.size());
  for (const SessionInfo& one : page.sessions) {
    all.push_back(one.id.str());
  }
  return all;
}

TEST(Page, IsSortedLimitedAndHasTheNextCursor) {
  const std::vector<SessionInfo> all = {info("a", 1), info("c", 2), info("b", 2), info("d", 0)};
  const SessionPage page = make_page(all, {.limit = 3});
  EXPECT_EQ(ids(page), (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(page.next, format_cursor(info("a", 1)));
  EXPECT_EQ(make_page(all, {.limit = 4}).next, "") << "nothing is left";
  EXPECT_EQ(make_page(std::vector<SessionInfo>(), {.limit = 4}).next, "");

  std::vector<std::shared_ptr<const SessionInfo>> shared;
  for (const SessionInfo& one : all) {
    shared.push_back(std::make_shared<const SessionInfo>(one));
  }
  for (std::size_t limit = 1; limit <= all.size(); ++limit) {
    const SessionPage same = make_page(shared, {.limit = limit});
    EXPECT_EQ(ids(same), ids(make_page(all, {.limit = limit})));
    EXPECT_EQ(same.next, make_page(all, {.limit = limit}).next);
  }
}

TEST(ContainsFolded, ComparesFoldedText) {
  EXPECT_TRUE(contains_folded("Hello World", "o wor"));
  EXPECT_TRUE(contains_folded("x", ""));
  EXPECT_TRUE(contains_folded("", ""));
  EXPECT_FALSE(contains_folded("", "x"));
  EXPECT_TRUE(contains_folded("\u00C4rger", "arger"));
  EXPECT_TRUE(contains_folded("A\u0308rger", "arger"));
  EXPECT_FALSE(contains_folded("arger", "\u65E5"));
  EXPECT_FALSE(contains_folded("[x]", "{x}")) << "no letters, though 32 apart";
}

}  // namespace
}  // namespace reprise::store
