#include "cli/output/tool_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

TEST(ToolInputLine, IsTheInputIfItFits) {
  EXPECT_EQ(tool_input_line(R"({"path":"a.txt","limit":5})", 80), R"({"path":"a.txt","limit":5})");
  EXPECT_EQ(tool_input_line("{}", 80), "{}");
}

TEST(ToolInputLine, WhatIsWorkedOnComesFirstAndValuesAreCut) {
  const std::string padding(4000, ' ');
  const std::string line = tool_input_line(
      cat(R"({"a":")", padding, R"(","why":"reads README.md","path":"secret.txt"})"), 640);
  EXPECT_TRUE(line.starts_with(R"({"path":"secret.txt",)")) << line;
  EXPECT_NE(line.find(R"("why":"reads README.md")"), std::string::npos) << line;
  EXPECT_LT(display_width(line), 200U);
  const std::string command = tool_input_line(
      cat(R"({"description":")", std::string(900, 'x'), R"(","command":"rm -r x"})"), 640);
  EXPECT_TRUE(command.starts_with(R"({"command":"rm -r x",)")) << command;
}

TEST(ToolInputLine, ShowsBothEndsOfALongValue) {
  const std::string line = tool_input_line(
      cat(R"({"path":"README.md/)", std::string(3000, '.'), R"(/secret.txt"})"), 100);
  EXPECT_TRUE(line.starts_with(R"({"path":"README.md)")) << line;
  EXPECT_TRUE(line.ends_with(R"(secret.txt"})")) << line;
  EXPECT_LE(display_width(line), 64U);
}

TEST(ToolInputLine, ManyMembersDoNotFillTheScreen) {
  std::string input = "{";
  for (int i = 0; i < 500; ++i) {
    input += cat('"', std::string(200, 'n'), i, R"(":")", std::string(200, 'v'), R"(",)");
  }
  const std::string line = tool_input_line(input + R"("path":"secret.txt"})", 640);
  EXPECT_TRUE(line.starts_with(R"({"path":"secret.txt",)")) << line;
  EXPECT_LT(display_width(line), 1000U);
}

TEST(ToolInputLine, ShowsWhatCounts) {
  EXPECT_EQ(tool_input_line(R"({"path":"README.md","path":"secret.txt"})", 80),
            R"({"path":"secret.txt"})");
  EXPECT_EQ(tool_input_line(R"({"\u0070ath":"a"})", 80), R"({"path":"a"})");
  EXPECT_EQ(tool_input_line("{\"path\":\"a\xe2\x80\xaetxt.b\"}", 80), R"({"path":"a\u202etxt.b"})");
}

TEST(ToolInputLine, OtherTextIsCut) {
  EXPECT_EQ(tool_input_line(R"({"path":"sec)", 80), R"({"path":"sec)");
  EXPECT_LE(display_width(tool_input_line(cat("[\"", std::string(500, 'x'), "\"]"), 80)), 80U);
  EXPECT_EQ(tool_input_line("", 80), "");
}

}  // namespace
}  // namespace reprise::cli
