#include "cli/repl/multi_line.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise::cli {
namespace {

TEST(MultiLine, WaitsAfterABackslash) {
  EXPECT_FALSE(needs_another_line(""));
  EXPECT_FALSE(needs_another_line("a"));
  EXPECT_TRUE(needs_another_line("a\\"));
  EXPECT_TRUE(needs_another_line("\\"));
  EXPECT_FALSE(needs_another_line("a\\\\"));
  EXPECT_TRUE(needs_another_line("a\\\\\\"));
  EXPECT_FALSE(needs_another_line("a\\\nb"));
}

TEST(MultiLine, WaitsInsideAFence) {
  EXPECT_TRUE(needs_another_line("look:\n```c"));
  EXPECT_TRUE(needs_another_line("```c\nint x;"));
  EXPECT_FALSE(needs_another_line("```c\nint x;\n```"));
  EXPECT_FALSE(needs_another_line("  ```\nx\n  ```  "));
  EXPECT_FALSE(needs_another_line("```code in one line```"));
  EXPECT_TRUE(needs_another_line("````\n```\n"));
  EXPECT_FALSE(needs_another_line("````\n```\n````"));
  EXPECT_TRUE(needs_another_line("```\na\n```\nb\n```"));
  EXPECT_FALSE(needs_another_line("``"));
  EXPECT_FALSE(needs_another_line("say ``` in the middle"));
}

TEST(MultiLine, JoinsLines) {
  std::string text = "a\\";
  add_line(text, "b\\");
  EXPECT_EQ(text, "a\nb\\");
  add_line(text, "");
  EXPECT_EQ(text, "a\nb\n");
  std::string fence = "```\nx\\";
  add_line(fence, "```");
  EXPECT_EQ(fence, "```\nx\\\n```");
}

TEST(MultiLine, CleansPastedText) {
  EXPECT_EQ(clean_paste("a\r\nb\rc\nd"), "a\nb\nc\nd");
  EXPECT_EQ(clean_paste("tab\there"), "tab\there");
  EXPECT_EQ(clean_paste("x\x1b[31m\x07y\x7fz"), "x[31myz");
  EXPECT_EQ(clean_paste("end\r\n\r\n"), "end");
  EXPECT_EQ(clean_paste("bad \xff byte"), "bad \xEF\xBF\xBD byte");
  EXPECT_EQ(clean_paste(""), "");
  EXPECT_EQ(clean_paste("\n\n"), "");
  EXPECT_EQ(clean_paste("\nkept"), "\nkept");
}

}  // namespace
}  // namespace reprise::cli
