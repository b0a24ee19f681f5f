#pragma once

// The program's folders and settings: flags, environment and files combined. Settings are read on
// first use, so that `--help` opens no files.

#include <chrono>    // IWYU pragma: export
#include <cstddef>   // IWYU pragma: export
#include <cstdint>   // IWYU pragma: export
#include <optional>  // IWYU pragma: export
#include <utility>   // IWYU pragma: export
#include <variant>   // IWYU pragma: export
#include <vector>    // IWYU pragma: export

#include "cli/process/arguments.h"
#include "cli/process/console.h"  // IWYU pragma: export
#include "cli/settings/config.h"

namespace reprise::cli {

class ProgramConfig {
 public:
  // The arguments must outlive it.
  ProgramConfig(const Globals& globals, const ProcessEnvironment& environment, Console& console)
      : globals_(globals), environment_(environment), console_(console) {}
  // For another folder, with its settings. With `same_store` the store is the parent's, whatever
  // the settings name. The parent must outlive it.
  ProgramConfig(ProgramConfig& parent, std::filesystem::path folder, bool same_store,
                Console& console);
  ~ProgramConfig() = default;
  ProgramConfig(const ProgramConfig&) = delete;
  ProgramConfig& operator=(const ProgramConfig&) = delete;

  const Globals& globals() const { return globals_; }
  const ProcessEnvironment& environment() const { return environment_; }
  // The config of the folder in which the program was started.
  ProgramConfig& at_start() { return parent_ == nullptr ? *this : parent_->at_start(); }

  // The start folder or the other folder; sessions belong to it.
  const std::filesystem::path& working_dir();
  // The working folder as stored in sessions: invalid UTF-8 becomes U+FFFD.
  std::string project();
  // Resolves a path given by the user: "~/x", or relative to the working folder.
  std::filesystem::path path_named(std::string_view name);
  // The same for a folder, without links. not_found; invalid_argument if it is no folder.
  Result<std::filesystem::path> folder_named(const std::string& name);
  // The reverse: "~/x" for paths below $HOME.
  std::string short_path(std::string_view path) const;
  // `$XDG_STATE_HOME/reprise`, for example; creates nothing.
  std::filesystem::path state_folder() const;
  std::filesystem::path data_folder() const;
  std::filesystem::path config_folder() const;
  // For lists of other tools' sessions.
  std::filesystem::path cache_folder() const { return state_folder() / "sources"; }
  // For what requests have taught about servers.
  std::filesystem::path server_notes_folder() const { return state_folder() / "servers"; }
  // For messages that could not be sent to a server.
  std::filesystem::path outbox_folder() const { return state_folder() / "spill"; }

  // not_found if the home folder is unknown, invalid_argument if root would create files in
  // somebody else's; then settings() returns that error, as it does if the current folder no longer
  // exists.
  Result<> check_home() const;
  ConfigSources sources();
  // Warns about problems of a file once.
  Result<const Settings*> settings();
  // Reads the settings again on the next use; invalidates the result of settings().
  void forget_settings() { settings_.reset(); }

  // The default store.
  std::string default_store_url() const;
  // For display and storage: without a password.
  std::string store_url(const Settings& settings) const;
  // The same for every folder from which the store is named.
  std::string absolute_url(const Settings& settings);
  // With the password, for opening.
  std::string opening_url(const Settings& settings) const;
  // How a command for the same store and settings begins, for advice: "reprise --store
  // chatdir:notes".
  std::string program() const;
  // Whether the store is the parent's. False without a parent.
  Result<bool> has_store_of_parent();
  // Whether secrets may be sent in clear text.
  bool is_insecure(const Settings& settings) const {
    return globals_.insecure || settings.insecure.value_or(false);
  }

 private:
  Result<> check_owners() const;
  Result<> take_store_settings(Settings& settings);

  const Globals& globals_;
  const ProcessEnvironment& environment_;
  Console& console_;
  ProgramConfig* parent_ = nullptr;
  bool same_store_ = false;
  std::filesystem::path working_dir_;
  bool is_folder_gone_ = false;
  std::optional<Settings> settings_;
};

}  // namespace reprise::cli
