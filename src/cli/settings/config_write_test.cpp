#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/settings/config.h"
#include "cli/settings/config_keys.h"

namespace reprise::cli {
namespace {

using testing::HasSubstr;

// The text after the change, or the error.
std::string set(std::string_view text, std::string_view key,
                const std::vector<std::string>& values) {
  const auto path = parse_key_path(key);
  if (!path) {
    return path.error().message;
  }
  const auto literal = toml_value(*path, values);
  if (!literal) {
    return literal.error().message;
  }
  const auto out = with_setting(text, *path, *literal);
  return out ? *out : out.error().message;
}

constexpr std::string_view kFile = R"(# mine
model = "żółć"  # a comment

#temperature = 1
# of the server
[providers.work]  # a table
base_url = "https://h/v1"
# its model
model = "large"

[mode.draft]
system = """
[not a header]
"""
)";

TEST(ConfigWrite, ReplacesAValueOnly) {
  std::string expected(kFile);
  expected.replace(expected.find("\"żółć\""), std::string("\"żółć\"").size(), "\"m \\\"2\\\"\"");
  EXPECT_EQ(set(kFile, "model", {"m \"2\""}), expected);
  expected = kFile;
  expected.replace(expected.find("\"large\""), 7, "\"small\"");
  EXPECT_EQ(set(kFile, "providers.work.model", {"small"}), expected);
}

TEST(ConfigWrite, AppendsAKeyToItsTable) {
  std::string expected(kFile);
  expected.insert(expected.find("\n\n#temp") + 1, "temperature = 0.5\n");
  EXPECT_EQ(set(kFile, "temperature", {"0.5"}), expected);
  expected = kFile;
  expected.insert(expected.find("\n[mode.draft]"), "env_key = \"WORK_KEY\"\n");
  EXPECT_EQ(set(kFile, "providers.work.env_key", {"WORK_KEY"}), expected);
  EXPECT_EQ(set(kFile, "mode.new.system", {"s"}),
            std::string(kFile) + "\n[mode.new]\nsystem = \"s\"\n");
}

TEST(ConfigWrite, CreatesAFile) {
  EXPECT_EQ(set("", "provider", {"echo"}), "provider = \"echo\"\n");
  EXPECT_EQ(set("# only this", "budget", {"9"}), "# only this\nbudget = 9\n");
  EXPECT_EQ(set("[mode.a]\nsystem = 's'\n", "budget", {"9"}),
            "budget = 9\n[mode.a]\nsystem = 's'\n");
  EXPECT_EQ(set("", "providers.a.auth", {"bearer"}), "[providers.a]\nauth = \"bearer\"\n");
}

TEST(ConfigWrite, ChecksTheValue) {
  EXPECT_EQ(set("", "max_tokens", {"-4"}),
            "max_tokens must be a whole number of 1 or more, not '-4'");
  EXPECT_EQ(set("", "temperature", {"99"}), "temperature must be a number from 0 to 2, not '99'");
  EXPECT_EQ(set("", "top_p", {"2"}), "top_p must be a number from 0 to 1, not '2'");
  EXPECT_EQ(set("", "insecure", {"yes"}), "insecure must be true or false, not 'yes'");
  EXPECT_EQ(set("", "retention", {"soon"}),
            "retention must be an age such as \"30d\", \"12h\" or \"4w\", not 'soon'");
  EXPECT_EQ(set("", "base_url", {"localhost:1"}),
            "base_url must be an http:// or https:// URL, not 'localhost:1'");
  EXPECT_EQ(set("", "env_key", {"sk-secret"}),
            "env_key must be the name of a variable, not the key itself");
  EXPECT_EQ(set("", "providers.a.path", {"chat"}),
            "providers.a.path must be a path such as /chat/completions, not 'chat'");
  EXPECT_EQ(set("", "providers.a.auth_header", {"Host"}),
            "providers.a.auth_header must be the name of a header, not 'Host'");
  EXPECT_EQ(set("", "trust", {"here"}), "trust must be a list of absolute paths");
  EXPECT_EQ(set("", "modle", {"m"}), "unknown setting 'modle'; did you mean 'model'?");
  EXPECT_EQ(set("", "providers.a.base_ur", {"x"}),
            "unknown setting 'providers.a.base_ur'; did you mean 'providers.a.base_url'?");
  EXPECT_THAT(set("", "providers.a.extra", {"x"}), HasSubstr("use `reprise config edit`"));
  EXPECT_THAT(set("", "model", {"a", "b"}), HasSubstr("takes one value"));
}

TEST(ConfigWrite, TakesAListAsItIsShown) {
  EXPECT_EQ(set("", "stop", {R"(["END"])"}), "stop = [\"END\"]\n");
  EXPECT_EQ(set("", "stop", {R"(['a', "[b"])"}), "stop = [\"a\", \"[b\"]\n");
  EXPECT_EQ(set("", "stop", {"a", "[b"}), "stop = [\"a\", \"[b\"]\n");
  EXPECT_EQ(set("", "trust", {R"(["/a"])"}), "trust = [\"/a\"]\n");
  EXPECT_EQ(set("", "trust", {R"(["a"])"}), "trust must be a list of absolute paths");
  EXPECT_EQ(set("", "model", {"[m]"}), "model = \"[m]\"\n");
  for (const std::string bad : {"[END", "[1]", "[]\nmodel = 'm'"}) {
    EXPECT_THAT(set("", "stop", {bad}), HasSubstr("write the values as separate words")) << bad;
  }
}

TEST(ConfigWrite, RejectsUnsupportedLayouts) {
  EXPECT_THAT(set("providers = { work = { model = 'm' } }\n", "providers.work.env_key", {"K"}),
              HasSubstr("use `reprise config edit`"));
  EXPECT_THAT(set("model = \n", "model", {"m"}), HasSubstr("line 1"));
}

TEST(ConfigWrite, AddsATrustedFolderToTheList) {
  EXPECT_EQ(with_trusted_folder("", "/a").value_or("failed"), "trust = [\"/a\"]\n");
  EXPECT_EQ(with_trusted_folder("trust = []\n", "/a").value_or("failed"), "trust = [\"/a\"]\n");
  EXPECT_EQ(with_trusted_folder("trust = [ # mine\n  '/b', # work\n]\n", "/a").value_or("failed"),
            "trust = [\"/a\",  # mine\n  '/b', # work\n]\n");
}

TEST(ConfigKeys, AreUniqueInEachSection) {
  for (const Section section : {Section::top, Section::provider, Section::mode}) {
    for (const std::string_view name : config_key_names(section)) {
      const auto names = config_key_names(section);
      EXPECT_EQ(std::ranges::count(names, name), 1) << name;
      EXPECT_FALSE(find_config_key(section, name)->help.empty()) << name;
    }
  }
}

TEST(ConfigKeys, HoldWhatIsSet) {
  const Value values[] = {std::string("required"),
                          true,
                          std::int64_t{7},
                          0.5,
                          std::vector<std::string>{"a", "b"},
                          provider::TextTable{{"a", "b"}},
                          RawJson::parse(R"({"a":1})").value_or(RawJson())};
  for (const Setting& setting : config_keys()) {
    Settings all;
    ProviderSettings provider;
    RequestSettings request;
    Mode mode;
    const SettingTarget target(&all, &provider, &request, &mode);
    EXPECT_EQ(setting.get(setting, target), std::nullopt) << setting.name;
    const Value& value = values[static_cast<std::size_t>(setting.kind)];
    setting.set(setting, target, value);
    EXPECT_EQ(setting.get(setting, target), value) << setting.name;
    EXPECT_EQ(setting.get(setting, SettingSource()), std::nullopt) << setting.name;
  }
}

}  // namespace
}  // namespace reprise::cli
