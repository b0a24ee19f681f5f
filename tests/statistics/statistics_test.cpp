#include "session/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/export.h"
#include "reprise/open_source.h"
#include "session/import.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

// "A/B" as key, sessions, turns, input, output.
std::string line_of(const StatisticsRow& row) {
  return row.key + " " + std::to_string(row.sessions) + " " + std::to_string(row.turns) + " " +
         std::to_string(row.usage.input.value) + " " + std::to_string(row.usage.output.value);
}

class StatisticsTest : public testing::Test {
 protected:
  static std::vector<Message> turn(std::string_view request, std::int64_t tokens,
                                   std::string_view model = "m", Time time = at(1)) {
    Message answer = assistant("a", time);
    answer.model = model;
    answer.usage = usage(request, tokens, 1);
    return {user("q", time), answer};
  }

  SessionId add(std::string_view id, std::vector<Message> messages) {
    Session added = session(id);
    added.info.working_dir = "/srv/" + std::string(id);
    must(store_->create(added));
    must(store_->append(added.info.id, std::move(messages), {}));
    return added.info.id;
  }

  Statistics sum(StatisticsQuery query = {}) {
    query.day_of = [](Time time) { return format_time(time).substr(0, 10); };
    const StatisticsSource source{"here", store_.get()};
    return must(compute_statistics(std::span(&source, 1), query, Prices({})));
  }
  std::vector<std::string> lines(const StatisticsQuery& query) {
    std::vector<std::string> out;
    for (const StatisticsRow& row : sum(query).rows) {
      out.push_back(line_of(row));
    }
    return out;
  }

  std::unique_ptr<Store> store_ = open_memory_store();
};

TEST_F(StatisticsTest, GroupsByDayInOrder) {
  add("a", turn("r1", 10));
  add("b", turn("r2", 20, "m", at(86'400)));
  add("c", turn("r3", 5));
  EXPECT_THAT(lines({}), ElementsAre("2026-01-18 2 2 15 2", "2026-01-19 1 1 20 1"));
  EXPECT_EQ(line_of(sum().total), " 3 3 35 3");
}

TEST_F(StatisticsTest, GroupsByModelInOrderOfTokens) {
  add("a", turn("r1", 10, "small"));
  add("b", turn("r2", 20, "large"));
  EXPECT_THAT(lines({.by = StatisticsGrouping::model}), testing::Contains("large 1 0 20 1"));
  EXPECT_EQ(sum({.by = StatisticsGrouping::model}).rows.front().key, "large");
  EXPECT_THAT(lines({.by = StatisticsGrouping::project}),
              ElementsAre("/srv/b 1 1 20 1", "/srv/a 1 1 10 1"));
  EXPECT_THAT(lines({.by = StatisticsGrouping::source}), ElementsAre("here 2 2 30 2"));
}

TEST_F(StatisticsTest, CountsARequestOnce) {
  add("a", turn("r1", 10));
  add("b", turn("r1", 10));
  EXPECT_EQ(sum().total.usage.input.value, 10);
  EXPECT_EQ(sum().total.requests, 1);
  EXPECT_EQ(sum().total.turns, 2);
}

// Two sources with the same messages, like after an import.
TEST_F(StatisticsTest, CountsARequestOfTwoSourcesOnce) {
  add("a", turn("r1", 10));
  const StatisticsSource two[] = {{"one", store_.get()}, {"two", store_.get()}};
  const Statistics both =
      must(compute_statistics(two, {.by = StatisticsGrouping::source}, Prices({})));
  EXPECT_EQ(both.total.usage.input.value, 10);
}

TEST_F(StatisticsTest, CountsSharedMessagesOfForksOnce) {
  const SessionId parent = add("a", turn("", 10));  // without a request id
  Session child = session("b");
  must(store_->capabilities().forking->fork(parent, Seq{2}, child));
  must(store_->append(child.info.id, turn("", 7), {}));
  Session grandchild = session("c");
  must(store_->capabilities().forking->fork(child.info.id, Seq{3}, grandchild));
  EXPECT_EQ(line_of(sum().total), " 2 2 17 2");

  // The parent's own requests are not counted while it is in the trash; those shared by its forks
  // are counted once, with the newest fork. The other one has none of its own.
  must(store_->capabilities().trash->trash(parent, at(9)));
  EXPECT_EQ(line_of(sum().total), " 1 2 17 2");
}

TEST_F(StatisticsTest, LeavesOutASessionThatIsPurgedMeanwhile) {
  add("a", turn("r1", 10));
  add("b", turn("r2", 20));
  const SessionId last = must(store_->list({})).sessions.back().id;
  const StatisticsSource source{"here", store_.get()};
  const auto purge_last = [&](const Progress& progress) {
    if (progress.done == 0) {
      must(store_->capabilities().trash->trash(last, at(9)));
      must(store_->capabilities().trash->purge(last));
    }
  };
  const Statistics found = must(compute_statistics(
      std::span(&source, 1), {.by = StatisticsGrouping::model}, Prices({}), {}, purge_last));
  EXPECT_EQ(found.total.sessions, 1);
}

// Imported sessions belong to their tool, and are counted once together with its history.
TEST_F(StatisticsTest, CountsImportedSessionsOnce) {
  add("mine", turn("r1", 1));
  const auto theirs = open_memory_store();
  must(theirs->create(session("theirs")));
  must(theirs->append(session_id("theirs"), turn("r2", 5), {}));
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "sessions/--srv--");
  must(export_to_folder(*theirs, session_id("theirs"), *find_export_format("pi"),
                        folder.path() / "sessions/--srv--", {}));
  const auto tool = must(open_source("pi:" + folder.path().native()));
  must(import_session(*tool, "pi", *store_, must(tool->list({})).sessions.at(0)));
  const StatisticsSource two[] = {{"reprise", store_.get()}, {"pi:", tool.get()}};
  std::vector<std::string> rows;
  for (const StatisticsRow& row :
       must(compute_statistics(two, {.by = StatisticsGrouping::source}, Prices({}))).rows) {
    rows.push_back(line_of(row));
  }
  EXPECT_THAT(rows, ElementsAre("pi: 1 1 5 1", "reprise 1 1 1 1"));
}

// `claude --fork-session` copies the lines into another file, without their origin.
TEST_F(StatisticsTest, CountsCopiedTurnsOnce) {
  const TemporaryFolder folder;
  const auto projects = folder.path() / "projects/-x";
  std::filesystem::create_directories(projects);
  const auto line = [](std::string_view session, std::string_view rest) {
    return cat(R"({"sessionId":")", session, R"(","timestamp":"2026-11-20T10:00:00.000Z",)", rest,
               "\n");
  };
  const auto turn = [&](std::string_view session, std::string_view name) {
    return line(session, cat(R"("type":"user","uuid":"u)", name, R"(","message":{"content":"q)",
                             name, R"("}})")) +
           line(
               session,
               cat(R"("type":"assistant","uuid":"a)", name, R"(","parentUuid":"u)", name,
                   R"(","requestId":"r)", name, R"(","message":{"id":"m)", name,
                   R"(","model":"x","content":[],"usage":{"input_tokens":5,"output_tokens":1}}})"));
  };
  const std::string first = "0a1b2c3d-0000-4000-8000-000000000001";
  const std::string second = "0a1b2c3d-0000-4000-8000-000000000002";
  std::ofstream(projects / (first + ".jsonl")) << turn(first, "1");
  std::ofstream(projects / (second + ".jsonl")) << turn(second, "1") << turn(second, "2");
  const auto tool = must(open_source("claude:" + folder.path().native()));
  const StatisticsSource source{"claude:", tool.get()};
  EXPECT_EQ(line_of(must(compute_statistics(std::span(&source, 1),
                                            {.by = StatisticsGrouping::source}, Prices({})))
                        .total),
            " 2 2 10 2");
  for (const SessionInfo& info : must(tool->list({})).sessions) {
    must(import_session(*tool, "claude", *store_, info));
  }
  EXPECT_EQ(line_of(sum().total), " 2 2 10 2");
}

// What a session's tool lists only with branches: an answer asked for twice, and sub-agents in the
// session's file and in one of their own. The same with the history, with its import, and with
// both.
// Without times it is unknown whether they are copies.
TEST_F(StatisticsTest, CountsEqualTurnsWithoutTimes) {
  add("a", turn("r1", 10, "m", Time{}));
  add("b", turn("r2", 10, "m", Time{}));
  const StatisticsSource source{"tool:", store_.get()};
  const Statistics counted = must(
      compute_statistics(std::span(&source, 1), {.by = StatisticsGrouping::model}, Prices({})));
  EXPECT_EQ(counted.total.turns, 2);
}

TEST_F(StatisticsTest, CountsBranchesAndSubAgentsOfHistories) {
  const TemporaryFolder folder;
  const std::string id = "0a1b2c3d-0000-4000-8000-000000000001";
  const auto project = folder.path() / "projects/-x";
  std::filesystem::create_directories(project / id / "subagents");
  const auto line = [&](std::string_view uuid, std::string_view parent, std::string_view rest) {
    return cat(R"({"sessionId":")", id, R"(","timestamp":"2026-11-20T10:00:00.000Z","uuid":")",
               uuid, R"(","parentUuid":)", parent.empty() ? "null" : cat("\"", parent, "\""), rest,
               "}\n");
  };
  const auto asks = [&](std::string_view uuid, std::string_view parent,
                        std::string_view more = "") {
    return line(uuid, parent,
                cat(R"(,"type":"user","message":{"role":"user","content":")", uuid, R"("})", more));
  };
  const auto answers = [&](std::string_view uuid, std::string_view parent, int tokens,
                           std::string_view more = "") {
    return line(uuid, parent,
                cat(R"(,"type":"assistant","requestId":"r)", uuid, R"(","message":{"id":"m)", uuid,
                    R"(","role":"assistant","model":"x","content":[{"type":"text","text":"a"}],)",
                    R"("usage":{"input_tokens":)", tokens, R"(,"output_tokens":1}})", more));
  };
  constexpr std::string_view kAside = R"(,"isSidechain":true)";
  std::ofstream(project / (id + ".jsonl"))
      << asks("q1", "") << answers("a1", "q1", 1) << asks("q2", "a1") << answers("a2", "q2", 10)
      << asks("s1", "", kAside) << answers("s2", "s1", 100, kAside) << asks("q3", "a1")
      << answers("a3", "q3", 1000);
  std::ofstream(project / id / "subagents/agent-7.jsonl")
      << asks("t1", "", kAside) << answers("t2", "t1", 10000, kAside);
  const auto tool = must(open_source("claude:" + folder.path().native()));
  const StatisticsSource both[] = {{"reprise", store_.get()}, {"claude:", tool.get()}};
  const auto total_of = [](std::span<const StatisticsSource> sources) {
    return line_of(
        must(compute_statistics(sources, {.by = StatisticsGrouping::source}, Prices({}))).total);
  };
  EXPECT_EQ(total_of(std::span(both).last(1)), " 4 3 11111 5");
  for (const SessionInfo& info : must(tool->list({.children = true})).sessions) {
    must(import_session(*tool, "claude", *store_, info));
  }
  EXPECT_EQ(total_of(std::span(both).first(1)), " 4 3 11111 5");
  EXPECT_EQ(total_of(both).substr(2), " 3 11111 5");
}

// A tool that has only sums of sessions, and one whose requests have no ids: the same with the
// tool's history, with its import, and with both.
TEST_F(StatisticsTest, CountsTheOthersIfAHistoryCannotBeRead) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "sessions.db";
  std::ofstream(file) << "SQLite format 3" << '\0' << "garbage";
  const auto broken = must(open_source("goose:" + folder.path().native()));
  add("a", turn("r1", 10));
  const StatisticsSource sources[] = {{"goose:", broken.get()}, {"here", store_.get()}};
  const Statistics counted =
      must(compute_statistics(sources, {.by = StatisticsGrouping::source}, Prices({})));
  EXPECT_EQ(counted.total.usage.input.value, 10);
  ASSERT_EQ(counted.damage.size(), 1U);
  EXPECT_EQ(counted.damage[0].where, "goose:");
}

TEST_F(StatisticsTest, CountsUsageWithoutRequestIdsOnce) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "goose");
  std::ofstream(folder.path() / "goose/20260118_1.jsonl")
      << R"({"working_dir":"/x","description":"G","message_count":2,"accumulated_input_tokens":70,)"
         R"("accumulated_output_tokens":7})"
      << "\n"
      << R"({"role":"user","created":1768730400,"content":[{"type":"text","text":"q"}]})" << "\n"
      << R"({"role":"assistant","created":1768730401,"content":[{"type":"text","text":"a"}]})"
      << "\n";
  std::filesystem::create_directories(folder.path() / "continue");
  std::ofstream(folder.path() / "continue/c1.json")
      << R"({"sessionId":"c1","title":"C","history":[{"message":{"role":"user","content":"q2"}},)"
         R"({"message":{"role":"assistant","content":"a","usage":{"promptTokens":5,)"
         R"("completionTokens":1}}}]})";
  std::vector<std::unique_ptr<Source>> tools;
  std::vector<StatisticsSource> sources = {{"reprise", store_.get()}};
  for (const std::string name : {"goose", "continue"}) {
    tools.push_back(must(open_source(cat(name, ":", (folder.path() / name).native()))));
    const StatisticsSource source{name + ":", tools.back().get()};
    const Statistics alone = must(
        compute_statistics(std::span(&source, 1), {.by = StatisticsGrouping::source}, Prices({})));
    EXPECT_EQ(line_of(alone.rows.at(0)), name == "goose" ? "goose: 1 1 70 7" : "continue: 1 1 5 1");
    must(import_session(*tools.back(), name, *store_, must(tools.back()->list({})).sessions.at(0)));
    sources.push_back(source);
  }
  EXPECT_EQ(line_of(sum().total), " 2 2 75 8");
  EXPECT_EQ(
      line_of(
          must(compute_statistics(sources, {.by = StatisticsGrouping::source}, Prices({}))).total),
      " 2 2 75 8");
}

TEST_F(StatisticsTest, FiltersByTime) {
  add("a", turn("r1", 10));
  add("b", turn("r2", 20, "m", at(86'400)));
  EXPECT_THAT(lines({.since = at(100)}), ElementsAre("2026-01-19 1 1 20 1"));
  EXPECT_THAT(lines({.until = at(100)}), ElementsAre("2026-01-18 1 1 10 1"));
  EXPECT_THAT(lines({.since = at(2), .until = at(3)}), IsEmpty());
}

TEST_F(StatisticsTest, CountsRequestsWithoutAPrice) {
  add("a", turn("r1", 1'000'000, "claude-opus-5-5"));
  add("b", turn("r2", 20, "home-made"));
  const Statistics all = sum();
  EXPECT_EQ(all.total.unpriced, 1);
  EXPECT_THAT(all.unpriced_models, ElementsAre("home-made"));
  EXPECT_EQ(all.total.usage.cost, Money::parse("4.00002"));
}

TEST_F(StatisticsTest, InjectedTextIsNotATurn) {
  Message injected = user("<environment>");
  injected.extra.push_back({std::string(kInjectedField), raw("true")});
  std::vector<Message> messages = turn("r", 1);
  messages.insert(messages.begin(), injected);
  add("a", messages);
  EXPECT_EQ(sum().total.turns, 1);
}

TEST_F(StatisticsTest, StopsOnRequest) {
  add("a", turn("r1", 10));
  std::stop_source stop;
  stop.request_stop();
  const StatisticsSource source{"here", store_.get()};
  EXPECT_TRUE(fails(compute_statistics(std::span(&source, 1), {.by = StatisticsGrouping::model},
                                       Prices({}), stop.get_token()),
                    Code::cancelled));
}

TEST(HashSet, ContainsInsertedTexts) {
  HashSet set;
  EXPECT_FALSE(set.contains("a"));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10'000; ++i) {
      ASSERT_EQ(set.insert(std::to_string(i)), round == 0) << i;
    }
  }
  EXPECT_TRUE(set.contains("9999"));
  EXPECT_FALSE(set.contains("10000"));
}

}  // namespace
}  // namespace reprise
