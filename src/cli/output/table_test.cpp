#include "cli/output/table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/terminal_text.h"

namespace reprise::cli {
namespace {

const std::vector<Column> kColumns = {
    {.heading = "#", .align = Alignment::right}, {.heading = "title", .flexible = true}, {"age"}};

TEST(Table, AlignsByDisplayWidth) {
  EXPECT_EQ(format_table(kColumns, {{"1", "日本", "now"}, {"10", "plain", "later"}}, 80),
            " #  title  age\n"
            " 1  日本   now\n"
            "10  plain  later\n");
}

TEST(Table, CutsTheFlexibleColumnToFit) {
  const std::string text =
      format_table(kColumns, {{"1", "a title that is far too long for this", "now"}}, 24);
  EXPECT_EQ(text,
            "#  title             age\n"
            "1  a title that is…  now\n");
}

TEST(Table, LongTextDoesNotWidenABoundedColumn) {
  std::vector<Column> columns = kColumns;
  columns[1].width_max = 8;
  EXPECT_EQ(format_table(columns, {{"1", std::string(5000, 'x'), "now"}, {"2", "short", "later"}},
                         std::numeric_limits<std::size_t>::max()),
            "#  title     age\n"
            "1  xxxxxxx…  now\n"
            "2  short     later\n");
}

TEST(Table, DropsTheOptionalColumnBeforeCutting) {
  std::vector<Column> columns = kColumns;
  columns.push_back({.heading = "folder", .optional = true});
  const std::vector<std::vector<std::string>> rows = {{"1", "a title", "now", "~/work"}};
  EXPECT_EQ(format_table(columns, rows, 23),
            "#  title    age  folder\n"
            "1  a title  now  ~/work\n");
  EXPECT_EQ(format_table(columns, rows, 22),
            "#  title    age\n"
            "1  a title  now\n");
}

TEST(Table, DropsAnOptionalColumnInTheMiddle) {
  std::vector<Column> columns = kColumns;
  columns.insert(columns.begin() + 1, {.heading = "folder", .optional = true});
  const std::vector<std::vector<std::string>> rows = {{"1", "~/work", "a title", "now"}};
  EXPECT_EQ(format_table(columns, rows, 15),
            "#  title    age\n"
            "1  a title  now\n");
}

TEST(Table, DoesNotSplitWideCharacters) {
  for (std::size_t width = 18; width < 40; ++width) {
    const std::string text =
        format_table(kColumns, {{"1", "日本語日本語日本語日本語", "now"}}, width);
    const std::string line = text.substr(text.find('\n') + 1);
    EXPECT_LE(display_width(line.substr(0, line.size() - 1)), width);
    EXPECT_TRUE(line.ends_with("now\n")) << line;
  }
}

TEST(Table, KeepsAMinimumOfTheFlexibleColumn) {
  EXPECT_EQ(format_table(kColumns, {{"1", "0123456789abc", "now"}}, 5),
            "#  title       age\n"
            "1  012345678…  now\n");
}

TEST(BarChart, BarsAreProportional) {
  EXPECT_EQ(bar(0, 10, 4), "");
  EXPECT_EQ(bar(10, 10, 4), "████");
  EXPECT_EQ(bar(5, 10, 4), "██");
  EXPECT_EQ(bar(1, 1000, 4), "▏");
  EXPECT_EQ(bar(9, 16, 2), "█▏");
  EXPECT_EQ(bar(5, 0, 4), "");
  EXPECT_EQ(bar(20, 10, 2), "██");
  EXPECT_EQ(bar(-1, 10, 2), "");
}

TEST(BarChart, CountsAreShort) {
  EXPECT_EQ(compact_count(0), "0");
  EXPECT_EQ(compact_count(999), "999");
  EXPECT_EQ(compact_count(1000), "1.0k");
  EXPECT_EQ(compact_count(9999), "9.9k");
  EXPECT_EQ(compact_count(12'345), "12k");
  EXPECT_EQ(compact_count(1'250'000), "1.2M");
  EXPECT_EQ(compact_count(999'999'999), "999M");
  EXPECT_EQ(compact_count(-1500), "-1.5k");
  EXPECT_EQ(compact_count(std::numeric_limits<std::int64_t>::max()), "9223372T");
}

}  // namespace
}  // namespace reprise::cli
