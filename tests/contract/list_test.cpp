// Order, pages and filters of list().

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/testing/temporary_folder.h"
#include "contract/store_contract.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Ids = std::vector<std::string>;

TEST_P(StoreContract, NewestActivityIsListedFirst) {
  REPRISE_NEEDS(capabilities().many_sessions);
  // Fractions that would sort wrongly as text: "…:01Z" and "…:01.5Z", and times before 1970.
  create(session("whole", at(1)));
  create(session("half", at(1, 500'000)));
  create(session("micro", at(1, 1)));
  create(session("before-1970", Time(std::chrono::seconds(-1))));
  create(session("ten", at(10)));
  create(session("nine", at(9)));
  const Ids expected = {"ten", "nine", "half", "micro", "whole", "before-1970"};
  EXPECT_EQ(listed_ids(), expected);
  reopen();
  EXPECT_EQ(listed_ids(), expected);
}

TEST_P(StoreContract, TiesAreListedByIdDescending) {
  REPRISE_NEEDS(capabilities().many_sessions);
  for (const char* id : {"b", "a", "C", "10", "9", "a-1"}) {
    create(session(id, at(5)));
  }
  EXPECT_EQ(listed_ids(), (Ids{"b", "a-1", "a", "C", "9", "10"}));
}

TEST_P(StoreContract, AnAppendMovesASessionToTheFront) {
  REPRISE_NEEDS(capabilities().many_sessions);
  const SessionId old = create(session("old", at(1)));
  create(session("new", at(2)));
  append(old, messages(2, "m", at(100)));
  EXPECT_EQ(listed_ids(), (Ids{"old", "new"}));
  EXPECT_EQ(listed().front(), found(old).info);
  EXPECT_EQ(listed().front().updated_at, at(101));
}

TEST_P(StoreContract, WhatWasStillToComeWhenItArrivedIsListedByItsArrival) {
  REPRISE_NEEDS(capabilities().many_sessions);
  Session ahead = session("ahead", at(1000));
  ahead.info.arrived_at = at(50);
  const SessionId id = create(ahead);
  const SessionId today = create(session("today", at(100)));
  create(session("old", at(20)));
  const auto check = [&](const Ids& expected, Time updated_at, std::optional<Time> arrived_at) {
    for (int opened = 0; opened < 2; ++opened) {
      EXPECT_EQ(listed_ids(), expected);
      Ids pages;
      SessionQuery query{.limit = 1};
      do {
        const SessionPage page = must(store().list(query));
        std::ranges::copy(ids_of(page.sessions), std::back_inserter(pages));
        query.after = page.next;
      } while (!query.after.empty() && pages.size() < 10);
      EXPECT_EQ(pages, expected);
      EXPECT_EQ(found(id).info.updated_at, updated_at);
      EXPECT_EQ(found(id).info.arrived_at, arrived_at);
      reopen();
    }
  };
  check({"today", "ahead", "old"}, at(1000), at(50));
  EXPECT_EQ(activity_of(found(id).info), at(50));
  ASSERT_TRUE(store().update(id, {.title = "renamed"}));
  check({"today", "ahead", "old"}, at(1000), at(50));
  append(id, {user("also ahead", at(2000))}, {.now = at(150)});
  check({"ahead", "today", "old"}, at(2000), at(150));
  append(today, {user("now", at(160))}, {.now = at(161)});
  check({"today", "ahead", "old"}, at(2000), at(150));
  append(id, {user("here", at(170))});
  check({"ahead", "today", "old"}, at(170), std::nullopt);
  append(id, {user("earlier than now", at(180))}, {.now = at(190)});
  check({"ahead", "today", "old"}, at(180), std::nullopt);
}

// Another spelling of a folder is a path that leads to it.
TEST_P(StoreContract, AListOfAFolderHasTheSessionsOfEveryPathToIt) {
  REPRISE_NEEDS(capabilities().many_sessions && capabilities().folders);
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const fs::path here = folder.path() / "b" / "here";
  fs::create_directories(here);
  fs::create_directory(folder.path() / "c");
  fs::create_directory_symlink(here, folder.path() / "a");
  fs::create_directory_symlink(here, folder.path() / "d");
  int number = 10;
  const auto add = [&](const char* id, const fs::path& path, bool is_pinned = false) {
    Session one = session(id, at(++number));
    one.info.working_dir = path.native();
    one.info.pinned = is_pinned;
    one.info.state = number % 2 == 0 ? SessionState::active : SessionState::closed;
    create(one);
  };
  add("s1", here);
  add("s2", folder.path() / "a");
  add("s3", folder.path() / "c");
  add("s4", folder.path() / "gone" / "x");
  add("s5", folder.path() / "gone" / "y");
  add("s6", here);
  add("s7", folder.path() / "d", true);
  add("s8", folder.path() / "b");
  add("s9", folder.path() / "a");
  add("sA", "");
  reopen();
  const auto in = [](const fs::path& path) { return SessionQuery{.working_dir = path.native()}; };
  const Ids all = {"s7", "s9", "s6", "s2", "s1"};
  EXPECT_EQ(listed_ids(in(here)), all);
  EXPECT_EQ(listed_ids(in(folder.path() / "a")), all) << "asked by another path";
  EXPECT_EQ(listed_ids(in(folder.path() / "c")), Ids{"s3"});
  EXPECT_EQ(listed_ids(in(folder.path() / "gone" / "x")), Ids{"s4"}) << "as it is written";
  EXPECT_EQ(listed_ids(in("")), Ids{"sA"});
  SessionQuery query = in(here);
  query.ungrouped = true;
  query.limit = 1;
  Ids pages;
  do {
    const SessionPage page = must(store().list(query));
    std::ranges::copy(ids_of(page.sessions), std::back_inserter(pages));
    query.after = page.next;
  } while (!query.after.empty() && pages.size() < 10);
  EXPECT_EQ(pages, (Ids{"s9", "s7", "s6", "s2", "s1"}));
  query = in(here);
  query.id_prefix = "s";
  query.states = {SessionState::closed};
  EXPECT_EQ(listed_ids(query), (Ids{"s7", "s9", "s1"}));
}

TEST_P(StoreContract, AListShowsTheSameAsFind) {
  const Session whole = holdable(full_session("whole"));
  create(whole);
  EXPECT_EQ(listed(), std::vector<SessionInfo>{whole.info});
}

TEST_P(StoreContract, AllPagesTogetherAreAllSessionsOnce) {
  REPRISE_NEEDS(capabilities().many_sessions);
  Ids expected;
  for (int number = 0; number < 23; ++number) {
    const std::string id = "s" + std::to_string(100 + number);
    create(session(id, at(number / 4)));  // many ties, also across page boundaries
    expected.push_back(id);
  }
  std::ranges::reverse(expected);
  for (const std::size_t limit : {1U, 2U, 5U, 22U, 23U, 24U, 1000U}) {
    Ids ids;
    SessionQuery query{.limit = limit};
    std::size_t pages = 0;
    do {
      const SessionPage page = must(store().list(query));
      EXPECT_LE(page.sessions.size(), limit);
      for (const std::string& id : ids_of(page.sessions)) {
        ids.push_back(id);
      }
      query.after = page.next;
      ++pages;
    } while (!query.after.empty() && pages < 100);
    EXPECT_EQ(ids, expected) << "limit " << limit;
    EXPECT_EQ(pages, (expected.size() + limit - 1) / limit) << "an empty last page, or one missing";
  }
}

TEST_P(StoreContract, PinnedSessionsAreListedFirstByActivity) {
  REPRISE_NEEDS(capabilities().many_sessions);
  for (const int number : {1, 2, 3, 4, 5, 6}) {
    create(session("s" + std::to_string(number), at(number)));
  }
  for (const char* id : {"s2", "s4", "s5"}) {
    must(store().update(session_id(id), {.pinned = true}));
  }
  must(store().update(session_id("s5"), {.pinned = false}));
  append(session_id("s1"), messages(1, "m", at(100)));
  const Ids expected = {"s4", "s2", "s1", "s6", "s5", "s3"};
  EXPECT_EQ(listed_ids(), expected);
  reopen();
  EXPECT_TRUE(found(session_id("s2")).info.pinned);
  EXPECT_FALSE(found(session_id("s5")).info.pinned);
  EXPECT_EQ(found(session_id("s4")).info.updated_at, at(4)) << "pinning is no activity";
  for (const std::size_t limit : {1U, 2U, 3U, 5U, 6U}) {
    Ids ids;
    SessionQuery query{.limit = limit};
    do {
      const SessionPage page = must(store().list(query));
      std::ranges::copy(ids_of(page.sessions), std::back_inserter(ids));
      query.after = page.next;
    } while (!query.after.empty() && ids.size() < 20);
    EXPECT_EQ(ids, expected) << "limit " << limit;
  }
  EXPECT_EQ(listed_ids({.title_contains = "", .id_prefix = "s", .limit = 2}), (Ids{"s4", "s2"}));
  SessionQuery by_activity{.ungrouped = true, .limit = 4};
  EXPECT_EQ(listed_ids(by_activity), (Ids{"s1", "s6", "s5", "s4"}));
  by_activity.after = must(store().list(by_activity)).next;
  EXPECT_EQ(listed_ids(by_activity), (Ids{"s3", "s2"}));
}

TEST_P(StoreContract, PagesContinueWhileSessionsAreMovedAddedAndRemoved) {
  REPRISE_NEEDS(capabilities().many_sessions);
  for (int number = 0; number < 6; ++number) {
    create(session("s" + std::to_string(number), at(number)));
  }
  SessionPage page = must(store().list({.limit = 2}));
  EXPECT_EQ(ids_of(page.sessions), (Ids{"s5", "s4"}));
  append(session_id("s4"), messages(1, "m", at(100)));  // the session of the cursor
  create(session("later", at(200)));
  page = must(store().list({.after = page.next, .limit = 2}));
  EXPECT_EQ(ids_of(page.sessions), (Ids{"s3", "s2"}));
  if (capabilities().trash != nullptr) {
    must(capabilities().trash->purge(session_id("s2")));
  }
  reopen();
  page = must(store().list({.after = page.next, .limit = 2}));
  EXPECT_EQ(ids_of(page.sessions), (Ids{"s1", "s0"}));
  EXPECT_EQ(page.next, "");
}

TEST_P(StoreContract, LimitsAndCursorsOutOfRangeAreRefused) {
  create("s");
  EXPECT_TRUE(fails(store().list({.limit = 0}), Code::invalid_argument));
  EXPECT_TRUE(fails(store().list({.limit = kPageMax + 1}), Code::invalid_argument));
  EXPECT_TRUE(works(store().list({.limit = kPageMax})));
  if (capabilities().lists_at_once) {
    EXPECT_EQ(must(store().list({.limit = kAllSessions})).sessions.size(), 1U);
  } else {
    EXPECT_TRUE(fails(store().list({.limit = kAllSessions}), Code::invalid_argument));
  }
  for (const char* cursor : {"x", "17", ":", "17:", ":s", "1.5:s", "17: s", "1e3:s",
                             "99999999999999999999:s", "17:a/b", "17 :s", "' OR 1 --"}) {
    EXPECT_TRUE(fails(store().list({.after = cursor}), Code::invalid_argument)) << cursor;
  }
}

// Sessions for the filters: all pairs of properties.
class Filters {
 public:
  static std::vector<Session> sessions() {
    std::vector<Session> all;
    int number = 0;
    for (const char* folder : {"/a", "/a/", "/A", ""}) {
      for (const char* mode : {"draft", ""}) {
        for (const SessionState state : {SessionState::active, SessionState::closed}) {
          Session one = session("f" + std::to_string(10 + number), at(number));
          one.info.working_dir = folder;
          one.info.mode = mode;
          one.info.state = state;
          one.info.title = number % 3 == 0 ? "Rate 100% of Ärger_x" : "other";
          all.push_back(one);
          ++number;
        }
      }
    }
    return all;
  }

  template <class Wanted>
  static Ids ids(Wanted wanted) {
    Ids ids;
    for (const Session& session : sessions()) {
      if (wanted(session.info)) {
        ids.push_back(session.info.id.str());
      }
    }
    std::ranges::reverse(ids);
    return ids;
  }
};

TEST_P(StoreContract, FiltersCombine) {
  REPRISE_NEEDS(capabilities().many_sessions && capabilities().folders && capabilities().modes);
  for (const Session& session : Filters::sessions()) {
    create(session);
  }
  reopen();
  EXPECT_EQ(listed_ids({.working_dir = "/a"}),
            Filters::ids([](const SessionInfo& info) { return info.working_dir == "/a"; }));
  EXPECT_EQ(listed_ids({.working_dir = ""}),
            Filters::ids([](const SessionInfo& info) { return info.working_dir.empty(); }));
  EXPECT_EQ(listed_ids({.working_dir = "/none"}), Ids{});
  EXPECT_EQ(listed_ids({.mode = "draft"}),
            Filters::ids([](const SessionInfo& info) { return info.mode == "draft"; }));
  EXPECT_EQ(listed_ids({.mode = ""}),
            Filters::ids([](const SessionInfo& info) { return info.mode.empty(); }));
  EXPECT_EQ(
      listed_ids({.states = {SessionState::closed}}),
      Filters::ids([](const SessionInfo& info) { return info.state == SessionState::closed; }));
  EXPECT_EQ(listed_ids({.states = {}}), Ids{});
  EXPECT_EQ(listed_ids({.states = {SessionState::archived}}), Ids{});
  EXPECT_EQ(listed_ids({.working_dir = "/A",
                        .mode = "draft",
                        .states = {SessionState::active},
                        .title_contains = "rate",
                        .id_prefix = "f"}),
            Filters::ids([](const SessionInfo& info) {
              return info.working_dir == "/A" && info.mode == "draft" &&
                     info.state == SessionState::active && info.title != "other";
            }));
}

TEST_P(StoreContract, FiltersAndPagesCombine) {
  REPRISE_NEEDS(capabilities().many_sessions && capabilities().folders && capabilities().modes);
  for (const Session& session : Filters::sessions()) {
    create(session);
  }
  Ids ids;
  SessionQuery query{.mode = "draft", .title_contains = "other", .limit = 1};
  do {
    const SessionPage page = must(store().list(query));
    for (const std::string& id : ids_of(page.sessions)) {
      ids.push_back(id);
    }
    query.after = page.next;
  } while (!query.after.empty() && ids.size() < 100);
  EXPECT_EQ(ids, Filters::ids([](const SessionInfo& info) {
              return info.mode == "draft" && info.title == "other";
            }));
}

TEST_P(StoreContract, TitlesMatchByTheirWordsNotByPatterns) {
  REPRISE_NEEDS(capabilities().many_sessions);
  const auto with_title = [this](const char* id, const char* title) {
    Session one = session(id);
    one.info.title = title;
    create(one);
  };
  with_title("s4", "100% sure");
  with_title("s3", "100 and SURE");
  with_title("s2", "a_b [x] *?");
  with_title("s1", "aXb \\ Ärger");
  EXPECT_EQ(listed_ids({.title_contains = "SuRe"}), (Ids{"s4", "s3"}));
  EXPECT_EQ(listed_ids({.title_contains = "0%"}), Ids{"s4"});
  EXPECT_EQ(listed_ids({.title_contains = "%"}), Ids{"s4"});
  EXPECT_EQ(listed_ids({.title_contains = "a_b"}), Ids{"s2"});
  EXPECT_EQ(listed_ids({.title_contains = "A_B [X] *?"}), Ids{"s2"});
  EXPECT_EQ(listed_ids({.title_contains = "*"}), Ids{"s2"});
  EXPECT_EQ(listed_ids({.title_contains = "\\"}), Ids{"s1"});
  EXPECT_EQ(listed_ids({.title_contains = "Ärger"}), Ids{"s1"});
  EXPECT_EQ(listed_ids({.title_contains = "ärger"}), Ids{"s1"});
  EXPECT_EQ(listed_ids({.title_contains = "A\u0308RGER"}), Ids{"s1"}) << "two characters";
  EXPECT_EQ(listed_ids({.title_contains = "arg"}), Ids{"s1"});
  EXPECT_EQ(listed_ids({.title_contains = "'"}), Ids{});
  EXPECT_EQ(listed_ids({.title_contains = "100% sure."}), Ids{});
}

TEST_P(StoreContract, IdPrefixesMatchByteForByte) {
  REPRISE_NEEDS(capabilities().many_sessions);
  for (const char* id : {"a_1", "ab1", "A_1", "a_12"}) {
    create(id);
  }
  EXPECT_EQ(listed_ids({.id_prefix = "a_"}), (Ids{"a_12", "a_1"}));
  EXPECT_EQ(listed_ids({.id_prefix = "a_12"}), Ids{"a_12"});
  EXPECT_EQ(listed_ids({.id_prefix = "a_123"}), Ids{});
  EXPECT_EQ(listed_ids({.id_prefix = "%"}), Ids{});
  EXPECT_EQ(listed_ids({.id_prefix = "_1"}), Ids{});
  EXPECT_EQ(listed_ids({.id_prefix = "a"}), (Ids{"ab1", "a_12", "a_1"}));
}

TEST_P(StoreContract, ShortIdsAreFoundByTheirPrefixes) {
  REPRISE_NEEDS(capabilities().many_sessions && capabilities().any_id);
  const std::string one = "01990000-0000-7000-8abc-aaaaaaaabbbb";
  const std::string other = "01990000-0000-7000-8abd-aaaaaaaabbbb";
  for (const std::string& id : {one, other, std::string("aaaaaaaa"), std::string("AAAA")}) {
    create(id);
  }
  const auto of = [this](std::string_view prefix) {
    return listed_ids({.short_id_prefix = std::string(prefix)});
  };
  EXPECT_EQ(of("aaaa"), (Ids{other, one}));
  EXPECT_EQ(of("aaaaaaaabbbb8abd"), Ids{other});
  EXPECT_EQ(of("bbbb"), Ids{});
  EXPECT_EQ(of("0199"), Ids{});
  EXPECT_EQ(of("aaa_"), Ids{});
  EXPECT_EQ(of("?"), Ids{});
  EXPECT_EQ(of(short_id(session_id(one), 32)), Ids{one});
  EXPECT_EQ(listed_ids({.short_id_prefix = "aaaa", .ungrouped = true, .limit = 1}), Ids{other});
}

TEST_P(StoreContract, LastMessagesAreTheSameAsRead) {
  LastMessageReader* const reader = capabilities().last_message_reader;
  REPRISE_NEEDS(reader);
  const SessionId empty = create("empty");
  const SessionId one = create("one", {user("q")});
  const SessionId cut = create("cut", {user("q"), assistant("an answer")});
  const SessionId big = create("big", {user(std::string(400'000, 'x'))});
  const std::vector<SessionId> ids = {cut, empty, one, big};
  const auto last = must(reader->last_messages(ids));
  ASSERT_EQ(last.size(), ids.size());
  EXPECT_EQ(last[0], stored(cut).back());
  EXPECT_EQ(last[1], std::nullopt);
  EXPECT_EQ(last[2], stored(one).back());
  EXPECT_EQ(last[3], std::nullopt) << "read() has it";
  EXPECT_EQ(must(reader->last_messages({})).size(), 0U);
}

TEST_P(StoreContract, MessagesOfManySessionsAreTheSameAsRead) {
  MessageFinder* const finder = capabilities().message_finder;
  REPRISE_NEEDS(finder);
  const SessionId one = create("one", {user("q"), assistant("an answer"), user("more")});
  const SessionId two = create("two", {user("other")});
  const SessionId fork = session_id("fork");
  must(capabilities().forking->fork(one, {2}, session("fork")));
  append(fork, {user("branched")});
  const std::vector<MessageFinder::MessageRef> places = {
      {one, {2}}, {two, {0}}, {one, {0}}, {fork, {2}}, {two, {1}}, {session_id("none"), {0}}};
  const auto all = must(finder->find_messages(places));
  ASSERT_EQ(all.size(), places.size());
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& [id, seq] = places[i];
    ASSERT_TRUE(all[i]) << i;
    EXPECT_EQ(all[i]->session, found(id).info);
    EXPECT_EQ(all[i]->message, stored(id).at(static_cast<std::size_t>(seq.value)));
  }
  EXPECT_FALSE(all[4]) << "there is no such message";
  EXPECT_FALSE(all[5]) << "there is no such session";
  const auto shared =
      must(finder->find_messages(std::vector<MessageFinder::MessageRef>{{fork, {1}}}));
  EXPECT_FALSE(shared[0]) << "read() has it";
  must(capabilities().rewriting->replace_suffix(one, {1}, {user("instead")}, {}));
  const auto replaced = must(finder->find_messages(
      std::vector<MessageFinder::MessageRef>{{one, {0}}, {one, {1}}, {one, {2}}}));
  EXPECT_FALSE(replaced[2]) << "it was replaced";
  for (std::size_t i = 0; i < 2; ++i) {
    if (replaced[i]) {
      EXPECT_EQ(replaced[i]->message, stored(one).at(i));
    }
  }
}

TEST_P(StoreContract, ShortSessionsAreTheSameAsRead) {
  ShortSessionReader* const reader = capabilities().short_session_reader;
  REPRISE_NEEDS(reader);
  std::vector<SessionId> ids;
  for (int i = 0; i < 70; ++i) {
    ids.push_back(create(cat("short", i), messages(i % 5, cat("of ", i))));
  }
  const SessionId question = create("question", {user("q"), assistant("an answer")});
  const SessionId fork = session_id("fork");
  must(capabilities().forking->fork(question, {1}, session("fork")));
  append(fork, {user("branched")});
  const SessionId replaced = create("replaced", messages(3));
  must(capabilities().rewriting->replace_suffix(replaced, {1}, {user("instead")}, {}));
  const SessionId many = create("many", messages(200));
  const SessionId big = create("big", {user(std::string(400'000, 'x'))});
  ids.insert(ids.end(), {question, fork, replaced, many, big, session_id("none")});
  const auto read = must(reader->short_sessions(ids));
  ASSERT_EQ(read.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(read[i].has_value(), i <= 70) << ids[i].str();
    if (read[i]) {
      EXPECT_EQ(*read[i], stored(ids[i])) << ids[i].str();
    }
  }
  EXPECT_EQ(must(reader->short_sessions({})).size(), 0U);
}

TEST_P(StoreContract, MessagesOfManySessionsTellWhetherTheirShortIdsAreUnique) {
  MessageFinder* const finder = capabilities().message_finder;
  REPRISE_NEEDS(finder && capabilities().any_id);
  const std::vector<MessageFinder::MessageRef> places = {
      {create("0199aaaa-0000-7000-8000-aaaaaaaabbbb", {user("a")}), {0}},
      {create("0199aaaa-0000-7000-8000-aaaaaaaacccc", {user("b")}), {0}}};
  for (const auto& found : must(finder->find_messages(places))) {
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->has_unique_short_id);
  }
}

TEST_P(StoreContract, RunningAnswersAreListed) {
  REPRISE_NEEDS(capabilities().partials && capabilities().many_sessions);
  const SessionId idle = create(session("idle", at(9)));
  const SessionId busy = create(session("busy", at(1)));
  const SessionId gone = create(session("gone", at(2)));
  const Owner here = this_process();
  Owner nobody = here;
  nobody.pid = 1'999'999'999;
  append(busy, messages(1), {.begin_partial = PartialStart{operation_id("a"), here, "p", "m"}});
  append(gone, messages(1, "m", at(2)),
         {.begin_partial = PartialStart{operation_id("a"), nobody, "p", "m"}});
  reopen();
  const std::vector<SessionInfo> answering = listed({.answering_only = true});
  EXPECT_EQ(ids_of(answering), (Ids{"gone", "busy"}));
  EXPECT_EQ(answering[0].answering, nobody);
  EXPECT_EQ(answering[1].answering, here);
  EXPECT_TRUE(is_interrupted(answering[0]));
  EXPECT_FALSE(is_interrupted(answering[1]));
  EXPECT_EQ(found(idle).info.answering, std::nullopt);
  append(busy, {}, {.end_partial = operation_id("a")});
  EXPECT_EQ(listed_ids({.answering_only = true}), Ids{"gone"});
}

}  // namespace
}  // namespace reprise::test
