// What holds in every combination of settings, variables, session and flags, whichever rule
// decides.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/http.h"
#include "base/text.h"
#include "choice/resolve.h"

namespace reprise::choice {
namespace {

using Texts = std::vector<std::string>;
using Variables = std::map<std::string, std::string, std::less<>>;

// "" stands for nothing.
const Texts kProviders = {"", "anthropic", "work", "groq"};
const Texts kSections = {"", "work", "work in clear text", "gate twice", "openai-chat", "groq"};
const Texts kTops = {"", "key", "key and server", "key and provider"};
const Texts kVariables = {"", "keys", "keys and server"};
const Texts kSessions = {"",
                         "openai-chat http://127.0.0.1:7/v1",
                         "openai-chat http://127.0.0.1:8/v1",
                         "openai-chat https://evil.test/v1",
                         "work https://evil.test/v1",
                         "other https://work.test/v1",
                         " https://evil.test/v1"};
const Texts kFlags = {"", "--provider work", "--base-url https://work.test/x",
                      "--base-url http://lan.test"};

class ChoiceGrid : public testing::Test {
 protected:
  void set(const std::string& name, const std::string& url, const std::string& variable) {
    ProviderSettings& section = settings_.providers[name];
    section.base_url = url;
    section.env_key = variable;
    section.key_url = url;
    named_.insert(http::server_of(url));
    owners_[cat("secret-", variable)] = http::server_of(url);
    variables_[variable] = cat("secret-", variable);
  }

  void set_sections(std::string_view which) {
    if (which == "work") {
      set("work", "https://work.test/v1", "WORK");
    } else if (which == "work in clear text") {
      set("work", "http://lan.test/v1", "WORK");
    } else if (which == "gate twice") {
      set("alice", "https://work.test/v1", "ALICE");
      set("work", "https://work.test/v1", "WORK");
    } else if (which == "openai-chat") {
      set("openai-chat", "https://chat.test/v1", "CHAT");
    } else if (which == "groq") {
      settings_.providers["groq"].env_key = "GROQ2";
      variables_["GROQ2"] = "secret-GROQ2";
      owners_["secret-GROQ2"] = "https://api.groq.com:443";
    }
  }

  void set_top(std::string_view which) {
    if (which.empty()) {
      return;
    }
    TopSettings& top = settings_.tops.emplace_back();
    top.from = "FILE";
    if (which.contains("key")) {
      top.own.key_command = "secret-TOP";
    }
    if (which.contains("server")) {
      top.own.base_url = top.own.key_url = "https://top.test/v1";
      named_.insert("https://top.test:443");
    }
    if (which.contains("provider")) {
      top.provider = "openai-chat";
    }
    owners_["secret-TOP"] = which.contains("server")     ? "https://top.test:443"
                            : which.contains("provider") ? "https://api.openai.com:443"
                                                         : "nowhere";
  }

  void set_variables(std::string_view which) {
    const std::string server = which == "keys and server" ? "https://proxy.test/v1" : "";
    if (!server.empty()) {
      variables_["OPENAI_BASE_URL"] = server;
      named_.insert(http::server_of(server));
    }
    if (!which.empty()) {
      variables_["OPENAI_API_KEY"] = "secret-OPENAI";
      variables_["ANTHROPIC_API_KEY"] = "secret-ANTHROPIC";
      variables_["GROQ_API_KEY"] = "secret-GROQ";
    }
    owners_["secret-OPENAI"] =
        server.empty() ? "https://api.openai.com:443" : http::server_of(server);
    owners_["secret-ANTHROPIC"] = "https://api.anthropic.com:443";
    owners_["secret-GROQ"] = "https://api.groq.com:443";
  }

  void set_session(const std::string& text) {
    if (text.empty()) {
      return;
    }
    const std::size_t space = std::min(text.find(' '), text.size());
    session_ = Session{.info = {.id = make_session_id(system_clock(), system_entropy())}};
    session_->info.provider = text.substr(0, space);
    session_->info.model = "gpt-4o";
    if (space < text.size()) {
      session_->config = *RawJson::parse(cat(R"({"base_url":")", text.substr(space + 1), "\"}"));
    }
  }

  void set_flags(const std::string& text) {
    const std::string value = text.substr(std::min(text.find(' ') + 1, text.size()));
    if (text.starts_with("--provider")) {
      wanted_.provider = value;
    } else if (text.starts_with("--base-url")) {
      wanted_.base_url = value;
      named_.insert(http::server_of(value));
    }
  }

  void check() {
    const Sources from{
        .settings = settings_,
        .variable =
            [this](std::string_view name) {
              const auto found = variables_.find(name);
              return found == variables_.end() ? std::nullopt : std::optional(found->second);
            },
        .session = session_ ? &*session_ : nullptr,
        .run_key_command = [](const std::string& command) { return Result<std::string>(command); },
        .was_given = [](const std::string& url) { return !url.contains(":8/"); }};
    const auto choice = resolve(from, wanted_);
    if (!choice) {
      for (const auto& [key, owner] : owners_) {
        EXPECT_FALSE(choice.error().message.contains(key)) << choice.error().message;
      }
      return;
    }
    ++resolved_;
    const ProviderKind& kind = *find_provider_kind(choice->kind);
    const std::string url =
        choice->options.base_url.empty() ? std::string(kind.default_url) : choice->options.base_url;
    const std::string server = http::server_of(url);
    if (const std::string& key = choice->options.api_key; !key.empty()) {
      ++with_key_;
      EXPECT_EQ(owners_.at(key), server) << key;
      EXPECT_TRUE(url.starts_with("https://") || http::is_local_url(url)) << url;
    }
    // A session alone names no server elsewhere, and only a given one on this machine.
    EXPECT_TRUE(url == "http://127.0.0.1:7/v1" || named_.contains(server) ||
                server == http::server_of(kind.default_url) || server == "https://api.groq.com:443")
        << url;
    if (wanted_.base_url) {
      EXPECT_EQ(choice->options.base_url, *wanted_.base_url);
    }
    if (wanted_.provider) {
      EXPECT_EQ(choice->name, *wanted_.provider);
    }
  }

  Settings settings_;
  Variables variables_;
  std::optional<Session> session_;
  Wanted wanted_{.model = "m"};
  std::set<std::string, std::less<>> named_;   // the servers that somebody but the session names
  std::map<std::string, std::string> owners_;  // key -> the only server that may get it
  int resolved_ = 0;
  int with_key_ = 0;
};

TEST_F(ChoiceGrid, KeysStayWithTheirServersInEveryCombination) {
  int count = 0;
  const auto check_one = [&](const std::array<std::string, 6>& with) {
    SCOPED_TRACE(joined(with, [](const std::string& text) { return cat("'", text, "'"); }));
    settings_ = {};
    variables_.clear();
    session_.reset();
    wanted_ = {.model = "m"};
    named_.clear();
    owners_.clear();
    if (!with[0].empty()) {
      settings_.provider = with[0];
    }
    set_sections(with[1]);
    set_top(with[2]);
    set_variables(with[3]);
    set_session(with[4]);
    set_flags(with[5]);
    check();
    ++count;
  };
  for (const std::string& provider : kProviders) {
    for (const std::string& section : kSections) {
      for (const std::string& top : kTops) {
        for (const std::string& variables : kVariables) {
          for (const std::string& session : kSessions) {
            for (const std::string& flags : kFlags) {
              check_one({provider, section, top, variables, session, flags});
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(count, 8'064);
  EXPECT_EQ(resolved_, 6'085);
  EXPECT_EQ(with_key_, 2'836);
}

}  // namespace
}  // namespace reprise::choice
