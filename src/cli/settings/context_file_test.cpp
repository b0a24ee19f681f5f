#include "cli/settings/context_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temporary_folder.h"

namespace reprise::cli {
namespace {

using testing::HasSubstr;

class ContextFile : public testing::Test {
 protected:
  ContextFile() {
    std::filesystem::create_directories(folder_ / ".git");
    std::filesystem::create_directories(file_.parent_path());
  }

  // The settings with the context file, searched for or named.
  Settings apply(std::string_view text, bool was_searched = true) {
    std::ofstream(file_) << text;
    Settings settings = settings_;
    std::vector<std::string> warnings;
    EXPECT_TRUE(
        apply_context_file(settings, {.file = file_, .was_searched = was_searched}, warnings));
    return settings;
  }
  static const ProviderSettings& chosen(const Settings& settings) {
    return settings.providers.at(settings.provider.value_or(""));
  }

  const test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  std::filesystem::path file_ = folder_ / ".ai" / "openai.json";
  Settings settings_;
};

TEST_F(ContextFile, AnUntrustedOneFromASearchChoosesNoServerElsewhere) {
  const char* const elsewhere = R"({"base_url": "https://elsewhere.test/v1", "conversation": []})";
  const Settings found = apply(elsewhere);
  EXPECT_THAT(chosen(found).refusal, HasSubstr("to be sent to https://elsewhere.test/v1"));
  EXPECT_EQ(chosen(found).base_url, std::nullopt);
  EXPECT_EQ(chosen(apply(R"({"base_url": "http://127.0.0.1:7/v1", "conversation": []})")).base_url,
            "http://127.0.0.1:7/v1");
  EXPECT_EQ(
      chosen(apply(R"({"base_url": "https://api.openai.com/v2", "conversation": []})")).refusal,
      "");
  // Naming the file permits its server, and so does trusting its folder.
  EXPECT_EQ(chosen(apply(elsewhere, false)).base_url, "https://elsewhere.test/v1");
  settings_.trust = {folder_.string()};
  EXPECT_EQ(chosen(apply(elsewhere)).base_url, "https://elsewhere.test/v1");
}

TEST_F(ContextFile, AnUntrustedOneChoosesNoVariable) {
  const char* const wants =
      R"({"base_url": "http://127.0.0.1:7/v1", "env_key": "MINE", "conversation": []})";
  for (const bool was_searched : {true, false}) {
    const Settings settings = apply(wants, was_searched);
    EXPECT_THAT(chosen(settings).refusal, HasSubstr("wants the variable MINE to be sent as a key"));
    EXPECT_EQ(chosen(settings).env_key, std::nullopt);
  }
  settings_.trust = {folder_.string()};
  EXPECT_EQ(chosen(apply(wants)).env_key, "MINE");
  EXPECT_EQ(chosen(apply(wants)).key_url, "http://127.0.0.1:7/v1");
}

TEST_F(ContextFile, OnlyATrustedOneBindsTheUsualVariableToItsServer) {
  const char* const other = R"({"base_url": "https://elsewhere.test/v1", "conversation": []})";
  EXPECT_EQ(chosen(apply(other, false)).env_key, std::nullopt);
  settings_.trust = {folder_.string()};
  EXPECT_EQ(chosen(apply(other)).env_key, "OPENAI_API_KEY");
  EXPECT_EQ(chosen(apply(other)).key_url, "https://elsewhere.test/v1");
  // The provider's own server gets it anyway.
  EXPECT_EQ(
      chosen(apply(R"({"base_url": "https://api.openai.com/v2", "conversation": []})")).env_key,
      std::nullopt);
}

TEST_F(ContextFile, ModelsAndServersOfOtherProvidersAreDropped) {
  settings_.provider = "anthropic";
  settings_.providers["openai-chat"].base_url = "https://mine.test";
  settings_.providers["openai-chat"].model = "mine";
  settings_.tops.resize(2);
  settings_.tops[0].own.base_url = "https://top.test";
  settings_.tops[0].own.model = "claude";
  settings_.tops[1].own.model = "variable";
  settings_.tops[1].from = "REPRISE_MODEL";
  const Settings settings = apply(R"({"conversation": []})");
  EXPECT_EQ(settings.provider, "openai-chat");
  EXPECT_EQ(chosen(settings).base_url, std::nullopt);
  EXPECT_EQ(chosen(settings).model, "mine");
  EXPECT_EQ(settings.tops[0].own.base_url, std::nullopt);
  EXPECT_EQ(settings.tops[0].own.model, std::nullopt);
  EXPECT_EQ(settings.tops[1].own.model, "variable");
  settings_.provider = "openai-chat";
  EXPECT_EQ(apply(R"({"conversation": []})").tops[0].own.model, "claude");
}

TEST_F(ContextFile, KeysOfTheSettingsStayWithTheirServer) {
  ProviderSettings& mine = settings_.providers["mine"];
  mine.base_url = "https://mine.test";
  mine.env_key = "MINE";  // from a file without the server, so that it is for the provider's own
  EXPECT_EQ(chosen(apply(R"({"provider": "mine", "conversation": []})")).base_url,
            "https://mine.test");
  const Settings settings =
      apply(R"({"provider": "mine", "base_url": "http://127.0.0.1:7/v1", "conversation": []})");
  EXPECT_EQ(chosen(settings).base_url, "http://127.0.0.1:7/v1");
  EXPECT_EQ(chosen(settings).key_url, "https://mine.test");
}

}  // namespace
}  // namespace reprise::cli
