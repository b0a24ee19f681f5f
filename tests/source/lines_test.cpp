#include "source/lines.h"

#include <fcntl.h>

#include <fstream>
#include <limits>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "source/records.h"
#include "support/must.h"

namespace reprise::source {
namespace {

using test::must;

class Records : public testing::Test {
 protected:
  // The records of a file with these bytes, as "at:json", then the damage.
  std::vector<std::string> read(const std::string& bytes, bool is_cut = false) {
    const std::filesystem::path file = folder_.path() / "a.jsonl";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    const Fd fd = must(open_file(file, O_RDONLY));
    std::vector<std::string> found;
    ReadReport report;
    const LineFilter filter = is_cut ? is_not_cut : LineFilter();
    must(for_each_record(fd.get(), {.file = file}, filter, report, [&](const Record& record) {
      found.push_back(std::to_string(record.at) + ":" + std::string(record.json.raw()));
    }));
    for (const Damage& damage : report.damage) {
      found.push_back(damage.reason + ": " + damage.excerpt);
    }
    return found;
  }
  test::TemporaryFolder folder_;
};

using Found = std::vector<std::string>;

TEST_F(Records, LinesEndAtNothingButANewline) {
  const std::string line = "{\"a\":\"x\xE2\x80\xA8y\xE2\x80\xA9z\xC2\x85\"}";
  EXPECT_EQ(read(line + "\r\n{\"b\":1}\n"),
            (Found{"0:" + line, std::to_string(line.size() + 2) + ":{\"b\":1}"}));
}

// More than one read, with line ends at all positions of the buffer.
TEST_F(Records, AreFoundWhereverAReadEnds) {
  for (const std::size_t length : {100U, 4097U, 99'991U, 262'143U, 262'144U, 262'145U}) {
    const std::string line = "{\"a\":\"" + std::string(length - 9, 'x') + "\"}\n";
    std::string bytes;
    Found expected;
    while (bytes.size() < 1'500'000) {
      expected.push_back(std::to_string(bytes.size()) + ":" + line.substr(0, line.size() - 1));
      bytes += line;
    }
    EXPECT_TRUE(read(bytes) == expected) << length;
  }
}

// Lines shorter and longer than the buffer, and lines that end near its end.
TEST_F(Records, LinesEndWhereverAReadEnds) {
  const std::filesystem::path file = folder_.path() / "lines";
  for (const std::size_t length : {7U, 100U, 4097U, 262'143U, 262'144U, 262'145U, 300'000U}) {
    std::string bytes;
    while (bytes.size() < 700'000) {
      bytes +=
          std::string(length - 1, static_cast<char>('a' + (bytes.size() / length % 26))) + "\n";
    }
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    const Fd fd = must(open_file(file, O_RDONLY));
    LineReader lines(fd.get(), file, 0, std::numeric_limits<std::int64_t>::max());
    Line line;
    std::size_t at = 0;
    for (std::int64_t number = 1; at < bytes.size(); ++number, at += length) {
      ASSERT_TRUE(must(lines.next(line))) << length;
      ASSERT_EQ(line.at, static_cast<std::int64_t>(at)) << length;
      ASSERT_EQ(line.number, number) << length;
      ASSERT_EQ(line.text, std::string_view(bytes).substr(at, length - 1)) << length;
    }
    EXPECT_FALSE(must(lines.next(line))) << length;
  }
}

TEST_F(Records, BlankLinesAndATornEndAreNothing) {
  EXPECT_EQ(read("{\"a\":1}\n\n  \n{\"b\":\"to"), Found{"0:{\"a\":1}"});
  EXPECT_EQ(read("{\"a\":1}\n{\"b\":\"\xE2\x80"), Found{"0:{\"a\":1}"});
  EXPECT_EQ(read(""), Found{});
}

TEST_F(Records, AWholeEndWithoutANewlineIsRead) {
  EXPECT_EQ(read("{\"a\":1}"), Found{"0:{\"a\":1}"});
}

TEST_F(Records, WhatIsNoObjectIsDamageAndNotTheEnd) {
  EXPECT_EQ(read("\"massive error\"\n42\n[1]\n{\"a\":}\n{\"b\":1}\n"),
            (Found{"30:{\"b\":1}", "not an object: \"massive error\"", "not an object: 42",
                   "not an object: [1]", "not JSON: {\"a\":}"}));
}

TEST_F(Records, TwoObjectsOnOneLineAreTwo) {
  EXPECT_EQ(read("{\"a\":1}{\"b\":2} {\"c\":3}\n"),
            (Found{"0:{\"a\":1}", "7:{\"b\":2}", "15:{\"c\":3}"}));
}

TEST_F(Records, AnObjectAfterTheBeginningOfOneIsRead) {
  EXPECT_EQ(read("{\"a\":{\"x\":\"un{\"b\":{\"c\":2}}\n"),
            (Found{"13:{\"b\":{\"c\":2}}", "not JSON: {\"a\":{\"x\":\"un"}));
}

TEST_F(Records, APartThatBeginsWithinALineSkipsIt) {
  EXPECT_EQ(read("ail\"}\n{\"b\":1}\n", true), Found{"6:{\"b\":1}"});
}

TEST_F(Records, ALineOverTheLimitIsDamageAndNotTheEnd) {
  const std::string bytes =
      "{\"a\":\"" + std::string(kLineBytesMax + 100, 'x') + "\"}\n{\"b\":1}\n{\"c\":1}\n";
  const Found found = read(bytes);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(found[0].ends_with(":{\"b\":1}"));
  EXPECT_EQ(found[1], std::to_string(bytes.size() - 8) + ":{\"c\":1}");
  EXPECT_TRUE(found[2].starts_with("longer than 24 MiB: {\"a\":\"xxx"));
}

}  // namespace
}  // namespace reprise::source
