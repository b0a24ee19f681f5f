#pragma once

// The settings: flags > environment > project `.reprise.toml` > user's config.toml > defaults.
// This file knows what a file may say; config.h reads it.
//
// A project's file comes with a checked-out repository and is not trusted: what would run a
// command, send a key or the conversation elsewhere, or read other files is ignored with a warning
// unless the user's own config names the folder in `trust = ["/path"]`.

#include <map>  // IWYU pragma: export

#include "reprise/mode.h"      // IWYU pragma: export
#include "reprise/provider.h"  // IWYU pragma: export

namespace reprise::cli {

// How one provider is reached; the same keys stand at the top of a file for whichever is used.
struct ProviderSettings {
  std::optional<std::string> base_url;
  std::optional<std::string> model;
  std::optional<std::string> dev_model;
  std::optional<std::string> env_key;      // the variable that holds the key
  std::optional<std::string> key_command;  // a shell command that prints the key
  std::optional<bool> store;               // openai-responses: the provider keeps the answers
  std::string key_url = {};  // the base_url beside the key: its server's; "" for the provider's own
  std::string refusal = {};  // why the server that a project names is not asked; "" when it may be
};

// What goes into requests: at the top of a file for all providers, in [providers.NAME] for one.
struct RequestSettings {
  RequestOptions options = {};
  std::optional<std::string> auth = std::nullopt;                // how the key is sent
  std::map<std::string, std::string, std::less<>> headers = {};  // may hold secrets
  RawJson extra = {};                                            // merged into each body
};

// The keys at the top of one file. They belong together: to the provider named beside them, or
// without one to whichever is used. A key without provider and base_url beside it belongs to
// nobody.
struct TopSettings {
  std::optional<std::string> provider;
  ProviderSettings own;
  std::string from;  // the file, or the variable
};

struct Settings {
  std::optional<std::string> store;
  std::optional<std::string> store_key_command;  // a shell command that prints its password
  std::string store_key_url;  // the store beside it, whose password it is; "" for none
  std::optional<std::string> provider;
  std::vector<TopSettings> tops;      // of each file; the later ones go before the earlier
  std::optional<std::string> author;  // of what is asked; "" for nobody
  std::optional<std::string> system;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_tokens;
  std::optional<std::int64_t> budget;
  std::optional<std::int64_t> max_answer_bytes;
  std::optional<std::string> retention;
  std::optional<std::string> title;  // who names a session that ends: "model" or "first words"
  std::optional<bool> insecure;      // secrets may cross the network in clear text
  std::optional<bool> stream;
  std::optional<bool> spill;  // false: what a server does not take is not kept here
  std::optional<std::int64_t> slow_call_ms;
  std::optional<std::string> save_path;  // each answer is written there, too
  std::vector<std::string> trust;
  std::vector<std::string> prices;  // as parse_price() takes them
  std::map<std::string, Mode, std::less<>> modes;
  std::map<std::string, ProviderSettings, std::less<>> providers;
  std::map<std::string, RequestSettings, std::less<>> requests;  // by provider; "" for all

  std::map<std::string, std::string, std::less<>> origin;  // key -> "flag", "REPRISE_MODEL", a path
  std::vector<std::filesystem::path> files;                // those that were read
  // The store is this context file: what it sets goes before what its session was begun with.
  std::filesystem::path context_file;
  std::string untrusted_file;  // the project's, when its folder is not trusted; "" for none

  // The keys at the top of all files, as they are shown.
  ProviderSettings any() const;
  // Whether the value of a key comes from a project that is not trusted.
  bool is_untrusted(std::string_view key) const;
};

}  // namespace reprise::cli
