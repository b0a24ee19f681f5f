#include "cli/provider_choice.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "base/file.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/process_environment.h"
#include "cli/run_flags.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/provider.h"
#include "reprise/session.h"

namespace reprise::cli {
namespace {

using testing::HasSubstr;

class ProviderChoiceTest : public testing::Test {
 protected:
  ProviderChoiceTest() {
    std::string name = testing::TempDir() + "reprise-choice-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ProviderChoiceTest() override { std::filesystem::remove_all(folder_); }

  void config(std::string_view text) { std::ofstream(folder_ / "config.toml") << text; }

  Result<ProviderChoice> choose(std::map<std::string, std::string, std::less<>> variables,
                                const Session* session = nullptr, std::string_view mode = "") {
    config("");
    return choose_with_config(std::move(variables), session, mode);
  }

  Result<ProviderChoice> choose_with_config(
      std::map<std::string, std::string, std::less<>> variables, const Session* session = nullptr,
      std::string_view mode = "") {
    Globals globals;
    globals.config = (folder_ / "config.toml").string();
    const ProcessEnvironment environment(std::move(variables));
    const Fd nowhere = *open_file("/dev/null", O_WRONLY);
    Output out(nowhere.get(), "out");
    Output err(nowhere.get(), "err");
    Context context(globals, environment, out, err);
    return choose_provider(context, flags_, session, mode);
  }

  static Session session(std::string provider, std::string model, std::string_view config) {
    Session session{.info = {.id = make_session_id(system_clock(), system_entropy())}};
    session.info.provider = std::move(provider);
    session.info.model = std::move(model);
    session.config = RawJson::parse(std::string(config)).value_or(RawJson());
    return session;
  }

  std::filesystem::path folder_;
  RunFlags flags_;
};

TEST_F(ProviderChoiceTest, AKeyInTheEnvironmentChooses) {
  EXPECT_EQ(choose({{"ANTHROPIC_API_KEY", "k1"}, {"OPENAI_API_KEY", "k2"}})->name, "anthropic");
  const auto openai = choose({{"OPENAI_API_KEY", "k2"}});
  EXPECT_EQ(openai->name, "openai-responses");
  EXPECT_EQ(openai->options.api_key, "k2");
  flags_.model = "m";  // else the server is asked
  EXPECT_EQ(choose({{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "http://h/v1"}})->name,
            "openai-chat");
}

TEST_F(ProviderChoiceTest, FlagsBeatTheSessionWhichBeatsTheSettings) {
  const Session before = session("anthropic", "old-model", "null");
  const auto resumed = choose({{"REPRISE_PROVIDER", "echo"}, {"ANTHROPIC_API_KEY", "k"}}, &before);
  EXPECT_EQ(resumed->name, "anthropic");
  EXPECT_EQ(resumed->model, "old-model");
  flags_.provider = "echo";
  const auto flagged = choose({}, &before);
  EXPECT_EQ(flagged->name, "echo");
  EXPECT_EQ(flagged->model, "echo");
}

TEST_F(ProviderChoiceTest, ModelsOfOneProviderDoNotReachAnother) {
  config("provider = 'anthropic'\nmodel = 'c'\n[providers.openai-chat]\nmodel = 'g'\n");
  EXPECT_EQ(choose_with_config({{"ANTHROPIC_API_KEY", "k"}})->model, "c");
  flags_.provider = "openai-chat";
  EXPECT_EQ(choose_with_config({{"OPENAI_API_KEY", "k"}})->model, "g");
  flags_.provider = "openai-responses";
  EXPECT_EQ(choose_with_config({{"OPENAI_API_KEY", "k"}})->model,
            find_provider_kind("openai-responses")->default_model);
}

TEST_F(ProviderChoiceTest, DevPicksTheCheaperModelAndAModeItsOwn) {
  EXPECT_EQ(choose({{"ANTHROPIC_API_KEY", "k"}}, nullptr, "mode-model")->model, "mode-model");
  flags_.dev = true;
  config("provider = 'anthropic'\ndev_model = 'small'\n");
  EXPECT_EQ(choose_with_config({{"ANTHROPIC_API_KEY", "k"}})->model, "small");
}

TEST_F(ProviderChoiceTest, AKeyOfOneProviderIsNotSentToAnother) {
  config("provider = 'anthropic'\nbase_url = 'http://h/'\nenv_key = 'MINE'\nmodel = 'm'\n");
  EXPECT_EQ(choose_with_config({{"MINE", "secret"}})->options.api_key, "secret");
  flags_.provider = "openai-chat";
  const auto other = choose_with_config({{"MINE", "secret"}, {"OPENAI_API_KEY", "k"}});
  EXPECT_EQ(other->options.api_key, "k");
  EXPECT_EQ(other->options.base_url, "");
}

TEST_F(ProviderChoiceTest, GoesBackToALocalServerWithoutAKey) {
  const Session local = session("openai-chat", "m", R"({"base_url":"http://127.0.0.1:11434/v1"})");
  const auto choice = choose({{"OPENAI_API_KEY", "k"}}, &local);
  EXPECT_EQ(choice->options.base_url, "http://127.0.0.1:11434/v1");
  EXPECT_EQ(choice->options.api_key, "");
}

TEST_F(ProviderChoiceTest, FollowsNoOtherServerOutOfASession) {
  for (const char* const url : {"http://evil.example/v1", "http://127.0.0.1.evil.example/",
                                "http://localhost@evil.example/", "http://127.0.0.1:80@evil/"}) {
    const Session foreign =
        session("openai-chat", "m", std::string(R"({"base_url":")") + url + "\"}");
    EXPECT_EQ(choose({{"OPENAI_API_KEY", "k"}}, &foreign)->options.base_url, "") << url;
  }
}

TEST_F(ProviderChoiceTest, SaysWhatIsMissing) {
  flags_.provider = "anthropic";
  const auto none = choose({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::unauthorized);
  EXPECT_THAT(none.error().message, HasSubstr("ANTHROPIC_API_KEY"));
  config("[providers.anthropic]\nenv_key = 'MINE'\n");
  EXPECT_THAT(choose_with_config({}).error().message, HasSubstr("the variable MINE"));
  flags_ = {};
  EXPECT_THAT(choose({{"REPRISE_PROVIDER", "nobody"}}).error().message,
              HasSubstr("no provider is called 'nobody'"));
}

TEST(KeyCommand, TakesOneLine) {
  EXPECT_EQ(*run_key_command("printf 'key\\n'"), "key");
  EXPECT_FALSE(run_key_command("true"));
  EXPECT_FALSE(run_key_command("printf 'a\\nb\\n'"));
  EXPECT_FALSE(run_key_command("exit 3"));
}

}  // namespace
}  // namespace reprise::cli
