#include "engine/content.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

RawJson json_text(std::string text) {
  return *RawJson::parse(std::move(text));
}

Message answer_with(std::vector<Block> blocks) {
  return {
      .role = "assistant", .blocks = std::move(blocks), .created_at = Time(std::chrono::hours(1))};
}

struct ContentRow {
  std::string_view what;
  std::vector<Block> stored;
  std::vector<Block> now;
  bool is_same;
  bool has_grown;
};

TEST(Content, IsTheSameAsEarlierVersionsStoredIt) {
  const TextBlock one{"one", {}};
  const TextBlock two{"two", {}};
  const ToolUseBlock call{"c", "n", {}, {}};
  const ContentRow rows[] = {
      {"extra fields",
       {ToolUseBlock{"c", "n", {}, {{"id", json_text("1")}}}},
       {ToolUseBlock{"c", "n", {}, {{"codex", json_text(R"({"id":1})")}}}},
       true,
       true},
      {"a divided text", {TextBlock{"onetwo", {}}, call}, {one, two, call}, true, true},
      {"a block without a type",
       {UnknownBlock{"", json_text(R"({"a":1})")}},
       {UnknownBlock{"unknown", json_text(R"({"type":"unknown","value":{"a":1}})")}},
       true,
       true},
      {"another call", {call}, {ToolUseBlock{"d", "n", {}, {}}}, false, false},
      {"another block",
       {UnknownBlock{"x", json_text(R"({"type":"x"})")}},
       {UnknownBlock{"y", json_text(R"({"type":"y"})")}},
       false,
       false},
      {"more blocks", {one}, {one, call}, false, true},
      {"more of a text", {one}, {one, two}, false, true},
      {"fewer blocks", {one, call}, {one}, false, false},
  };
  for (const ContentRow& row : rows) {
    const Message stored = answer_with(row.stored);
    const Message now = answer_with(row.now);
    EXPECT_EQ(has_same_content(stored, now), row.is_same) << row.what;
    EXPECT_EQ(content_of(stored) == content_of(now), row.is_same) << row.what;
    EXPECT_EQ(has_grown(stored, now), row.has_grown) << row.what;
  }
}

}  // namespace
}  // namespace reprise
