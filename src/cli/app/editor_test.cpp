#include "cli/app/editor.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise::cli::app {
namespace {

TEST(Editor, MovesAndErasesWholeCharacters) {
  Editor editor;
  editor.insert("ae\u0301日");
  editor.left();
  editor.erase_before();
  EXPECT_EQ(editor.text(), "a日");
  editor.erase_after();
  EXPECT_EQ(editor.text(), "a");
  editor.erase_after();
  editor.left();
  editor.left();
  editor.erase_before();
  EXPECT_EQ(editor.text(), "a");
  EXPECT_EQ(editor.cursor(), 0U);
}

TEST(Editor, ErasesAndYanksWordsAndLines) {
  Editor editor;
  editor.insert("one two\nthree four");
  editor.erase_word();
  EXPECT_EQ(editor.text(), "one two\nthree ");
  editor.erase_to_start();
  EXPECT_EQ(editor.text(), "one two\n");
  editor.up();
  editor.erase_to_end();
  EXPECT_EQ(editor.text(), "\n");
  editor.erase_to_end();
  EXPECT_EQ(editor.text(), "");
  editor.yank();
  EXPECT_EQ(editor.text(), "\n");
}

TEST(Editor, MovesUpAndDownInTheSameColumn) {
  Editor editor;
  editor.insert("日本語\nab\nabcdef");
  EXPECT_TRUE(editor.up());
  editor.insert("|");
  EXPECT_EQ(editor.text(), "日本語\nab|\nabcdef");
  EXPECT_TRUE(editor.up());
  editor.insert("|");
  EXPECT_EQ(editor.text(), "日|本語\nab|\nabcdef");
  EXPECT_FALSE(editor.up());
}

TEST(Editor, BrowsesThePromptHistory) {
  Editor editor;
  editor.remember("first");
  editor.remember("second");
  editor.insert("draft");
  EXPECT_TRUE(editor.older());
  EXPECT_EQ(editor.text(), "second");
  EXPECT_TRUE(editor.older());
  EXPECT_EQ(editor.text(), "first");
  EXPECT_FALSE(editor.older());
  EXPECT_TRUE(editor.newer());
  EXPECT_TRUE(editor.newer());
  EXPECT_EQ(editor.text(), "draft");
  EXPECT_FALSE(editor.newer());
}

TEST(Editor, TakesTheTextAndRemembersIt) {
  Editor editor;
  editor.insert("hello");
  EXPECT_EQ(editor.take(), "hello");
  EXPECT_TRUE(editor.empty());
  EXPECT_TRUE(editor.older());
  EXPECT_EQ(editor.text(), "hello");
}

TEST(Editor, ShowsControlCharactersOfAPaste) {
  Editor editor;
  editor.insert("a\x1b[2J\xff");
  EXPECT_EQ(editor.text(), "a␛[2J\uFFFD");
}

TEST(Editor, WrapsIntoLines) {
  Editor editor;
  editor.insert("abcdef\n日本");
  const EditorLines lines = editor_lines(editor, 4);
  EXPECT_EQ(lines.lines, (std::vector<std::string>{"abcd", "ef", "日本"}));
  EXPECT_EQ(lines.cursor, (ScreenPosition{2, 4}));
}

}  // namespace
}  // namespace reprise::cli::app
