// Searches in the histories of other tools, which are indexed in place.

#include <fstream>

#include "reprise/open_source.h"
#include "search/search_fixture.h"
#include "store/sqlite/connection.h"

namespace reprise {
namespace {

using test::HitIds;
using test::must;
using test::SearchFileTest;

// Another tool's history is searched in place.
class SearchToolTest : public SearchFileTest {
 protected:
  std::filesystem::path history() const { return folder_.path() / "tool"; }
  void write(std::string_view name, std::string_view lines) const {
    const std::filesystem::path path = history() / "projects/-x" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app) << lines;
  }
  static std::string line(std::string_view uuid, std::string_view parent, std::string_view text,
                          std::string_view more = "") {
    return cat(R"({"type":"user","uuid":")", uuid, R"(","parentUuid":)",
               parent.empty() ? "null" : cat("\"", parent, "\""),
               R"(,"sessionId":"s","timestamp":"2026-11-20T10:00:00.000Z","message":{"content":")",
               text, "\"}", more, "}\n");
  }
  HitIds find_in_tool(std::string_view words) {
    const std::string url = cat("claude:", history().native());
    const auto tool = must(open_source(url));
    const SearchSource sources[] = {{url, tool.get()}};
    EXPECT_TRUE(must(index_->update_index(sources[0])));
    return hit_ids(must(index_->search(sources, {.terms = must(parse_search(words))})));
  }
};

TEST_F(SearchToolTest, FindsAppendedMessagesWithTheSameTime) {
  const std::string snapshot =
      line("s1", "u1", "", R"(,"isMeta":true,"x":")" + std::string(110'000, 'x') + "\"");
  write("a.jsonl", line("u1", "", "first") + snapshot);
  EXPECT_EQ(find_in_tool("first"), (HitIds{"a#0"}));
  write("a.jsonl", line("u2", "s1", "second") + snapshot);
  EXPECT_EQ(find_in_tool("second"), (HitIds{"a#2"}));
  write("a.jsonl", line("u3", "s1", "third") + snapshot);
  EXPECT_EQ(find_in_tool("third").size(), 1U);
}

// The results of parallel calls come between the pieces of an answer.
TEST_F(SearchToolTest, FindsCallsAddedBeforeAResult) {
  const auto piece = [](std::string_view uuid, std::string_view parent, std::string_view more) {
    return cat(R"({"uuid":")", uuid, R"(","parentUuid":")", parent,
               R"(","timestamp":"2026-11-20T10:00:00.000Z",)", more, "}\n");
  };
  const auto call = [&](std::string_view uuid, std::string_view parent, std::string_view word) {
    return piece(
        uuid, parent,
        cat(R"("type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":")", uuid,
            R"(","name":"Bash","input":{"command":")", word, "\"}}]}"));
  };
  const std::string result =
      R"("type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a1","content":"x"}]})";
  write("a.jsonl", line("u1", "", "go") + call("a1", "u1", "one") + piece("r1", "a1", result));
  EXPECT_EQ(find_in_tool("one"), (HitIds{"a#1"}));
  write("a.jsonl", call("a2", "r1", "two"));
  EXPECT_EQ(find_in_tool("two"), (HitIds{"a#1"}));
  write("a.jsonl", call("a3", "a2", "three"));
  EXPECT_EQ(find_in_tool("one two three"), (HitIds{"a#1"}));
}

// Also in branches that were left, and in the sessions of sub-agents.
TEST_F(SearchToolTest, FindsBranchesAndSubAgents) {
  write("a.jsonl",
        line("u1", "", "first") + line("u2", "u1", "abandoned") + line("u3", "u1", "continued"));
  write("a/subagents/agent-7.jsonl", line("u9", "", "delegated", R"(,"isSidechain":true)"));
  EXPECT_EQ(find_in_tool("first"), (HitIds{"a#0"}));
  const HitIds branch = find_in_tool("abandoned");
  ASSERT_EQ(branch.size(), 1U);
  EXPECT_TRUE(branch[0].starts_with("a:") && branch[0].ends_with("#1")) << branch[0];
  EXPECT_EQ(find_in_tool("delegated"), (HitIds{"a:agent-7#0"}));
  // They stay when nothing has changed, and when others are added.
  EXPECT_EQ(find_in_tool("abandoned"), branch);
  write("a.jsonl", line("u4", "u2", "resumed"));
  EXPECT_EQ(find_in_tool("continued").size(), 1U);
  EXPECT_EQ(find_in_tool("resumed"), (HitIds{"a#2"}));
}

// Claude Code deletes old files; what shared a part of the index with them is indexed again.
TEST_F(SearchToolTest, FindsBranchesAfterAnotherSessionIsDeleted) {
  write("a.jsonl", line("v1", "", "other"));
  write("b.jsonl",
        line("u1", "", "first") + line("u2", "u1", "abandoned") + line("u3", "u1", "continued"));
  const HitIds branch = find_in_tool("abandoned");
  ASSERT_EQ(branch.size(), 1U);
  std::filesystem::remove(history() / "projects/-x/a.jsonl");
  EXPECT_EQ(find_in_tool("abandoned"), branch);
  EXPECT_EQ(find_in_tool("other"), HitIds());
}

// The number of its messages is not known when it is listed.
TEST_F(SearchToolTest, FindsSharedMessagesOfBranchesOnce) {
  std::string lines = line("u0", "", "first");
  for (int i = 1; i <= 200; ++i) {
    lines += line(cat("u", i), cat("u", i - 1), cat("more ", std::string(1000, 'x')));
  }
  write("a.jsonl", lines + line("v1", "u200", "abandoned") + line("v2", "u200", "abandoned") +
                       line("v3", "u200", "last"));
  EXPECT_EQ(find_in_tool("first"), (HitIds{"a#0"}));
  EXPECT_EQ(find_in_tool("abandoned").size(), 2U);
  EXPECT_EQ(find_in_tool("last"), (HitIds{"a#201"}));
}

// A process that is killed leaves sessions whose rows say that they are not indexed.
TEST_F(SearchToolTest, IndexesInterruptedSubAgentsAgain) {
  for (const std::string_view name : {"ab", "a:b", "a:b:c", "a:"}) {
    const auto event = [](std::string_view id, std::string_view text, std::string_view agent) {
      return cat(R"({"type":"user.message","id":")", id, R"(","data":{"content":")", text, "\"}",
                 agent.empty() ? "" : cat(R"(,"agentId":")", agent, "\""), "}\n");
    };
    const std::string id = cat("s", name.size(), name.contains(':') ? "c" : "");
    const std::filesystem::path session = folder_.path() / "copilot/session-state" / id;
    std::filesystem::create_directories(session);
    std::ofstream(session / "events.jsonl")
        << R"({"type":"session.start","id":"e0","data":{"sessionId":"x"}})" << "\n"
        << event("e1", "whole", "") << event("e2", "delegated", name);
  }
  const auto find_delegated = [&] {
    const std::string url = cat("copilot:", (folder_.path() / "copilot").native());
    const auto tool = must(open_source(url));
    const SearchSource sources[] = {{url, tool.get()}};
    EXPECT_TRUE(must(index_->update_index(sources[0])));
    return hit_ids(must(index_->search(sources, {.terms = must(parse_search("delegated"))})))
        .size();
  };
  EXPECT_EQ(find_delegated(), 4U);
  {
    const auto db = must(sqlite::Connection::open(file(), sqlite::OpenMode::write, {}));
    constexpr std::string_view kAgents = "(SELECT key FROM sessions WHERE id LIKE '%:%')";
    must(db->run(cat("UPDATE docs SET seq = -1 - seq WHERE session IN ", kAgents)));
    must(db->run(cat("UPDATE sessions SET head = -1, next = 0 WHERE key IN ", kAgents)));
    must(db->run("UPDATE sources SET mark = ''"));
  }
  EXPECT_EQ(find_delegated(), 4U);
}

TEST_F(SearchToolTest, OmitsMessagesCopiedToAnotherSource) {
  write("a.jsonl", line("u1", "", "same") + line("u2", "u1", "same"));
  const std::string url = cat("claude:", history().native());
  const auto tool = must(open_source(url));
  const SearchSource sources[] = {
      {url, tool.get(), [](const SessionId& /*id*/) -> Result<Seq> { return Seq{1}; }}};
  EXPECT_TRUE(must(index_->update_index(sources[0])));
  EXPECT_EQ(hit_ids(must(index_->search(sources, {.terms = must(parse_search("same"))}))),
            (HitIds{"a#1"}));
}

}  // namespace
}  // namespace reprise
