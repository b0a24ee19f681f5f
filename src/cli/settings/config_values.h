#pragma once

// The values of one file of settings: each is looked at, and what is wrong is said with its place.
// Only the files of that name (config*) include toml++, compiled without its exceptions.

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "cli/settings/config.h"
#include "reprise/error.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace reprise::cli {

// Whether a project's file that is not trusted may set it.
enum class Reach : std::uint8_t { anyone, trusted };

class ConfigValues {
 public:
  // `out` must outlive it.
  ConfigValues(std::filesystem::path file, bool trusted, LoadedSettings& out)
      : file_(std::move(file)), trusted_(trusted), out_(out) {}

  std::string file() const { return file_.string(); }
  Settings& settings() { return out_.settings; }

  std::string at(const toml::source_region& place) const;
  std::unexpected<Error> wrong(const toml::node& node, std::string_view name,
                               std::string_view wanted) const;
  bool allowed(const toml::key& key, Reach reach, std::string_view name);
  void unknown(const toml::key& key, std::string_view name,
               std::span<const std::string_view> known);
  void came_from(std::string_view name);
  Result<> text(const toml::node& node, std::string_view name, std::optional<std::string>& out);
  Result<> integer(const toml::node& node, std::string_view name, std::optional<std::int64_t>& out);
  Result<> truth(const toml::node& node, std::string_view name, std::optional<bool>& out);
  Result<> texts(const toml::node& node, std::string_view name, std::vector<std::string>& out);

 private:
  std::filesystem::path file_;
  bool trusted_;
  LoadedSettings& out_;
};

}  // namespace reprise::cli
