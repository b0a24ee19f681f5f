#pragma once

// Which key goes to a server. A key belongs to the provider and the server that it was set beside,
// and goes nowhere else:
// - env_key and key_command of a section or of the top of a file to the base_url beside them, or
//   else to the provider's own server
// - a variable such as OPENAI_API_KEY to the server in OPENAI_BASE_URL, or else to the provider's
// own

#include "cli/program/context.h"          // IWYU pragma: export
#include "cli/settings/provider_names.h"  // IWYU pragma: export
#include "cli/settings/settings.h"        // IWYU pragma: export

namespace reprise::cli {

struct FoundKey {
  std::string key;        // "" for none
  std::string name = {};  // what it comes from: "OPENAI_API_KEY"
  std::string
      elsewhere;  // "the key_command of FILE belongs to HOST"; "" when there is no other key
};

// `url`: where the request goes. unauthorized when what is set for it gives no key.
Result<FoundKey> find_key(const Context& context, const Settings& settings,
                          const NamedProvider& provider, const std::string& url);

// Whether what is sent there crosses no network in clear text.
bool is_safe_for_secrets(std::string_view url);

// What a key command prints, without the line end. Its standard error is the person's.
Result<std::string> run_key_command(const std::string& command,
                                    std::string_view setting = "key_command");

}  // namespace reprise::cli
