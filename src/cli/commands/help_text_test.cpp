#include "cli/commands/help_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/terminal_text.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kScreenColumns = 80;
constexpr std::size_t kLines = 23;  // 24 minus the prompt

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void expect_narrow(std::string_view text) {
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(display_width(line), kScreenColumns) << line;
  }
}

TEST(HelpText, FitsOnATerminalAndNamesEveryCommandInItsGroup) {
  const std::string help = program_help(command_table());
  expect_narrow(help);
  EXPECT_LE(lines_of(help).size(), kLines) << help;
  EXPECT_NE(help.find("examples:\n  reprise "), std::string::npos);
  for (const CommandEntry& entry : command_table()) {
    EXPECT_TRUE(entry.hidden || help.contains(entry.name)) << entry.name;
  }
}

TEST(HelpText, ShowsUsageAndExamplesOfEachCommand) {
  for (const CommandEntry& entry : command_table()) {
    const std::unique_ptr<Command> command = entry.make();
    const std::string help = command_help(entry, command->arguments());
    expect_narrow(help);
    EXPECT_NE(help.find("\nusage: reprise " + std::string(entry.name)), std::string::npos);
    ASSERT_FALSE(entry.examples.empty()) << entry.name;
    EXPECT_NE(help.find("\nexamples:\n" + example_lines(entry.examples)), std::string::npos);
    EXPECT_TRUE(entry.name == "chat" || entry.examples.contains(entry.name)) << entry.name;
  }
}

TEST(HelpText, LongestNameFitsOnOneLine) {
  const auto ask = std::ranges::find(command_table(), "ask", &CommandEntry::name);
  ASSERT_NE(ask, command_table().end());
  const std::string help = command_help(*ask, ask->make()->arguments());
  EXPECT_NE(help.find("\n  PROMPT  the question"), std::string::npos) << help;
}

TEST(HelpText, ListsEveryCommandAndTheGlobalOptions) {
  const std::string help = full_help(command_table());
  expect_narrow(help);
  for (const CommandEntry& entry : command_table()) {
    EXPECT_EQ(!help.contains(std::string(entry.summary)), entry.hidden);
  }
  EXPECT_NE(help.find("--store URL"), std::string::npos);
}

}  // namespace
}  // namespace reprise::cli
