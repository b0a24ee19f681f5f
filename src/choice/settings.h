#pragma once

// The settings, in order of precedence: flags, environment, the project's `.reprise.toml`, the
// user's config.toml, defaults. config.h reads them.
//
// A project's file comes with a checked-out repository and is not trusted: keys that would run a
// command, send a key or the conversation elsewhere, or read other files are ignored with a warning
// unless the user's own config lists the folder in `trust = ["/path"]`.

#include <map>  // IWYU pragma: export

#include "reprise/mode.h"      // IWYU pragma: export
#include "reprise/provider.h"  // IWYU pragma: export

namespace reprise {

// How to reach a provider; at the top of a file, the same keys apply to the chosen provider.
struct ProviderSettings {
  std::optional<std::string> protocol;  // the name of a ProviderKind; openai-chat if unset
  std::optional<std::string> base_url;
  std::optional<std::string> model;
  std::optional<std::string> dev_model;
  std::optional<std::string> env_key;      // the variable with the key
  std::optional<std::string> key_command;  // a shell command that prints the key
  std::optional<bool> store;               // openai-responses: the provider stores the answers
  std::string key_url = {};  // the base_url beside the key; "": the provider's own server
  std::string refusal = {};  // why a project's server must not be used; "" if it may
};

// Options of requests: at the top of a file for all providers, in [providers.NAME] for one.
struct RequestSettings {
  RequestOptions options = {};
  std::optional<std::string> path = std::nullopt;                // after base_url
  std::optional<std::string> auth = std::nullopt;                // how the key is sent
  std::optional<std::string> auth_header = std::nullopt;         // the header that has it
  std::map<std::string, std::string, std::less<>> headers = {};  // may contain secrets
  RawJson extra = {};                                            // merged into each body
  std::vector<std::string> good_ends = {};                       // see ProviderOptions
};

// The keys at the top of one file. They belong to the provider named beside them, or else to the
// chosen one. A key without a provider and a base_url beside it is not used.
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
  std::vector<TopSettings> tops;      // of each file; later ones take precedence
  std::optional<std::string> author;  // of questions; "" for nobody
  std::optional<std::string> system;
  std::optional<double> temperature;
  std::optional<std::int64_t> max_tokens;
  std::optional<std::int64_t> budget;
  std::optional<std::int64_t> max_answer_bytes;
  std::optional<std::string> retention;
  std::optional<std::string> title;  // how closed sessions get titles: "model" or "first words"
  std::optional<bool> insecure;      // secrets may be sent in clear text
  std::optional<bool> stream;
  std::optional<bool> outbox;  // false: unstored messages are not written to this machine
  std::optional<std::int64_t> slow_call_ms;
  std::optional<std::string> save_path;  // each answer is also written to this file
  std::vector<std::string> trust;
  std::vector<std::string> prices;  // as for parse_price()
  std::map<std::string, Mode, std::less<>> modes;
  std::map<std::string, ProviderSettings, std::less<>> providers;
  std::map<std::string, RequestSettings, std::less<>> requests;  // by provider; "" for all

  std::map<std::string, std::string, std::less<>> origin;  // key -> "flag", "REPRISE_MODEL", a path
  std::vector<std::filesystem::path> files;                // the files that were read
  // The store is this context file; its values take precedence over its session's.
  std::filesystem::path context_file;
  // Of a context file that was searched for, if its folder is not trusted.
  bool is_context_untrusted = false;
  // The server that a context file names, which gets no key because the file's folder is not
  // trusted, and that folder; "" for none.
  std::string keyless_server = {};
  std::string keyless_folder = {};
  std::string context_warning;  // what it chooses, for the user; "" for nothing unusual
  std::string untrusted_file;   // the project's, if its folder is not trusted; "" for none

  // The keys at the top of all files, for display.
  ProviderSettings any() const;
  // Whether the value of a key comes from an untrusted project.
  bool is_untrusted(std::string_view key) const;
};

}  // namespace reprise
