#pragma once

// Validates the values of one settings file and reports errors with their position. Only the
// config* files include toml++, which is compiled without exceptions.

#include <optional>  // IWYU pragma: export
#include <utility>   // IWYU pragma: export
#include <vector>    // IWYU pragma: export

#include "cli/settings/config.h"
#include "cli/settings/config_keys.h"  // IWYU pragma: export
#include "reprise/error.h"             // IWYU pragma: export

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace reprise::cli {

// The origin of a file.
enum class FileRank : std::uint8_t { project, trusted_project, user };

class ConfigValues {
 public:
  // `out` must outlive it.
  ConfigValues(std::filesystem::path file, FileRank rank, LoadedSettings& out)
      : file_(std::move(file)), rank_(rank), out_(out) {}

  std::string file() const { return file_.string(); }
  Settings& settings() { return out_.settings; }

  std::string at(const toml::source_region& position) const;
  std::unexpected<Error> invalid_value(const toml::node& node, std::string_view name,
                                       std::string_view expected) const;
  // False, with a warning, if the file may not set it.
  bool allowed(const toml::key& key, RequiredTrust required_trust, std::string_view name);
  // False, with a warning, for a mode of an untrusted project that the user has, too.
  bool may_set_mode(const toml::key& key);
  void unknown(const toml::key& key, std::string_view name,
               std::span<const std::string_view> known);
  void set_origin(std::string_view name);

  // Validates and stores the value.
  Result<> take(const Setting& setting, const toml::node& node, const std::string& name,
                const SettingTarget& target);

 private:
  std::filesystem::path file_;
  FileRank rank_;
  LoadedSettings& out_;
};

// Interprets the keys of a settings file.

// Merges the file into the existing settings.
Result<> read_config(const toml::table& table, ConfigValues values);

}  // namespace reprise::cli
