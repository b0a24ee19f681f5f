// Tests that hostile text never reaches the terminal in the full-screen program, byte for byte.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/repl/testing/terminal.h"

namespace reprise::cli::app {
namespace {

// Escape sequences, bidi overrides, tabs, many combining marks and invalid UTF-8.
const std::string kHostile = cat("own\x1b]0;owned\x07\x1b[2J\x1b[6n\x1bP1$r\x1b\\\u202e\u2066\t",
                                 "\xc2\x9b", "6n e\u0301\u0302\u0303\u0304\u0305\u0306\u0307");

// ncurses moves the cursor over blanks, so tests await single words.
class HostileTerminalTest : public TerminalTest {
 protected:
  // Removes the program's own titles, which have no control characters.
  static std::string without_window_titles(std::string text) {
    constexpr std::string_view kBegin = "\x1b]2;";
    for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
      const std::size_t end = text.find_first_of("\x07\x1b\r\n", at + 1);
      EXPECT_TRUE(end != std::string::npos && text[end] == '\x07');
      EXPECT_NE(text.find("reprise", at), std::string::npos);
      text.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    return text;
  }

  // Allows only the cursor movements, colours and modes that ncurses writes.
  void expect_no_foreign_sequence() const {
    const std::string bytes = without_window_titles(screen());
    for (std::size_t at = bytes.find('\x1b'); at != std::string::npos;
         at = bytes.find('\x1b', at + 1)) {
      const char next = at + 1 < bytes.size() ? bytes[at + 1] : '[';
      EXPECT_NE(std::string_view("[(78=>M").find(next), std::string::npos)
          << "Esc and " << static_cast<int>(next) << " at " << at;
    }
    for (const char* const bad : {"\x07", "\x1b[6n", "\u202e", "\u2066", "\xc2\x9b"}) {
      EXPECT_EQ(bytes.find(bad), std::string::npos) << bad;
    }
    EXPECT_TRUE(utf8::is_valid(bytes));
  }

  // Some bytes cannot be passed in shell arguments.
  void write(std::string_view name, std::string_view text) const {
    std::ofstream(home() / name) << text;
  }
};

TEST_F(HostileTerminalTest, SanitizesMessagesAndTitles) {
  write("message", cat("# a", kHostile, "b\n```", kHostile, "\n", kHostile, "\n```\n"));
  write("title", kHostile);
  printed("ask --provider echo <message");
  printed("rename last \"$(cat title)\"");
  printed("todo last add \"$(cat title)\"");
  start({});
  await("Resume");
  type("\r");
  await("owned");
  type("/retry\r");
  await("now");
  type("/session list\r/resume\r\x0f");
  await("filter");
  type("own");
  await("match");
  type("\x1b");
  await("help");
  type("\x04");
  EXPECT_EQ(end(), 0);
  expect_no_foreign_sequence();
}

// The folder's name appears in tabs, lists and warnings.
TEST_F(HostileTerminalTest, SanitizesFileAndFolderNames) {
  for (const std::string_view end : {"", "\xff"}) {
    const std::filesystem::path folder = home() / cat("dir-", kHostile, end);
    std::filesystem::create_directory(folder);
    std::ofstream(folder / ".reprise.toml") << "no_such_setting = 1\n";
    std::filesystem::remove(home() / "link");
    std::filesystem::create_directory_symlink(folder, home() / "link");
    start({"chat", "--new"});
    await("Reprise");
    type("/session new link\r");
    await("no_such_setting");
    type("a-message\r");
    await("now");
    type("/session\r/session list\r/session save\r/title\r");
    await("reprise.db");
    type("\x17");
    await("Type");
    type("/resume\r");
    await("Resumable");
    type("\x0f\t");
    await("projects");
    type("\x1b");
    await("restore");
    type("\x04");
    EXPECT_EQ(this->end(), 0);
    expect_no_foreign_sequence();
  }
}

// In a message, in a title, and typed.
TEST_F(HostileTerminalTest, ShowsALineOfAMegabyte) {
  write("long.txt", std::string(1 << 20, 'y'));
  printed("ask --provider echo <long.txt");
  printed("fork last");
  start({});
  await("Resume");
  type("\r");
  await("now");
  type(cat("\x1b[200~", std::string(100'000, 'z'), "\x1b[201~"));
  await("zzzz");
  type("\x15/quit\r");
  EXPECT_EQ(end(), 0);
  expect_no_foreign_sequence();
}

TEST_F(HostileTerminalTest, ShowsJoinedEmojiWhole) {
  start({});
  await("Reprise");
  type("👩\u200d💻 🇩🇪 👍🏽 end\r");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  for (const char* const joined : {"👩\u200d💻", "🇩🇪", "👍🏽"}) {
    EXPECT_NE(screen().find(joined), std::string::npos) << joined;
  }
  expect_no_foreign_sequence();
}

}  // namespace
}  // namespace reprise::cli::app
