#include "cli/process/arguments.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace reprise::cli {
namespace {

struct Flags {
  Globals globals;
  bool all = false;
  std::optional<std::string> resume;
  std::optional<std::int64_t> limit;
  std::optional<double> temperature;
  std::optional<std::string> format;
  std::vector<std::string> files;
  std::optional<std::string> sel;
  std::vector<std::string> words;

  ArgumentTable table() {
    return {
        .options = {{"-a,--all", "", "", &all},
                    {"-r,--resume", "SEL", "", &resume, {}, true},
                    {"--limit", "N", "", &limit},
                    {"--temperature", "T", "", &temperature, {}, false, {}, {.min = 0, .max = 2}},
                    {"--format", "FORMAT", "", &format, {"md", "json"}},
                    {"-f,--file", "FILE", "", &files}},
        .arguments = {{"SEL", "", &sel, true}, {"WORD", "", &words}}};
  }

  std::string parse(const std::vector<std::string>& given) {
    const auto parsed = parse_arguments(global_arguments(globals), table(), given);
    return parsed ? "" : parsed.error().message;
  }
};

TEST(Arguments, SetsGivenTargetsOnly) {
  Flags flags;
  EXPECT_EQ(flags.parse({"--all", "7", "-f", "a", "one", "--file=b", "--json", "--limit", "3"}),
            "");
  EXPECT_TRUE(flags.all);
  EXPECT_TRUE(flags.globals.json);
  EXPECT_EQ(flags.sel, "7");
  EXPECT_EQ(flags.limit, 3);
  EXPECT_EQ(flags.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(flags.words, (std::vector<std::string>{"one"}));
  EXPECT_EQ(flags.resume, std::nullopt);
}

TEST(Arguments, AcceptsADashAndWordsAfterTwoDashes) {
  Flags flags;
  EXPECT_EQ(flags.parse({"x", "-", "--", "--all", "-5"}), "");
  EXPECT_EQ(flags.words, (std::vector<std::string>{"-", "--all", "-5"}));
  EXPECT_FALSE(flags.all);
}

TEST(Arguments, AllowsOptionalValues) {
  Flags with;
  EXPECT_EQ(with.parse({"x", "-r", "3"}), "");
  EXPECT_EQ(with.resume, "3");
  Flags without;
  EXPECT_EQ(without.parse({"x", "-r"}), "");
  EXPECT_EQ(without.resume, "");
  Flags before_a_flag;
  EXPECT_EQ(before_a_flag.parse({"x", "-r", "--all"}), "");
  EXPECT_EQ(before_a_flag.resume, "");
  EXPECT_TRUE(before_a_flag.all);
}

TEST(Arguments, ReportsErrors) {
  EXPECT_EQ(Flags().parse({"x", "--lmit", "3"}),
            "unknown option '--lmit'; did you mean '--limit'?");
  EXPECT_EQ(Flags().parse({"x", "--sturdy"}), "unknown option '--sturdy'");
  EXPECT_EQ(Flags().parse({"x", "--limit"}), "--limit needs a value: --limit N");
  EXPECT_EQ(Flags().parse({"x", "--limit", "many"}), "--limit must be a whole number, not 'many'");
  EXPECT_EQ(Flags().parse({"x", "--limit", "3x"}), "--limit must be a whole number, not '3x'");
  EXPECT_EQ(Flags().parse({"x", "--temperature", "warm"}),
            "--temperature must be a number from 0 to 2, not 'warm'");
  EXPECT_EQ(Flags().parse({"x", "--format", "pdf"}), "--format must be one of md, json, not 'pdf'");
  EXPECT_EQ(Flags().parse({}), "missing argument SEL");
  EXPECT_EQ(Flags().parse({"x", "--all=yes"}), "--all takes no value");
}

TEST(Arguments, RejectsNumbersOutOfRange) {
  EXPECT_EQ(Flags().parse({"x", "--temperature", "99"}),
            "--temperature must be a number from 0 to 2, not '99'");
  EXPECT_EQ(Flags().parse({"x", "--temperature", "-0.5"}),
            "--temperature must be a number from 0 to 2, not '-0.5'");
  EXPECT_EQ(Flags().parse({"x", "--temperature", "nan"}),
            "--temperature must be a number from 0 to 2, not 'nan'");
  EXPECT_EQ(Flags().parse({"x", "--temperature", "2"}), "");
}

TEST(Arguments, SuggestsNothingForASingleLetter) {
  EXPECT_EQ(Flags().parse({"x", "-x"}), "unknown option '-x'");
  EXPECT_EQ(Flags().parse({"x", "-limit"}), "unknown option '-limit'; did you mean '--limit'?");
}

TEST(Arguments, RejectsExtraWords) {
  std::optional<std::string> only;
  Globals globals;
  const ArgumentTable table{.options = {}, .arguments = {{"SEL", "", &only}}};
  const auto parsed = parse_arguments(global_arguments(globals), table, {"a", "b"});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "unexpected argument 'b'");
}

TEST(Arguments, TheLastOfTwoWins) {
  Flags flags;
  EXPECT_EQ(flags.parse({"x", "--limit", "1", "--limit", "2"}), "");
  EXPECT_EQ(flags.limit, 2);
}

TEST(CommandLine, FindsTheCommandAfterGlobalFlags) {
  Globals globals;
  const ArgumentTable table = global_arguments(globals);
  const auto split = [&](std::vector<std::string> words) {
    return split_command_line(table, std::move(words));
  };
  EXPECT_EQ(split({"--store", "list", "show", "x"}).command, "show");
  EXPECT_EQ(split({"--store", "list", "show", "x"}).words,
            (std::vector<std::string>{"--store", "list", "x"}));
  EXPECT_EQ(split({"--store=a", "--json", "list"}).command, "list");
  EXPECT_EQ(split({"-qv", "list"}).command, "list");
  EXPECT_EQ(split({"--resume"}).command, "");
  EXPECT_EQ(split({"--resume", "1"}).command, "");
  EXPECT_EQ(split({"-q", "-r", "1"}).words, (std::vector<std::string>{"-q", "-r", "1"}));
  EXPECT_EQ(split({"--mode=draft", "folder"}).command, "");
  EXPECT_EQ(split({"--", "list"}).command, "");
}

TEST(Suggest, FindsTheNearestWord) {
  const std::vector<std::string_view> known = {"list", "show", "close", "copy", "config"};
  EXPECT_EQ(nearest("lsit", known), "list");
  EXPECT_EQ(nearest("shwo", known), "show");
  EXPECT_EQ(nearest("confg", known), "config");
  EXPECT_EQ(nearest("xyzzy", known), "");
  EXPECT_EQ(nearest("", known), "");
}

}  // namespace
}  // namespace reprise::cli
