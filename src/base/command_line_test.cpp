#include "base/command_line.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "base/text.h"

namespace reprise {
namespace {

constexpr std::string_view kHostile[] = {
    "",
    "a b",
    "it's",
    "'",
    "''",
    "\\",
    "a\\",
    "a\\'b\\\\",
    "a\\nb",
    "$(touch RAN)`touch RAN`",
    "$HOME ${HOME} $$",
    "!!;touch RAN & \"quoted\" | cat > RAN",
    "~",
    "*",
    "{a,b}",
    "=ls",
    "^a#b",
    "%n 100%",
    "a\nb",
    "a\n",
    "\x1b[31mred\x1b[m\t\r",
    "caf\xc3\xa9",
    "\xe2\x80\xaereversed",
    "not UTF-8: \xff",
    "octal \x01"
    "77",
};

// What `program` gets as the arguments of a line, each in brackets.
std::string read_by(const std::string& shell, const std::string& line) {
  std::array<char, 4096> bytes{};
  const std::string script = shell + " -c " + shell_word("printf '[%s]' " + line) + " 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(script.c_str(), "r"), ::pclose);
  return std::string(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), pipe.get()));
}

bool is_installed(const std::string& shell) {
  return read_by(shell, "here") == "[here]";
}

TEST(ShellWord, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_word("sqlite:/home/a-b_c/reprise.db"), "sqlite:/home/a-b_c/reprise.db");
  EXPECT_EQ(shell_word("sqlite:my notes.db"), "'sqlite:my notes.db'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a\nb"), "\"$(printf 'a\\012b')\"");
  EXPECT_EQ(shell_command({"show", "a b", "--full"}), "reprise show 'a b' --full");
}

TEST(ShellWord, IsReadAsTheSameWordByEveryShell) {
  for (const std::string shell : {"sh", "bash", "zsh", "fish --no-config"}) {
    if (shell != "sh" && !is_installed(shell)) {
      continue;
    }
    for (const std::string_view text : kHostile) {
      if (shell.starts_with("fish") && text.ends_with('\n')) {
        EXPECT_EQ(read_by(shell, cat("x ", shell_word(text))).find("[x]"), std::string::npos);
        continue;
      }
      if (shell == "sh" && text.ends_with('\n')) {
        continue;  // $'…' came to POSIX in 2024
      }
      EXPECT_EQ(read_by(shell, shell_word(text)), cat('[', text, ']')) << shell;
    }
  }
}

TEST(UnitWord, IsQuotedForSystemd) {
  EXPECT_EQ(unit_word("sqlite:/home/notes.db"), "sqlite:/home/notes.db");
  EXPECT_EQ(unit_word("a b"), "\"a b\"");
  EXPECT_EQ(unit_word("100% of $HOME"), "\"100%% of $$HOME\"");
  EXPECT_EQ(unit_text("100% of $HOME"), "\"100%% of $HOME\"");
  EXPECT_EQ(unit_word("a\"b\\c\nd"), "\"a\\\"b\\\\c\\012d\"");
  EXPECT_EQ(unit_word(""), "\"\"");
}

}  // namespace
}  // namespace reprise
