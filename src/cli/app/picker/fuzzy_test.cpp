#include "cli/app/picker/fuzzy.h"

#include <gtest/gtest.h>

namespace reprise::cli::app {
namespace {

TEST(Fuzzy, FindsEveryWordInAnyOrder) {
  EXPECT_TRUE(fuzzy_score("mana base advice for frf", "frf mana"));
  EXPECT_TRUE(fuzzy_score("mana base advice", "mbadv"));
  EXPECT_TRUE(fuzzy_score("anything", ""));
  EXPECT_TRUE(fuzzy_score("anything", "   "));
  EXPECT_FALSE(fuzzy_score("mana base", "mana x"));
  EXPECT_FALSE(fuzzy_score("", "a"));
  EXPECT_FALSE(fuzzy_score("abc", "ca"));
}

TEST(Fuzzy, PrefersWholeWordsAndTheirBeginnings) {
  EXPECT_GT(fuzzy_score("explain sqlite", "sql"), fuzzy_score("mysql dump", "sql"));
  EXPECT_GT(fuzzy_score("mysql dump", "sql"), fuzzy_score("some quick list", "sql"));
  EXPECT_GT(fuzzy_score("wal mode", "wm"), fuzzy_score("a swimmer", "wm"));
}

TEST(Fuzzy, PrefersLettersAtWordStartsOrAdjacent) {
  EXPECT_GT(fuzzy_score("read write mode", "rwm"), fuzzy_score("drew dawn home", "rwm"));
  EXPECT_GT(fuzzy_score("a b-c", "ac"), fuzzy_score("a bxc", "ac"));
  EXPECT_GT(fuzzy_score("a b c", "abc"), fuzzy_score("abxc", "abc"));
  EXPECT_GT(fuzzy_score("abxcd", "acd"), fuzzy_score("abxcxd", "acd"));
}

TEST(Fuzzy, AcceptsAnyBytes) {
  EXPECT_TRUE(fuzzy_score("日本語のタイトル", "タイトル"));
  EXPECT_TRUE(fuzzy_score("a\xff\x1b", "\xff"));
}

}  // namespace
}  // namespace reprise::cli::app
