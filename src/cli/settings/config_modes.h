#pragma once

// [mode.NAME] of a file of settings.

#include "cli/settings/config_values.h"
#include "reprise/error.h"

namespace reprise::cli {

// One of them, in the settings from then on.
Result<> read_mode(ConfigValues& values, const toml::key& mode_name, const toml::table& table);

}  // namespace reprise::cli
