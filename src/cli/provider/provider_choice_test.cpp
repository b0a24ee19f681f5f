#include "cli/provider/provider_choice.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "cli/process/key_command.h"
#include "cli/provider/request_choice.h"
#include "cli/settings/program_config.h"

namespace reprise::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ProviderChoiceTest : public testing::Test {
 protected:
  void config(std::string_view text) { std::ofstream(folder_ / "config.toml") << text; }

  Result<ProviderChoice> choose(std::map<std::string, std::string, std::less<>> variables,
                                const Session* session = nullptr, std::string_view mode = "") {
    config("");
    return choose_with_config(std::move(variables), session, mode);
  }

  Result<ProviderChoice> choose_with_config(
      std::map<std::string, std::string, std::less<>> variables, const Session* session = nullptr,
      std::string_view mode = "") {
    flags_.sends_nothing = true;  // do not ask servers for their models
    Globals globals;
    globals.config = (folder_ / "config.toml").string();
    variables.emplace("HOME", folder_.string());
    const ProcessEnvironment environment(std::move(variables));
    const Fd nowhere = *open_file("/dev/null", O_WRONLY);
    Output out(nowhere.get(), "out");
    Output err(nowhere.get(), "err");
    Context context(globals, environment, out, err);
    REPRISE_ASSIGN(ProviderChoice choice, choose_provider(context, flags_, session, mode));
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    REPRISE_TRY(choose_request(context, flags_, *settings, choice));
    if (remembers_) {
      remember_server(context, *settings, choice);
    }
    return choice;
  }

  // Uses a server in the store of the settings.
  void give(std::string url) {
    flags_.base_url = std::move(url);
    remembers_ = true;
    EXPECT_TRUE(choose({}));
    flags_ = {};
    remembers_ = false;
  }

  static Session session(std::string provider, std::string model, std::string_view config) {
    Session session{.info = {.id = make_session_id(system_clock(), system_entropy())}};
    session.info.provider = std::move(provider);
    session.info.model = std::move(model);
    session.config = RawJson::parse(std::string(config)).value_or(RawJson());
    return session;
  }

  const test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  RunFlags flags_;
  bool remembers_ = false;  // the chosen server
};

// "KEY>BASE_URL", or the error.
std::string sent(const Result<ProviderChoice>& choice) {
  return choice ? choice->options.api_key + ">" + choice->options.base_url : choice.error().message;
}

TEST_F(ProviderChoiceTest, AKeyInTheEnvironmentChooses) {
  EXPECT_EQ(choose({{"ANTHROPIC_API_KEY", "k1"}, {"OPENAI_API_KEY", "k2"}})->name, "anthropic");
  const auto openai = choose({{"OPENAI_API_KEY", "k2"}});
  EXPECT_EQ(openai->name, "openai-responses");
  EXPECT_EQ(openai->options.api_key, "k2");
  flags_.model = "m";  // else the server would be asked
  EXPECT_EQ(choose({{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "https://h/v1"}})->name,
            "openai-chat");
}

TEST_F(ProviderChoiceTest, FlagsOverrideTheSessionWhichOverridesTheSettings) {
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

TEST_F(ProviderChoiceTest, DevAndModesChooseTheirModels) {
  EXPECT_EQ(choose({{"ANTHROPIC_API_KEY", "k"}}, nullptr, "mode-model")->model, "mode-model");
  flags_.dev = true;
  config("provider = 'anthropic'\ndev_model = 'small'\n");
  EXPECT_EQ(choose_with_config({{"ANTHROPIC_API_KEY", "k"}})->model, "small");
}

TEST_F(ProviderChoiceTest, AKeyOfOneProviderIsNotSentToAnother) {
  config("provider = 'anthropic'\nbase_url = 'https://h/'\nenv_key = 'MINE'\nmodel = 'm'\n");
  EXPECT_EQ(choose_with_config({{"MINE", "secret"}})->options.api_key, "secret");
  flags_.provider = "openai-chat";
  const auto other = choose_with_config({{"MINE", "secret"}, {"OPENAI_API_KEY", "k"}});
  EXPECT_EQ(other->options.api_key, "k");
  EXPECT_EQ(other->options.base_url, "");
}

TEST_F(ProviderChoiceTest, GoesBackToALocalServerThatWasGivenInThisStore) {
  const Session local = session("openai-chat", "m", R"({"base_url":"http://127.0.0.1:7/v1"})");
  give("http://127.0.0.1:7/v1?key=secret");
  EXPECT_EQ(sent(choose({{"OPENAI_API_KEY", "k"}}, &local)), "k>");  // given with a key only
  flags_.base_url = "http://127.0.0.1:7/v1";
  EXPECT_TRUE(choose({}));
  flags_ = {};
  EXPECT_EQ(sent(choose({{"OPENAI_API_KEY", "k"}}, &local)), "k>");  // only looked at
  give("http://127.0.0.1:7/v1");
  const auto choice = choose({{"OPENAI_API_KEY", "k"}}, &local);
  EXPECT_EQ(sent(choice), ">http://127.0.0.1:7/v1");
  EXPECT_THAT(choice->warnings, IsEmpty());
  // Another store, and another server, are not meant.
  const Session other = session("openai-chat", "m", R"({"base_url":"http://127.0.0.1:8/v1"})");
  EXPECT_EQ(sent(choose({{"OPENAI_API_KEY", "k"}}, &other)), "k>");
  EXPECT_EQ(
      sent(choose({{"OPENAI_API_KEY", "k"}, {"REPRISE_STORE", "chatdir:/elsewhere"}}, &local)),
      "k>");
  // A torn file is as if nothing was given.
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_ / ".local")) {
    if (file.is_regular_file()) {
      std::filesystem::resize_file(file.path(), 10);
    }
  }
  EXPECT_EQ(sent(choose({{"OPENAI_API_KEY", "k"}}, &local)), "k>");
}

TEST_F(ProviderChoiceTest, DoesNotFollowAServerNamedOnlyByASession) {
  for (const char* const url : {"http://evil.example/v1", "http://127.0.0.1.evil.example/",
                                "http://localhost@evil.example/", "http://127.0.0.1:80@evil/"}) {
    const Session foreign =
        session("openai-chat", "m", std::string(R"({"base_url":")") + url + "\"}");
    EXPECT_EQ(choose({{"OPENAI_API_KEY", "k"}}, &foreign)->options.base_url, "") << url;
  }
}

TEST_F(ProviderChoiceTest, ReportsWhatIsMissing) {
  flags_.provider = "anthropic";
  const auto none = choose({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::unauthorized);
  EXPECT_THAT(none.error().message, HasSubstr("ANTHROPIC_API_KEY"));
  config("[providers.anthropic]\nenv_key = 'MINE'\n");
  EXPECT_THAT(choose_with_config({}).error().message, HasSubstr("the variable MINE"));
  flags_ = {};
  EXPECT_THAT(choose({{"REPRISE_PROVIDER", "nobody"}}).error().message,
              HasSubstr("unknown provider 'nobody'"));
}

TEST_F(ProviderChoiceTest, ATopLevelKeyIsSentOnlyToTheServerBesideIt) {
  config("provider = 'openai-responses'\nkey_command = 'echo top'\n");
  EXPECT_EQ(sent(choose_with_config({})), "top>");
  // Another provider does not get the key, however it is chosen.
  EXPECT_THAT(sent(choose_with_config({{"REPRISE_PROVIDER", "anthropic"}})),
              AllOf(HasSubstr("no key for anthropic"), Not(HasSubstr("top"))));
  const Session claude = session("anthropic", "m", "null");
  EXPECT_EQ(choose_with_config({}, &claude)->name, "openai-responses");
  flags_.provider = "anthropic";
  EXPECT_THAT(sent(choose_with_config({}, &claude)), HasSubstr("no key for anthropic"));
  flags_ = {};
  flags_.base_url = "https://other.test/v1";
  EXPECT_EQ(sent(choose_with_config({{"OPENAI_API_KEY", "k"}})), ">https://other.test/v1");
  // A key without a provider or a server beside it is not used.
  flags_ = {};
  config("key_command = 'echo top'\n");
  EXPECT_THAT(sent(choose_with_config({{"REPRISE_PROVIDER", "anthropic"}})),
              HasSubstr("is set without a provider: set provider or base_url in the same place"));
}

TEST_F(ProviderChoiceTest, AVariableIsSentOnlyToItsServer) {
  flags_.provider = "openai-chat";
  EXPECT_EQ(sent(choose({{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "https://p.test/v1"}})),
            "k>https://p.test/v1");
  EXPECT_EQ(choose({{"OPENAI_BASE_URL", "https://p.test/v1"}})->options.key_advice,
            "set OPENAI_API_KEY");
  flags_.base_url = "https://api.openai.com/v1";
  EXPECT_THAT(sent(choose({{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "https://p.test/v1"}})),
              HasSubstr("OPENAI_API_KEY belongs to p.test"));
  flags_.base_url = "https://api.openai.com.evil.test/v1";
  const auto evil = choose({{"OPENAI_API_KEY", "k"}});
  EXPECT_EQ(sent(evil), ">https://api.openai.com.evil.test/v1");
  EXPECT_THAT(evil->options.key_advice, HasSubstr("OPENAI_API_KEY belongs to api.openai.com"));
}

TEST_F(ProviderChoiceTest, ASectionBindsAKeyToAServer) {
  config("[providers.mine]\nbase_url = 'https://mine.test/v1'\nenv_key = 'MINE'\nmodel = 'm'\n");
  const std::map<std::string, std::string, std::less<>> variables = {{"MINE", "my"},
                                                                     {"OPENAI_API_KEY", "k"}};
  flags_.provider = "mine";
  EXPECT_EQ(sent(choose_with_config(variables)), "my>https://mine.test/v1");
  flags_.provider.reset();
  flags_.base_url = "https://mine.test/v1/other";
  EXPECT_EQ(sent(choose_with_config(variables)), "my>https://mine.test/v1/other");
  flags_.base_url = "https://mine.test:8443/v1";
  EXPECT_EQ(sent(choose_with_config(variables)), ">https://mine.test:8443/v1");
  // A session returns to its server, as the settings name the server.
  flags_ = {};
  const Session held =
      session("openai-chat", "x", R"({"base_url":"https://mine.test/v1?key=***"})");
  EXPECT_EQ(sent(choose_with_config(variables, &held)), "my>https://mine.test/v1");
}

// Two accounts on one server.
TEST_F(ProviderChoiceTest, SectionsOfOneServerAreSeparate) {
  config(
      "[providers.alice]\nbase_url = 'https://gate.test/v1'\nenv_key = 'ALICE'\nmodel = 'm'\n"
      "headers = { X-Mine = 'alice' }\neffort = 'high'\n"
      "[providers.bob]\nbase_url = 'https://gate.test/v1'\nenv_key = 'BOB'\nmodel = 'm'\n"
      "seed = 2\n"
      "[providers.carl]\nbase_url = 'https://gate.test/v1'\nmodel = 'm'\n");
  const std::map<std::string, std::string, std::less<>> keys = {{"ALICE", "a"}, {"BOB", "b"}};
  const auto described = [&](const Result<ProviderChoice>& choice) {
    return cat(sent(choice), " ", choice ? choice->options.headers.size() : 99U);
  };
  flags_.provider = "alice";
  EXPECT_EQ(described(choose_with_config(keys)), "a>https://gate.test/v1 1");
  flags_.provider = "bob";
  EXPECT_EQ(described(choose_with_config(keys)), "b>https://gate.test/v1 0");
  flags_.provider = "carl";
  EXPECT_EQ(described(choose_with_config(keys)), ">https://gate.test/v1 0");
  flags_ = {};
  const Session bobs = session("bob", "m", R"({"base_url":"https://gate.test/v1"})");
  EXPECT_EQ(described(choose_with_config(keys, &bobs)), "b>https://gate.test/v1 0");
}

// A table of a known server without base_url.
TEST_F(ProviderChoiceTest, HeadersAreSentOnlyInTheServersProtocol) {
  const std::string table = "[providers.groq]\nheaders = { X-Gateway = 'g' }\n";
  const auto headers = [&](const char* protocol, const char* url) {
    flags_.provider = protocol;
    flags_.base_url = url;
    const auto choice = choose_with_config({{"GROQ_API_KEY", "k"}});
    return choice ? std::to_string(choice->options.headers.size()) : choice.error().message;
  };
  flags_.model = "m";
  config(table);
  EXPECT_EQ(headers("openai-chat", "https://api.groq.com/openai/v1"), "1");
  EXPECT_EQ(headers("openai-chat", "https://elsewhere.test/openai/v1"), "0");
  EXPECT_EQ(headers("anthropic", "https://api.groq.com/openai/v1"), "0");
  config(table + "protocol = 'anthropic'\n");
  EXPECT_EQ(headers("openai-chat", "https://api.groq.com/openai/v1"), "0");
  EXPECT_EQ(headers("anthropic", "https://api.groq.com/openai/v1"), "1");
}

TEST_F(ProviderChoiceTest, KeysDoNotCrossTheNetworkInClearText) {
  flags_.provider = "openai-chat";
  const auto at = [&](std::string url) {
    return choose({{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", std::move(url)}});
  };
  EXPECT_THAT(sent(at("http://localhost.evil.test/v1")), HasSubstr("unencrypted"));
  EXPECT_THAT(sent(at("http://127.0.0.1.evil.test/v1")), HasSubstr("unencrypted"));
  EXPECT_EQ(sent(at("http://127.0.0.1:9/v1")), "k>http://127.0.0.1:9/v1");
  EXPECT_EQ(sent(at("http://me:word@127.0.0.1:9/v1")), "k>http://me:word@127.0.0.1:9/v1");
  flags_.base_url = "http://lan.test/v1?api-key=s";
  EXPECT_THAT(sent(choose({})), HasSubstr("unencrypted"));
  flags_.base_url.reset();
  config("insecure = true\n");
  EXPECT_EQ(sent(choose_with_config(
                {{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "http://lan.test/v1"}})),
            "k>http://lan.test/v1");
}

TEST_F(ProviderChoiceTest, GoesBackToALocalServerWithItsKey) {
  config("[providers.local]\nbase_url = 'http://127.0.0.1:9/v1'\nkey_command = 'echo mine'\n");
  const Session local = session("openai-chat", "m", R"({"base_url":"http://127.0.0.1:9/v1"})");
  EXPECT_EQ(sent(choose_with_config({{"OPENAI_API_KEY", "k"}}, &local)),
            "mine>http://127.0.0.1:9/v1");
}

TEST_F(ProviderChoiceTest, SettingsReplaceALocalServerThatTheyNoLongerName) {
  give("http://127.0.0.1:7/v1");
  const Session held = session("openai-chat", "m", R"({"base_url":"http://127.0.0.1:7/v1"})");
  const std::string corrected = "base_url = 'http://127.0.0.1:9/v1'\n";
  for (const std::string& text : {corrected, "provider = 'work'\n[providers.work]\n" + corrected}) {
    config(text);
    const auto choice = choose_with_config({{"OPENAI_API_KEY", "k"}}, &held);
    EXPECT_EQ(sent(choice), ">http://127.0.0.1:9/v1") << text;
    EXPECT_THAT(choice->warnings,
                ElementsAre(HasSubstr("the session used 127.0.0.1:7; 127.0.0.1:9 continues it")));
  }
  // The conversation neither leaves this machine, nor its server if the settings name it, too.
  for (const std::string text :
       {"provider = 'work'\n[providers.work]\nbase_url = 'https://work.test/v1'\n",
        "provider = 'work'\n[providers.work]\nbase_url = 'http://127.0.0.1:9/v1'\n"
        "[providers.other]\nbase_url = 'http://127.0.0.1:7/v1'\n"}) {
    config(text);
    EXPECT_EQ(sent(choose_with_config({{"OPENAI_API_KEY", "k"}}, &held)), ">http://127.0.0.1:7/v1")
        << text;
  }
}

TEST_F(ProviderChoiceTest, ASessionFollowsItsProviderToAnotherServer) {
  give("http://127.0.0.1:9/v1");
  config("[providers.work]\nbase_url = 'https://new.test/v1'\nprotocol = 'anthropic'\n");
  const Session work = session("work", "m", R"({"base_url":"https://old.test/v1"})");
  const auto choice = choose_with_config({{"OPENAI_API_KEY", "k"}}, &work);
  EXPECT_EQ(sent(choice), ">https://new.test/v1");
  EXPECT_EQ(choice->kind, "anthropic");
  EXPECT_EQ(choice->name, "work");
  EXPECT_EQ(choice->model, "m");
  EXPECT_THAT(choice->warnings,
              ElementsAre(HasSubstr("the session used old.test; new.test continues it")));
  // The name is of other settings.
  const Session other = session("other", "m", R"({"base_url":"http://127.0.0.1:9/v1"})");
  EXPECT_EQ(sent(choose_with_config({{"OPENAI_API_KEY", "k"}}, &other)), ">http://127.0.0.1:9/v1");
}

TEST_F(ProviderChoiceTest, RecognisesNamesThatOtherProgramsStore) {
  const Session google = session("google", "gemini-2.5-flash", "null");
  const auto choice = choose({{"GEMINI_API_KEY", "g"}, {"OPENAI_API_KEY", "k"}}, &google);
  EXPECT_EQ(sent(choice), "g>https://generativelanguage.googleapis.com/v1beta/openai");
  EXPECT_EQ(choice->kind, "openai-chat");
  EXPECT_EQ(choice->name, "google");
  EXPECT_EQ(choice->model, "gemini-2.5-flash");
  EXPECT_TRUE(choice->is_sessions_own);
  EXPECT_THAT(choice->warnings, IsEmpty());
  const Session ollama = session("ollama", "llama3", "null");
  EXPECT_EQ(sent(choose({{"REPRISE_LOCAL_PORTS", "none"}}, &ollama)), ">http://127.0.0.1:11434/v1");
  const Session cerebras = session("cerebras", "gpt-oss-120b", "null");
  EXPECT_THAT(sent(choose({{"REPRISE_LOCAL_PORTS", "none"}}, &cerebras)),
              HasSubstr("no key for cerebras: set CEREBRAS_API_KEY"));
  EXPECT_EQ(sent(choose({{"OPENAI_API_KEY", "k"}}, &cerebras)), "k>");
  const Session openai = session("openai", "gpt-4o", "null");
  EXPECT_EQ(sent(choose({{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "a"}}, &openai)), "k>");
}

TEST_F(ProviderChoiceTest, WarnsWhenAnotherModelAnswers) {
  const Session nameless = session("", "gpt-4o", "null");
  const auto own = choose({{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "a"}}, &nameless);
  EXPECT_EQ(own->model, "gpt-4o");
  EXPECT_EQ(own->options.api_key, "k");
  EXPECT_THAT(own->warnings, IsEmpty());
  const auto other = choose({{"ANTHROPIC_API_KEY", "a"}}, &nameless);
  EXPECT_EQ(other->name, "anthropic");
  EXPECT_FALSE(other->is_sessions_own);
  EXPECT_THAT(other->warnings, ElementsAre(HasSubstr("the session used gpt-4o; ")));
  const Session strange = session("elsewhere", "m1", "null");
  EXPECT_THAT(choose({{"ANTHROPIC_API_KEY", "a"}}, &strange)->warnings,
              ElementsAre(HasSubstr("the session used m1 of elsewhere; ")));
  const Session unreachable = session("openai-chat", "m", R"({"base_url":"https://away.test/v1"})");
  EXPECT_THAT(choose({{"OPENAI_API_KEY", "k"}}, &unreachable)->warnings,
              ElementsAre(HasSubstr("the session used away.test; api.openai.com continues")));
}

TEST_F(ProviderChoiceTest, AnotherServerKeepsTheSessionsProviderAndModel) {
  const Session claude = session("anthropic", "claude-x", "null");
  flags_.base_url = "https://proxy.test";
  const auto choice = choose({{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "a"}}, &claude);
  EXPECT_EQ(choice->name, "anthropic");
  EXPECT_EQ(choice->model, "claude-x");
  EXPECT_EQ(sent(choice), ">https://proxy.test");
}

TEST(KeyCommand, ReadsOneLine) {
  EXPECT_EQ(*run_key_command("printf 'key\\n'"), "key");
  EXPECT_FALSE(run_key_command("true"));
  EXPECT_FALSE(run_key_command("printf 'a\\nb\\n'"));
  EXPECT_EQ(run_key_command("echo key; exit 3").error().message,
            "key_command ended with exit code 3; run it in a shell to see why");
  EXPECT_EQ(run_key_command("kill -9 $$").error().message,
            "key_command ended with signal 9; run it in a shell to see why");
}

// Otherwise files would be created in "/.local".
TEST(ProgramConfig, WithoutAHomeIsAnError) {
  const Fd nowhere = *open_file("/dev/null", O_WRONLY);
  Output out(nowhere.get(), "out");
  Output err(nowhere.get(), "err");
  const Globals globals;
  const ProcessEnvironment none;
  Context context(globals, none, out, err);
  const auto settings = context.config().settings();
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().message.find("HOME is not set"), std::string::npos);
  const ProcessEnvironment folders{
      {{"XDG_DATA_HOME", "/n/d"}, {"XDG_STATE_HOME", "/n/s"}, {"XDG_CONFIG_HOME", "/n/c"}}};
  Context with_folders(globals, folders, out, err);
  EXPECT_TRUE(with_folders.config().settings());
}

}  // namespace
}  // namespace reprise::cli
