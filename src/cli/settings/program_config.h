#pragma once

// Where the program works, and the settings that hold there: flags, environment and files put
// together. They are read when they are first asked for, so that `--help` opens nothing.

#include "cli/program/arguments.h"
#include "cli/program/voice.h"  // IWYU pragma: export
#include "cli/settings/config.h"

namespace reprise::cli {

class ProgramConfig {
 public:
  // All of them outlive it.
  ProgramConfig(const Globals& globals, const ProcessEnvironment& environment, Voice& voice)
      : globals_(globals), environment_(environment), voice_(voice) {}
  // Of another folder: its settings. With `same_store` the store is the parent's, whatever they
  // name: what was found there is gone on with. The parent outlives it.
  ProgramConfig(ProgramConfig& parent, std::filesystem::path folder, bool same_store, Voice& voice);
  ~ProgramConfig() = default;
  ProgramConfig(const ProgramConfig&) = delete;
  ProgramConfig& operator=(const ProgramConfig&) = delete;

  const Globals& globals() const { return globals_; }
  const ProcessEnvironment& environment() const { return environment_; }
  // That of the folder in which the program was started.
  ProgramConfig& at_start() { return parent_ == nullptr ? *this : parent_->at_start(); }

  // Where the program was started, or the other folder; sessions belong to such a folder.
  const std::filesystem::path& working_dir();
  // The same as sessions name it: what is no UTF-8 in it is U+FFFD there.
  std::string project();
  // What a person calls a file or folder: "~/x", or from the working folder.
  std::filesystem::path path_named(std::string_view name);
  // The other way round: "~/x" for what is below $HOME.
  std::string short_path(std::string_view path) const;
  // `$XDG_STATE_HOME/reprise` and its kind; nothing is created.
  std::filesystem::path state_folder() const;
  std::filesystem::path data_folder() const;
  std::filesystem::path config_folder() const;
  // Lists of other tools' sessions.
  std::filesystem::path cache_folder() const { return state_folder() / "sources"; }
  // Where what a server did not take waits.
  std::filesystem::path outbox_folder() const { return state_folder() / "spill"; }

  // not_found when nobody knows where this user's files are; then settings() is that error.
  Result<> check_home() const;
  ConfigSources sources();
  // What is wrong with a file is warned of once.
  Result<const Settings*> settings();
  // They are read anew; what settings() has given before is gone.
  void forget_settings() { settings_.reset(); }

  // The store when no other is named.
  std::string usual_store_url() const;
  // As it may be shown and kept: without a password.
  std::string store_url(const Settings& settings) const;
  // With what opens it.
  std::string opening_url(const Settings& settings) const;
  // Whether the store is that of the parent. False without a parent.
  Result<bool> has_store_of_parent();
  // Whether secrets may cross the network in clear text.
  bool is_insecure(const Settings& settings) const {
    return globals_.insecure || settings.insecure.value_or(false);
  }

 private:
  Result<> take_store_settings(Settings& settings);

  const Globals& globals_;
  const ProcessEnvironment& environment_;
  Voice& voice_;
  ProgramConfig* parent_ = nullptr;
  bool same_store_ = false;
  std::filesystem::path working_dir_;
  std::optional<Settings> settings_;
};

}  // namespace reprise::cli
