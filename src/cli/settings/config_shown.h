#pragma once

// The settings as they are shown: by name, with secrets left out.

#include <string>
#include <vector>

#include "cli/settings/settings.h"

namespace reprise::cli {

struct ShownSetting {
  std::string name;   // as `config get` takes it: "providers.work.model"
  std::string value;  // "(set)" for a secret
};

// All that are set, in the order of the table of keys.
std::vector<ShownSetting> shown_settings(const Settings& settings);

}  // namespace reprise::cli
