#pragma once

// What the keys of a file of settings mean.

#include "cli/settings/config_values.h"
#include "reprise/error.h"

namespace reprise::cli {

// Lays the file over the settings that are there already.
Result<> read_config(const toml::table& table, ConfigValues values);

}  // namespace reprise::cli
