#pragma once

// The chosen provider with its server, key and model.

#include <string>  // IWYU pragma: export
#include <vector>  // IWYU pragma: export

#include "reprise/provider.h"  // IWYU pragma: export

namespace reprise {

struct ProviderChoice {
  std::string kind = {};  // whose protocol is used
  std::string name = {};  // the kind, a well-known server or a [providers.NAME]; kept in sessions
  std::string model = {};
  ProviderOptions options = {};
  bool is_sessions_own = false;            // the one that the session used before
  std::vector<std::string> warnings = {};  // for the user, one line each
  std::vector<std::string> notices = {};   // likewise, less important
};

}  // namespace reprise
