// The rules of docs/choice.md, one test each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/text.h"
#include "choice/resolve.h"

namespace reprise::choice {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kLocal = "http://127.0.0.1:7/v1";
constexpr std::string_view kWork = "https://work.test/v1";

// The keys at the top of a file.
struct Top {
  std::optional<std::string> base_url = std::nullopt;
  std::optional<std::string> model = std::nullopt;
  std::optional<std::string> key_command = std::nullopt;
};

class ChoiceTest : public testing::Test {
 protected:
  Sources sources() {
    return {.settings = settings_,
            .variable =
                [this](std::string_view name) {
                  const auto found = variables_.find(name);
                  return found == variables_.end() ? std::nullopt : std::optional(found->second);
                },
            .session = session_ ? &*session_ : nullptr,
            .run_key_command = [](const std::string& command) -> Result<std::string> {
              return cat("output of ", command);
            },
            .models =
                [this](Provider&) {
                  ++asked_;
                  return models_;
                },
            .local_servers = [this] { return local_servers_; },
            .was_given = [this](const std::string& url) { return url == given_; }};
  }

  Result<ProviderChoice> choose() {
    auto choice = resolve(sources(), wanted_);
    if (choice) {
      const auto applied = apply_sections(sources(), wanted_, *choice);
      if (!applied) {
        return std::unexpected(applied.error());
      }
    }
    return choice;
  }

  // "NAME KEY>URL MODEL", or the error.
  std::string chosen() {
    const auto choice = choose();
    return choice ? cat(choice->name, " ", choice->options.api_key, ">", choice->options.base_url,
                        " ", choice->model)
                  : choice.error().message;
  }
  // "KEY>URL", or the error.
  std::string sent() {
    const auto choice = choose();
    return choice ? cat(choice->options.api_key, ">", choice->options.base_url)
                  : choice.error().message;
  }

  void resume(std::string provider, std::string model, std::string_view url = "") {
    session_ = Session{.info = {.id = make_session_id(system_clock(), system_entropy())}};
    session_->info.provider = std::move(provider);
    session_->info.model = std::move(model);
    session_->config =
        url.empty() ? RawJson() : *RawJson::parse(cat(R"({"base_url":")", url, "\"}"));
  }

  void offer(const std::vector<std::string>& models) {
    models_.emplace();
    for (const std::string& model : models) {
      models_->push_back({model, "", ""});
    }
  }

  ProviderSettings& section(std::string_view name, std::string_view url = "") {
    ProviderSettings& out = settings_.providers[std::string(name)];
    if (!url.empty()) {
      out.base_url = url;
      out.key_url = url;
    }
    return out;
  }
  TopSettings& top(Top keys, std::optional<std::string> provider = std::nullopt) {
    TopSettings& out = settings_.tops.emplace_back();
    out.provider = std::move(provider);
    out.own.base_url = keys.base_url;
    out.own.key_url = keys.base_url.value_or("");
    out.own.model = keys.model;
    out.own.key_command = keys.key_command;
    out.from = "FILE";
    return out;
  }

  Settings settings_;
  std::map<std::string, std::string, std::less<>> variables_;
  std::optional<Session> session_;
  std::string given_ = std::string(kLocal);  // the local server that the user gave
  Wanted wanted_{.model = "m"};
  Result<std::vector<ModelInfo>> models_ = std::vector<ModelInfo>{};
  int asked_ = 0;
  std::vector<LocalServer> local_servers_;
};

// P: the provider.

using ChoiceOfProvider = ChoiceTest;

TEST_F(ChoiceOfProvider, AFlagComesFirst) {
  resume("anthropic", "c");
  settings_.provider = "openai-chat";
  wanted_.provider = "echo";
  EXPECT_EQ(chosen(), "echo > m");
}

TEST_F(ChoiceOfProvider, ASessionContinuesWithItsOwn) {
  resume("anthropic", "c");
  settings_.provider = "echo";
  variables_ = {{"ANTHROPIC_API_KEY", "a"}};
  EXPECT_EQ(chosen(), "anthropic a> m");
  EXPECT_TRUE(choose()->is_sessions_own);
}

TEST_F(ChoiceOfProvider, ASessionsOneThatCannotBeUsedGivesWayToTheUsualOne) {
  resume("anthropic", "c");
  wanted_.model.reset();
  EXPECT_THAT(chosen(), HasSubstr("no key for anthropic")) << "there is no other";
  top({.base_url = "https://work.test/v1", .model = "w"}, "openai-chat");
  settings_.provider = "openai-chat";
  EXPECT_EQ(chosen(), "openai-chat >https://work.test/v1 w");
  EXPECT_FALSE(choose()->is_sessions_own);
  EXPECT_THAT(choose()->warnings, ElementsAre("the session used c of anthropic, for which there is "
                                              "no key; w of openai-chat continues it"));
  wanted_.model = "m";
  EXPECT_THAT(choose()->warnings, ElementsAre(HasSubstr("; m of openai-chat continues it")));
  wanted_.model.reset();

  settings_.provider.reset();
  settings_.tops.clear();
  variables_ = {{"OPENAI_API_KEY", "k"}};
  EXPECT_THAT(chosen(), testing::StartsWith("openai-")) << "chosen by its variable";
  variables_.clear();
  local_servers_ = {{.name = "Ollama", .base_url = std::string(kLocal), .models = {"l"}}};
  EXPECT_THAT(chosen(), HasSubstr(cat(">", kLocal, " l"))) << "a server on this machine";

  settings_.provider = "openai-chat";
  EXPECT_THAT(chosen(), HasSubstr("no key for anthropic")) << "the usual one has no key either";
  settings_.provider = "echo";
  section("anthropic").env_key = "MISSING";
  EXPECT_THAT(chosen(), HasSubstr("MISSING")) << "a key is set, and cannot be read";
  settings_.providers.clear();
  EXPECT_EQ(choose()->name, "echo");
  wanted_.provider = "anthropic";
  EXPECT_THAT(chosen(), HasSubstr("no key for anthropic")) << "a flag gives way to nothing";
}

// A server on this machine that only the session names.
TEST_F(ChoiceOfProvider, ASessionsServerThatDoesNotRespondGivesWayToTheUsualOne) {
  resume("ollama", "llama");
  wanted_.model.reset();
  given_.clear();
  EXPECT_EQ(chosen(), "ollama >http://127.0.0.1:11434/v1 llama") << "there is no other";
  settings_.provider = "echo";
  EXPECT_EQ(choose()->name, "echo");
  EXPECT_THAT(choose()->warnings,
              ElementsAre("the session used llama of ollama, which does not respond; echo of echo "
                          "continues it"));
  given_ = "http://127.0.0.1:11434/v1";
  EXPECT_EQ(choose()->name, "ollama") << "the user gave it";
  given_.clear();
  local_servers_ = {
      {.name = "Ollama", .base_url = "http://127.0.0.1:11434/v1", .models = {"llama"}}};
  EXPECT_EQ(choose()->name, "ollama");
  local_servers_.clear();
  section("ollama").model = "s";
  EXPECT_EQ(choose()->name, "ollama") << "the settings have it";
}

TEST_F(ChoiceOfProvider, ASessionsOneWithoutAServerDoesNotGetABaseUrl) {
  resume("echo", "echo");
  wanted_.base_url = kWork;
  EXPECT_EQ(chosen(), "openai-chat >https://work.test/v1 m");
}

TEST_F(ChoiceOfProvider, ASessionWithoutOneIsGuessedByItsModelIfThereIsAKey) {
  wanted_.model.reset();
  resume("", "gpt-4o");
  variables_ = {{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "a"}};
  EXPECT_EQ(chosen(), "openai-chat k> gpt-4o");
  variables_.erase("OPENAI_API_KEY");
  EXPECT_EQ(choose()->name, "anthropic");
  EXPECT_THAT(choose()->warnings, ElementsAre(HasSubstr("the session used gpt-4o; ")));
  // Only the lack of a key is passed over.
  resume("", "grok-3");
  variables_.emplace("XAI_API_KEY", "x");
  wanted_.dev = true;
  EXPECT_THAT(chosen(), HasSubstr("no model for xai"));
}

TEST_F(ChoiceOfProvider, AnUnknownNameWithAServerMeansOpenaiChat) {
  resume("elsewhere", "m", kLocal);
  settings_.provider = "anthropic";
  EXPECT_EQ(chosen(), "openai-chat >http://127.0.0.1:7/v1 m");
  resume("elsewhere", "m");
  variables_ = {{"ANTHROPIC_API_KEY", "a"}};
  EXPECT_EQ(chosen(), "anthropic a> m");
}

TEST_F(ChoiceOfProvider, ASettingComesBeforeVariables) {
  settings_.provider = "openai-chat";
  variables_ = {{"ANTHROPIC_API_KEY", "a"}, {"OPENAI_API_KEY", "k"}};
  EXPECT_EQ(chosen(), "openai-chat k> m");
  wanted_.base_url = kWork;
  settings_.provider = "anthropic";
  EXPECT_EQ(chosen(), "openai-chat >https://work.test/v1 m");
}

TEST_F(ChoiceOfProvider, ABaseUrlAloneMeansOpenaiChat) {
  top({.base_url = std::string(kWork)});
  variables_ = {{"ANTHROPIC_API_KEY", "a"}};
  EXPECT_EQ(chosen(), "openai-chat >https://work.test/v1 m");
  settings_.tops.back().provider = "other";  // then it is that provider's
  EXPECT_EQ(choose()->name, "anthropic");
}

TEST_F(ChoiceOfProvider, VariablesChooseThenALocalServer) {
  local_servers_ = {{.name = "Ollama", .base_url = "http://127.0.0.1:11434/v1", .models = {"l"}}};
  variables_ = {
      {"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "https://p.test"}, {"ANTHROPIC_API_KEY", "a"}};
  EXPECT_EQ(choose()->name, "anthropic");
  variables_.erase("ANTHROPIC_API_KEY");
  EXPECT_EQ(choose()->name, "openai-chat");
  variables_.erase("OPENAI_BASE_URL");
  EXPECT_EQ(choose()->name, "openai-responses");
  variables_.clear();
  wanted_.model.reset();
  EXPECT_EQ(chosen(), "ollama >http://127.0.0.1:11434/v1 l");
  local_servers_.clear();
  EXPECT_EQ(choose().error().code, Code::not_found);
}

TEST_F(ChoiceOfProvider, AContextFileIsAskedInsteadOfItsSession) {
  wanted_.model.reset();
  resume("anthropic", "old", kLocal);
  settings_.context_file = "/home/me/.ai/openai.json";
  settings_.provider = "openai-chat";
  section("openai-chat").model = "new";
  variables_ = {{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "a"}};
  EXPECT_EQ(chosen(), "openai-chat k> new");
  EXPECT_THAT(choose()->warnings, IsEmpty());
  resume("openai-chat", "old", kLocal);
  EXPECT_EQ(chosen(), "openai-chat k> new");
}

// S: the server.

using ChoiceOfServer = ChoiceTest;

TEST_F(ChoiceOfServer, AFlagComesFirst) {
  resume("openai-chat", "m", kLocal);
  section("openai-chat", "https://chat.test");
  wanted_.base_url = kWork;
  EXPECT_EQ(sent(), ">https://work.test/v1");
  EXPECT_THAT(choose()->warnings, IsEmpty());
}

TEST_F(ChoiceOfServer, ASessionGoesBackToThisMachine) {
  resume("openai-chat", "m", kLocal);
  variables_ = {{"OPENAI_API_KEY", "k"}, {"OPENAI_BASE_URL", "https://p.test"}};
  EXPECT_EQ(sent(), ">http://127.0.0.1:7/v1");
  for (const std::string_view lookalike :
       {"http://127.0.0.1.evil.test/", "http://localhost@evil.test/",
        "http://127.0.0.1:80@evil/"}) {
    resume("openai-chat", "m", lookalike);
    EXPECT_EQ(sent(), "k>https://p.test") << lookalike;
  }
}

TEST_F(ChoiceOfServer, SettingsMayReplaceAServerOnThisMachine) {
  resume("openai-chat", "m", kLocal);
  // The provider's own wherever it is, the usual provider's on this machine only.
  section("openai-chat", kWork);
  EXPECT_EQ(sent(), ">https://work.test/v1");
  EXPECT_THAT(choose()->warnings,
              ElementsAre(HasSubstr("the session used 127.0.0.1:7; work.test")));
  settings_.providers.clear();
  settings_.provider = "mine";
  section("mine", "http://127.0.0.1:9/v1");
  EXPECT_EQ(sent(), ">http://127.0.0.1:9/v1");
  section("mine", kWork);
  EXPECT_EQ(sent(), ">http://127.0.0.1:7/v1");
  section("mine", "http://127.0.0.1:9/v1").protocol = "anthropic";
  EXPECT_EQ(sent(), ">http://127.0.0.1:7/v1");
  // Nor if they name the session's server, too.
  section("mine").protocol.reset();
  section("other", kLocal);
  EXPECT_EQ(sent(), ">http://127.0.0.1:7/v1");
}

TEST_F(ChoiceOfServer, ASessionsServerElsewhereMustBeInTheSettings) {
  resume("openai-chat", "m", "https://work.test/v1?key=***");
  variables_ = {{"OPENAI_API_KEY", "k"}};
  EXPECT_EQ(sent(), "k>");
  EXPECT_THAT(choose()->warnings, ElementsAre(HasSubstr("the session used work.test; api.openai")));
  section("mine", "https://work.test/v1?key=secret");
  section("first", "https://work.test/v1");
  EXPECT_EQ(sent(), ">https://work.test/v1?key=secret");
  EXPECT_THAT(choose()->warnings, IsEmpty());
  section("mine").protocol = "anthropic";
  EXPECT_EQ(sent(), ">https://work.test/v1");
  // A well-known server is one that the program names.
  settings_.providers.clear();
  variables_.emplace("GROQ_API_KEY", "g");
  resume("openai-chat", "m", "https://api.groq.com/openai/v1");
  EXPECT_EQ(sent(), "g>https://api.groq.com/openai/v1");
}

TEST_F(ChoiceOfServer, ALocalOneThatOnlyASessionNamesIsNotFollowed) {
  variables_ = {{"OPENAI_API_KEY", "k"}};
  for (const std::string_view url :
       {"http://127.0.0.1:7/admin", "http://127.0.0.1:8/v1", "http://localhost:7/v1",
        "http://LOCALHOST:7/v1", "http://[::1]:7/v1", "http://127.1.2.3:7/v1", "http://127.1:7/v1",
        "http://0x7f000001:7/v1", "http://2130706433:7/v1", "http://[::ffff:127.0.0.1]:7/v1",
        "http://0.0.0.0:7/v1", "http://[::]:7/v1", "http://localhost.:7/v1"}) {
    resume("openai-chat", "m", url);
    EXPECT_EQ(sent(), "k>") << url;
    EXPECT_THAT(choose()->warnings,
                ElementsAre(AllOf(HasSubstr("the session used "), HasSubstr("api.openai.com"))))
        << url;
  }
  // Without a key, the error has the reason.
  variables_.clear();
  resume("openai-chat", "m", "http://127.0.0.1:8/v1");
  EXPECT_THAT(sent(), AllOf(HasSubstr("no key for openai-chat"),
                            HasSubstr("the session used 127.0.0.1:8; api.openai.com")));
  // An unknown name does not help, nor a caller that knows nothing of what was given.
  resume("elsewhere", "m", "http://127.0.0.1:8/v1");
  EXPECT_THAT(sent(), HasSubstr("the session used 127.0.0.1:8; api.openai.com"));
  resume("openai-chat", "m", kLocal);
  Sources silent = sources();
  silent.was_given = nullptr;
  EXPECT_FALSE(resolve(silent, wanted_));
  // What the settings name is used, by their URL.
  given_.clear();
  section("mine", "http://127.0.0.1:7/other");
  EXPECT_EQ(sent(), ">http://127.0.0.1:7/other");
  settings_.providers.clear();
  settings_.provider = "mine";
  section("mine", "http://127.0.0.1:9/v1");
  EXPECT_EQ(sent(), ">http://127.0.0.1:9/v1");
}

TEST_F(ChoiceOfServer, AMaskedOneOnThisMachineMustBeInTheSettings) {
  resume("openai-chat", "m", "http://127.0.0.1:7/v1?api-key=***");
  variables_ = {{"OPENAI_API_KEY", "k"}};
  EXPECT_THAT(sent(), HasSubstr("the key in the URL of 127.0.0.1:7 was not stored"));
  section("mine", "http://127.0.0.1:7/v1?api-key=real");
  EXPECT_EQ(sent(), ">http://127.0.0.1:7/v1?api-key=real");
}

TEST_F(ChoiceOfServer, TheUsualOneIsInTheSectionThenInAFileThenInAVariable) {
  settings_.provider = "openai-chat";
  variables_ = {{"OPENAI_API_KEY", "k"}};
  EXPECT_EQ(sent(), "k>");
  variables_.emplace("OPENAI_BASE_URL", "https://variable.test");
  EXPECT_EQ(sent(), "k>https://variable.test");
  top({.base_url = "https://user.test"});
  top({.base_url = "https://project.test"});
  EXPECT_EQ(sent(), ">https://project.test");
  top({.base_url = "https://other.test"}, "anthropic");  // another provider's
  EXPECT_EQ(sent(), ">https://project.test");
  section("openai", "https://section.test");  // another name of it
  EXPECT_EQ(sent(), ">https://section.test");
  // A variable is for kinds only.
  wanted_.provider = "groq";
  variables_.emplace("GROQ_API_KEY", "g");
  EXPECT_EQ(sent(), "g>https://api.groq.com/openai/v1");
}

TEST_F(ChoiceOfServer, ARefusedOneIsNotUsed) {
  settings_.provider = "work";
  section("work", kWork).refusal = "FILE wants another server";
  EXPECT_EQ(sent(), "FILE wants another server");
  EXPECT_EQ(choose().error().code, Code::unauthorized);
  wanted_.base_url = "https://flag.test";
  EXPECT_EQ(sent(), ">https://flag.test");
}

// K: the key.

using ChoiceOfKey = ChoiceTest;

TEST_F(ChoiceOfKey, ASectionsIsForTheServerBesideIt) {
  ProviderSettings& work = section("work", kWork);
  work.env_key = "WORK";
  variables_ = {{"WORK", "w"}};
  wanted_.provider = "work";
  EXPECT_EQ(sent(), "w>https://work.test/v1");
  work.base_url = "https://project.test";  // from another file
  EXPECT_EQ(sent(), ">https://project.test");
  work.key_url = "";  // nothing beside it: the provider's own server
  EXPECT_EQ(sent(), "w>https://project.test");
  wanted_.base_url = kWork;
  EXPECT_EQ(sent(), ">https://work.test/v1");
}

TEST_F(ChoiceOfKey, AFilesIsForTheServerOrProviderBesideIt) {
  top({.key_command = "top"}, "openai-chat");
  wanted_.provider = "openai-responses";  // shares keys
  EXPECT_EQ(sent(), "output of top>");
  wanted_.base_url = kWork;
  EXPECT_EQ(sent(), ">https://work.test/v1");
  settings_.tops.back().own.key_url = kWork;
  EXPECT_EQ(sent(), "output of top>https://work.test/v1");
  wanted_ = {.provider = "anthropic", .model = "m", .base_url = std::string(kWork)};
  EXPECT_EQ(sent(), ">https://work.test/v1");
}

TEST_F(ChoiceOfKey, AFilesWithoutAServerOrProviderIsNeverUsed) {
  top({.key_command = "top"});
  wanted_.provider = "openai-chat";
  EXPECT_THAT(sent(), HasSubstr("key_command of FILE is set without a provider: set provider or "
                                "base_url in the same place"));
}

TEST_F(ChoiceOfKey, AnotherSectionsIsNotSentToAProvidersOwnServer) {
  section("alice", kWork).env_key = "ALICE";
  section("carl", kWork);
  variables_ = {{"ALICE", "a"}};
  wanted_.provider = "carl";
  EXPECT_EQ(sent(), ">https://work.test/v1");
  wanted_.provider = "openai-chat";
  wanted_.base_url = kWork;
  EXPECT_EQ(sent(), "a>https://work.test/v1");
  wanted_.provider = "anthropic";  // does not share keys
  EXPECT_EQ(sent(), ">https://work.test/v1");
}

TEST_F(ChoiceOfKey, AVariablesIsForItsServer) {
  variables_ = {{"OPENAI_API_KEY", "k"}, {"GROQ_API_KEY", "g"}};
  wanted_.provider = "openai-chat";
  EXPECT_EQ(sent(), "k>");
  wanted_.base_url = "https://api.groq.com/other";
  EXPECT_EQ(sent(), "g>https://api.groq.com/other");
  wanted_.base_url = "https://proxy.test";
  EXPECT_EQ(sent(), ">https://proxy.test");
  variables_.emplace("OPENAI_BASE_URL", "https://proxy.test/v1");
  EXPECT_EQ(sent(), "k>https://proxy.test");
  wanted_.base_url = "https://api.openai.com/v1";
  EXPECT_THAT(sent(), HasSubstr("OPENAI_API_KEY belongs to proxy.test"));
  wanted_ = {.provider = "groq", .model = "m", .base_url = "https://proxy.test"};
  EXPECT_EQ(sent(), "k>https://proxy.test");
}

TEST_F(ChoiceOfKey, AChosenOneThatCannotBeReadIsAnError) {
  ProviderSettings& chat = section("openai-chat");
  chat.env_key = "MINE";
  wanted_.provider = "openai-chat";
  variables_ = {{"OPENAI_API_KEY", "k"}};
  EXPECT_THAT(sent(), HasSubstr("the variable MINE named by env_key is not set"));
  // The usual variable may be unset, as a server may need no key; nothing else is sent then.
  chat.key_url = kWork;
  chat.env_key = "OPENAI_API_KEY";
  wanted_.base_url = kWork;
  variables_ = {{"OPENAI_BASE_URL", std::string(kWork)}, {"OTHER", "o"}};
  section("other", kWork).env_key = "OTHER";
  EXPECT_EQ(sent(), ">https://work.test/v1");
}

TEST_F(ChoiceOfKey, AServerIsSchemeHostAndPort) {
  section("work", kWork).env_key = "WORK";
  variables_ = {{"WORK", "w"}};
  wanted_ = {.provider = "openai-chat", .model = "m", .allows_clear_text = true};
  for (const auto& [url, is_same] :
       {std::pair("https://work.test/v1/other", true), std::pair("HTTPS://WORK.test:443", true),
        std::pair("http://work.test/v1", false), std::pair("https://work.test:8443/v1", false),
        std::pair("https://work.test.evil.test/v1", false),
        std::pair("https://work.test@evil.test/v1", false)}) {
    wanted_.base_url = url;
    EXPECT_EQ(choose()->options.api_key, is_same ? "w" : "") << url;
  }
}

TEST_F(ChoiceOfKey, OnlyAProvidersOwnServerRequiresOne) {
  for (const auto& [provider, missing] :
       {std::pair("openai-chat", "set OPENAI_API_KEY"), std::pair("groq", "set GROQ_API_KEY")}) {
    wanted_.provider = provider;
    wanted_.base_url.reset();
    EXPECT_THAT(sent(), HasSubstr(missing));
    EXPECT_EQ(choose().error().code, Code::unauthorized);
    wanted_.base_url = kWork;
    EXPECT_EQ(sent(), ">https://work.test/v1");
  }
  wanted_ = {.provider = "ollama", .model = "m"};
  EXPECT_EQ(sent(), ">http://127.0.0.1:11434/v1");
}

TEST_F(ChoiceOfKey, NoSecretCrossesTheNetworkInClearText) {
  wanted_.provider = "openai-chat";
  variables_ = {{"OPENAI_API_KEY", "k"}};
  for (const auto& [url, is_sent] :
       {std::pair("http://lan.test", false), std::pair("http://127.0.0.1.evil.test", false),
        std::pair("http://127.0.0.1:9", true), std::pair("https://lan.test", true)}) {
    variables_["OPENAI_BASE_URL"] = url;
    EXPECT_EQ(choose().has_value(), is_sent) << url;
  }
  variables_ = {};
  wanted_.base_url = "http://lan.test/v1?api-key=s";
  EXPECT_THAT(sent(), HasSubstr("the key would be sent unencrypted to lan.test; use https"));
  section("openai-chat", "http://lan.test");
  wanted_.base_url = "http://lan.test";
  EXPECT_EQ(sent(), ">http://lan.test");
  settings_.requests["openai-chat"].headers = {{"X-Gateway", "s3cret-word"}};
  EXPECT_THAT(sent(), HasSubstr("the secret in headers would be sent unencrypted to lan.test"));
  settings_.requests["openai-chat"] = {.extra = *RawJson::parse(R"({"api_key":"s3cret-word"})")};
  EXPECT_THAT(sent(), HasSubstr("the secret in extra would be sent unencrypted to lan.test"));
  wanted_.allows_clear_text = true;
  EXPECT_EQ(sent(), ">http://lan.test");
  wanted_.allows_clear_text = false;
  settings_.insecure = true;
  EXPECT_EQ(sent(), ">http://lan.test");
}

TEST_F(ChoiceOfKey, MessagesNameItsPlaceAndServerOnly) {
  section("work", "https://me:w0rd@work.test/v1?api-key=s3cret").env_key = "WORK";
  top({.base_url = "https://top.test", .key_command = "print s3cret"});
  variables_ = {{"WORK", "s3cret"}, {"OPENAI_API_KEY", "s3cret"}};
  wanted_.provider = "openai-chat";
  wanted_.base_url = "https://lan.test";
  EXPECT_THAT(choose()->options.key_advice,
              AllOf(HasSubstr("key_command of FILE belongs to top.test, env_key of "
                              "[providers.work] belongs to work.test, OPENAI_API_KEY belongs to "
                              "api.openai.com"),
                    Not(HasSubstr("s3cret")), Not(HasSubstr("w0rd"))));
  wanted_.base_url = "https://top.test";
  EXPECT_EQ(choose()->options.key_advice, "check the key in the output of key_command");
}

// H: headers, fields and options of a section.

using ChoiceOfSection = ChoiceTest;

TEST_F(ChoiceOfSection, AppliesToItsServerInItsProtocol) {
  section("groq");
  settings_.requests["groq"].headers = {{"X-G", "g"}};
  section("work", kWork).protocol = "anthropic";
  settings_.requests["work"].headers = {{"X-W", "w"}};
  const auto headers = [&](const char* provider, std::string_view url) {
    wanted_ = {.provider = provider, .model = "m", .base_url = std::string(url)};
    variables_ = {{"GROQ_API_KEY", "k"}};
    return choose()->options.headers.size();
  };
  EXPECT_EQ(headers("openai-chat", "https://api.groq.com/openai/v1"), 1U);
  EXPECT_EQ(headers("openai-chat", "https://elsewhere.test/v1"), 0U);
  EXPECT_EQ(headers("anthropic", "https://api.groq.com/openai/v1"), 0U);
  EXPECT_EQ(headers("anthropic", kWork), 1U);
  EXPECT_EQ(headers("openai-chat", kWork), 0U);
}

TEST_F(ChoiceOfSection, OfAKindIsForItsUsualServers) {
  settings_.requests["openai-chat"].headers = {{"X-C", "c"}};
  variables_ = {{"OPENAI_API_KEY", "k"}};
  wanted_.provider = "openai-chat";
  EXPECT_EQ(choose()->options.headers.size(), 1U);
  variables_.emplace("OPENAI_BASE_URL", "https://proxy.test");
  EXPECT_EQ(choose()->options.headers.size(), 1U);
  top({.base_url = "https://top.test"});
  EXPECT_EQ(choose()->options.headers.size(), 1U);
  wanted_.base_url = "https://top.test";
  EXPECT_EQ(choose()->options.headers.size(), 0U);
}

TEST_F(ChoiceOfSection, AProviderWithANameOfItsOwnHasOnlyItsOwn) {
  section("alice", kWork);
  settings_.requests["alice"].headers = {{"X-Mine", "alice"}};
  section("bob", kWork).store = true;
  wanted_.provider = "bob";
  EXPECT_THAT(choose()->options.headers, IsEmpty());
  EXPECT_EQ(choose()->options.store, true);
  wanted_.provider = "alice";
  EXPECT_EQ(choose()->options.headers.size(), 1U);
  EXPECT_EQ(choose()->options.store, std::nullopt);
}

TEST_F(ChoiceOfSection, OfAKindGivesOtherServersOnlyOptions) {
  settings_.requests["anthropic"] = {.options = {.effort = "high"},
                                     .path = "/v2/messages",
                                     .auth = "bearer",
                                     .auth_header = "X-Key",
                                     .headers = {{"X-A", "a"}},
                                     .extra = *RawJson::parse(R"({"metadata":{}})"),
                                     .good_ends = {"fin"}};
  wanted_.provider = "anthropic";
  wanted_.base_url = kWork;
  auto choice = *resolve(sources(), wanted_);
  const auto applied = *apply_sections(sources(), wanted_, choice);
  EXPECT_EQ(applied.effort, "high");
  EXPECT_THAT(choice.options.headers, IsEmpty());
  EXPECT_EQ(choice.options.path, "");
  EXPECT_EQ(choice.options.auth, "");
  EXPECT_EQ(choice.options.auth_header, "");
  EXPECT_THAT(choice.options.good_ends, IsEmpty());
  EXPECT_TRUE(choice.options.extra.is_null());
  EXPECT_THAT(choice.warnings,
              ElementsAre("headers, extra and auth of [providers.anthropic] are not sent to "
                          "work.test",
                          "path, auth_header and good_ends of [providers.anthropic] are not used "
                          "for work.test"));
}

// M: the model.

class ChoiceOfModel : public ChoiceTest {
 protected:
  ChoiceOfModel() {
    wanted_ = {};
    variables_ = {{"ANTHROPIC_API_KEY", "a"}, {"OPENAI_API_KEY", "k"}, {"GROQ_API_KEY", "g"}};
    settings_.provider = "anthropic";
  }
  std::string model() {
    const auto choice = choose();
    return choice ? choice->model : choice.error().message;
  }
};

TEST_F(ChoiceOfModel, AFlagThenDevThenTheSessionThenTheModeThenTheSettings) {
  const std::string usual(find_provider_kind("anthropic")->default_model);
  const std::string cheap(find_provider_kind("anthropic")->dev_model);
  EXPECT_EQ(model(), usual);
  section("anthropic").model = "set";
  EXPECT_EQ(model(), "set");
  wanted_.mode_model = "mode";
  EXPECT_EQ(model(), "mode");
  resume("anthropic", "session");
  EXPECT_EQ(model(), "session");
  wanted_.dev = true;
  EXPECT_EQ(model(), cheap);
  section("anthropic").dev_model = "small";
  EXPECT_EQ(model(), "small");
  wanted_.model = "flag";
  EXPECT_EQ(model(), "flag");
}

TEST_F(ChoiceOfModel, OfOneProviderDoesNotReachAnother) {
  section("anthropic").model = "c";
  top({.model = "t"}, "anthropic");
  resume("openai-chat", "old");
  wanted_.provider = "openai-responses";
  EXPECT_EQ(model(), find_provider_kind("openai-responses")->default_model);
  top({.model = "r"}, "openai-responses");
  EXPECT_EQ(model(), "r");
  // Nor the model of a session whose provider is known to be another one.
  wanted_.provider = "openai-chat";
  wanted_.base_url = kLocal;
  resume("anthropic", "c");
  EXPECT_EQ(model(), find_provider_kind("openai-chat")->default_model);
}

TEST_F(ChoiceOfModel, OfTheProvidersOwnServerComesAfterThatOfTheServerInTheSettings) {
  resume("openai", "gpt-x");
  variables_ = {{"OPENAI_API_KEY", "k"}};
  EXPECT_EQ(model(), "gpt-x");
  settings_.provider = "openai-chat";
  top({.base_url = "https://work.test/v1"}, "openai-chat");
  EXPECT_EQ(model(), "gpt-x") << "nothing else is known";
  settings_.tops.front().own.model = "w";
  EXPECT_EQ(model(), "w");
  resume("openai", "gpt-x", "https://work.test/v1");
  EXPECT_EQ(model(), "gpt-x") << "it was used there";
  resume("openai", "gpt-x");
  wanted_.base_url = kLocal;
  EXPECT_EQ(model(), "gpt-x") << "a flag moves the session as it is";
}

TEST_F(ChoiceOfModel, OfASessionWithoutAProviderIsKeptWhereAnyModelMayBe) {
  resume("", "unknown-model");
  settings_.provider = "openai-chat";
  EXPECT_EQ(model(), find_provider_kind("openai-chat")->default_model);
  wanted_.base_url = find_provider_kind("openai-chat")->default_url;
  EXPECT_EQ(model(), find_provider_kind("openai-chat")->default_model);
  wanted_.base_url = kLocal;
  EXPECT_EQ(model(), "unknown-model");
  wanted_.base_url = "https://api.groq.com/openai/v1";
  EXPECT_THAT(model(), HasSubstr("no model for openai-chat"));
}

TEST_F(ChoiceOfModel, AWellKnownServerNeedsOne) {
  wanted_.provider = "groq";
  EXPECT_THAT(model(), HasSubstr("no model for groq: give --model"));
  wanted_.provider = "ollama";  // on this machine: asked
  offer({"l1", "l2"});
  EXPECT_EQ(model(), "l1");
}

TEST_F(ChoiceOfModel, AnotherServerIsAskedForOne) {
  wanted_.base_url = kWork;
  const std::string usual(find_provider_kind("openai-chat")->default_model);
  offer({"only"});
  EXPECT_EQ(model(), "only");
  EXPECT_THAT(choose()->notices, ElementsAre(HasSubstr("using only, the only model of work.test")));
  offer({"one", usual});
  EXPECT_EQ(model(), usual);
  EXPECT_THAT(choose()->notices, IsEmpty());
  models_ = fail(Code::timeout, "late");
  EXPECT_EQ(model(), usual);
  EXPECT_THAT(choose()->notices, ElementsAre(HasSubstr("did not list its models in time")));
  // The request reports a server that is away.
  models_ = fail(Code::io, "refused", ECONNREFUSED);
  EXPECT_THAT(choose()->notices, IsEmpty());
  Sources silent = sources();
  silent.models = nullptr;
  EXPECT_THAT(resolve(silent, wanted_)->notices, ElementsAre(HasSubstr("would be asked for one")));
  wanted_.base_url = "ftp://work.test";
  EXPECT_THAT(model(), HasSubstr("is not an http:// or https:// URL"));
  // The provider's own server is not asked.
  asked_ = 0;
  offer({"only"});
  wanted_.base_url = "https://api.openai.com/v1";
  EXPECT_EQ(model(), usual);
  EXPECT_EQ(asked_, 0);
}

// What a new session would use is known without keys and without asking a server.
TEST_F(ChoiceOfModel, WhatIsExpectedNeedsNoKey) {
  variables_.clear();
  section("anthropic").key_command = "key";
  auto choice = expected(sources());
  EXPECT_EQ(choice->name, "anthropic");
  EXPECT_EQ(choice->model, find_provider_kind("anthropic")->default_model);
  EXPECT_TRUE(expects_server(sources(), wanted_));
  section("anthropic", kWork);
  choice = expected(sources());
  EXPECT_EQ(choice->options.base_url, kWork);
  EXPECT_EQ(choice->model, "");
  EXPECT_EQ(usual_model(sources(), wanted_, *choice, {{"one", "", ""}, {"two", "", ""}}), "one");
  section("anthropic").model = "set";
  EXPECT_EQ(usual_model(sources(), wanted_, *choice, {{"one", "", ""}}), "set");
  settings_.provider = "echo";
  EXPECT_FALSE(expects_server(sources(), wanted_));
  settings_.provider = "nobody";
  EXPECT_THAT(expected(sources()).error().message, HasSubstr("unknown provider 'nobody'"));
  settings_.provider.reset();
  EXPECT_EQ(expected(sources())->name, "");
  EXPECT_EQ(asked_, 0);
}

// T2: an untrusted project's choice is named.
TEST_F(ChoiceOfProvider, OfAnUntrustedProjectIsNamed) {
  settings_.provider = "echo";
  settings_.untrusted_file = "/project/.reprise.toml";
  EXPECT_THAT(choose()->warnings, IsEmpty());
  settings_.origin["provider"] = settings_.untrusted_file;
  EXPECT_THAT(choose()->warnings,
              ElementsAre("/project/.reprise.toml chooses the provider echo, and its folder is not "
                          "trusted"));
}

}  // namespace
}  // namespace reprise::choice
