#include "cli/app/keys.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/repl/slash.h"

namespace reprise::cli::app {
namespace {

TEST(Keys, AreFoundByAnyOfTheirNames) {
  EXPECT_EQ(find_action("Ctrl-N"), Action::next_tab);
  EXPECT_EQ(find_action("Ctrl-Tab"), Action::next_tab);
  EXPECT_EQ(find_action("Alt-9"), Action::go_to_tab);
  EXPECT_EQ(find_action("Ctrl-"), std::nullopt);
  EXPECT_EQ(find_action(""), std::nullopt);
}

TEST(Keys, AreInTheManual) {
  const auto manual = read_file(REPRISE_TERMINAL_MANUAL);
  ASSERT_TRUE(manual) << manual.error().message;
  EXPECT_NE(manual->find(keys_markdown()), std::string::npos) << "docs/terminal.md should have:\n"
                                                              << keys_markdown();
  EXPECT_NE(manual->find(slash_help_markdown(Surface::screen)), std::string::npos)
      << "docs/terminal.md should have:\n"
      << slash_help_markdown(Surface::screen);
}

}  // namespace
}  // namespace reprise::cli::app
