#pragma once

// Which key is sent to a server. A key belongs to the provider and server that it was configured
// with, and is sent nowhere else:
// - env_key and key_command of a section, or of the top of a file: to the base_url beside them,
//   otherwise to the provider's own server
// - a variable such as OPENAI_API_KEY: to the server in OPENAI_BASE_URL, otherwise to the
//   provider's own

#include "choice/provider_names.h"  // IWYU pragma: export
#include "choice/settings.h"        // IWYU pragma: export
#include "cli/process/process.h"    // IWYU pragma: export

namespace reprise::cli {

struct FoundKey {
  std::string key;        // "" for none
  std::string name = {};  // its origin: "OPENAI_API_KEY"
  std::string hint;       // "the key_command of FILE belongs to HOST"; "" if there is no other key
};

// `url` is the request's server. unauthorized if the source configured for it gives no key.
Result<FoundKey> find_key(const ProcessEnvironment& environment, const Settings& settings,
                          const NamedProvider& provider, const std::string& url);

// Whether data sent there is encrypted or stays on this machine.
bool is_safe_for_secrets(std::string_view url);

}  // namespace reprise::cli
