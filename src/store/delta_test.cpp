#include <gtest/gtest.h>

#include "reprise/message.h"
#include "store/stored_json.h"

namespace reprise::store {
namespace {

using Blocks = std::vector<Block>;

RawJson raw(std::string text) {
  return *RawJson::parse(std::move(text));
}

Blocks joined(Blocks blocks, const Blocks& delta) {
  append_delta(blocks, delta);
  return blocks;
}

ToolUseBlock call(const char* id, std::string input) {
  return {id, "tool", raw(std::move(input)), {}};
}

TEST(AppendDelta, OnlyTheFirstBlockContinuesTheLast) {
  EXPECT_EQ(joined({TextBlock{"a", {}}}, {TextBlock{"b", {}}, TextBlock{"c", {}}}),
            (Blocks{TextBlock{"ab", {}}, TextBlock{"c", {}}}));
  EXPECT_EQ(joined({}, {TextBlock{"a", {}}}), (Blocks{TextBlock{"a", {}}}));
  EXPECT_EQ(joined({TextBlock{"a", {}}}, {}), (Blocks{TextBlock{"a", {}}}));
}

TEST(AppendDelta, DifferentKindsAreSeparateBlocks) {
  const Blocks kinds = {TextBlock{"a", {}},
                        ThinkingBlock{"b", "", {}},
                        call("t", "\"\""),
                        ToolResultBlock{"t", "r", false, {}, {}},
                        ImageBlock{"image/png", {}, "u", {}},
                        UnknownBlock{"x", raw("{}")}};
  for (const Block& last : kinds) {
    for (const Block& first : kinds) {
      const bool goes_on = last.index() == first.index() && last.index() < 3;
      EXPECT_EQ(joined({last}, {first}).size(), goes_on ? 1U : 2U)
          << last.index() << " then " << first.index();
    }
  }
}

TEST(AppendDelta, ThinkingIsContinuedWithItsSignature) {
  EXPECT_EQ(joined({ThinkingBlock{"a", "s", {}}}, {ThinkingBlock{"b", "ig", {}}}),
            (Blocks{ThinkingBlock{"ab", "sig", {}}}));
}

TEST(AppendDelta, ToolInputIsJoinedFromItsPieces) {
  EXPECT_EQ(joined({call("t", R"("{\"a\"")")}, {call("t", R"(":1.0}")")}),
            (Blocks{call("t", R"("{\"a\":1.0}")")}));
  EXPECT_EQ(joined({call("t", "null")}, {call("t", R"("x")")}), (Blocks{call("t", R"("x")")}));
  EXPECT_EQ(joined({call("t", R"("x")")}, {call("t", "null")}), (Blocks{call("t", R"("x")")}));
  EXPECT_EQ(joined({call("t", R"("x")")}, {call("t", R"("")")}), (Blocks{call("t", R"("x")")}));
}

// Each piece costs only its own length; with quadratic costs, these would take hours.
TEST(AppendDelta, AHundredThousandPiecesAreOneInput) {
  constexpr int kPieces = 300'000;
  std::vector<Block> blocks = {call("t", R"("[")")};
  const std::vector<Block> piece = {call("t", R"("\"word\",")")};
  for (int i = 0; i < kPieces; ++i) {
    append_delta(blocks, piece);
  }
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(std::get<ToolUseBlock>(blocks[0]).input.text().size(), 3U + (kPieces * 9U));
}

TEST(AppendDelta, AnEscapeSplitBetweenPiecesIsJoined) {
  EXPECT_EQ(joined({call("t", R"("\ud83d")")}, {call("t", R"("\udc1f")")}),
            (Blocks{call("t", R"("\ud83d\udc1f")")}));
}

TEST(AppendDelta, AWholeInputReplacesThePieces) {
  EXPECT_EQ(joined({call("t", R"("{\"a")")}, {call("t", R"({"a":1})")}),
            (Blocks{call("t", R"({"a":1})")}));
  EXPECT_EQ(joined({call("t", R"({"a":1})")}, {call("t", R"("piece")")}),
            (Blocks{call("t", R"("piece")")}));
}

TEST(AppendDelta, AnotherCallIsAnotherBlock) {
  EXPECT_EQ(joined({call("t", R"("a")")}, {call("u", R"("b")")}),
            (Blocks{call("t", R"("a")"), call("u", R"("b")")}));
}

TEST(AppendDelta, TheNameMayArriveLaterAndExtraFieldsAreKept) {
  EXPECT_EQ(joined({ToolUseBlock{"t", "", raw("\"\""), {{"a", raw("1")}, {"b", raw("2")}}}},
                   {ToolUseBlock{"t", "read", raw("\"\""), {{"b", raw("3")}, {"c", raw("4")}}}}),
            (Blocks{ToolUseBlock{
                "t", "read", raw("\"\""), {{"a", raw("1")}, {"b", raw("3")}, {"c", raw("4")}}}}));
  EXPECT_EQ(joined({TextBlock{"a", {{"x", raw("1")}}}}, {TextBlock{"b", {{"y", raw("2")}}}}),
            (Blocks{TextBlock{"ab", {{"x", raw("1")}, {"y", raw("2")}}}}));
}

}  // namespace
}  // namespace reprise::store
