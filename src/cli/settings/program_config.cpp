#include "cli/settings/program_config.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "base/command_line.h"
#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/settings/config.h"
#include "cli/settings/context_file.h"
#include "reprise/open_store.h"

namespace reprise::cli {
namespace {

// An XDG base directory; relative paths are ignored, as the specification requires.
std::filesystem::path base_folder(const ProcessEnvironment& environment, std::string_view variable,
                                  std::string_view below_home) {
  if (const auto value = environment.find(variable); value && value->starts_with('/')) {
    return std::filesystem::path(*value) / "reprise";
  }
  // Without a home folder, nothing is read or written: see check_home().
  const auto set = environment.find("HOME");
  const std::string home = set && set->starts_with('/') ? *set : "/dev/null";
  return std::filesystem::path(home) / below_home / "reprise";
}

// The owner of a folder, or of the nearest one above it if it does not exist yet. nullopt if it
// cannot be found out, which whoever opens the folder reports.
std::optional<uid_t> owner_of(const std::filesystem::path& folder) {
  for (std::filesystem::path at = folder;; at = at.parent_path()) {
    struct stat status{};
    if (::stat(at.c_str(), &status) == 0) {
      return status.st_uid;
    }
    if (errno != ENOENT || !at.has_relative_path()) {
      return std::nullopt;
    }
  }
}

std::string name_of_user(uid_t user) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): once, before threads look up users.
  const passwd* const found = ::getpwuid(user);
  return found == nullptr || found->pw_name == nullptr ? cat("#", user) : found->pw_name;
}

}  // namespace

ProgramConfig::ProgramConfig(ProgramConfig& parent, std::filesystem::path folder, bool same_store,
                             Console& console)
    : globals_(parent.globals_),
      environment_(parent.environment_),
      console_(console),
      parent_(&parent),
      same_store_(same_store),
      working_dir_(std::move(folder)) {}

const std::filesystem::path& ProgramConfig::working_dir() {
  if (working_dir_.empty()) {
    std::error_code error;
    working_dir_ = std::filesystem::current_path(error);
    if (error) {
      working_dir_ = "/";
      is_folder_gone_ = true;
    }
  }
  return working_dir_;
}

std::string ProgramConfig::project() {
  return utf8::sanitize(working_dir().native());
}

Result<fs::path> ProgramConfig::folder_named(const std::string& name) {
  std::error_code error;
  fs::path folder = fs::canonical(path_named(name), error);
  if (error) {
    return fail(Code::not_found, cat("no such folder: ", name));
  }
  if (!fs::is_directory(folder, error)) {
    return fail(Code::invalid_argument, "Project path is not a directory.");
  }
  return folder;
}

std::string ProgramConfig::short_path(std::string_view path) const {
  const std::string home = environment_.find("HOME").value_or("/");
  const bool is_below = home.size() > 1 && path.starts_with(home) &&
                        (path.size() == home.size() || path[home.size()] == '/');
  return is_below ? cat("~", path.substr(home.size())) : std::string(path);
}

std::filesystem::path ProgramConfig::path_named(std::string_view name) {
  if (name == "~" || name.starts_with("~/")) {
    const std::filesystem::path home = environment_.find("HOME").value_or("/");
    return home / name.substr(std::min<std::size_t>(2, name.size()));
  }
  return working_dir() / name;
}

std::filesystem::path ProgramConfig::state_folder() const {
  const std::filesystem::path folder = base_folder(environment_, "XDG_STATE_HOME", ".local/state");
  return resolve_path(folder).value_or(folder);
}

std::filesystem::path ProgramConfig::data_folder() const {
  return base_folder(environment_, "XDG_DATA_HOME", ".local/share");
}

std::filesystem::path ProgramConfig::config_folder() const {
  return base_folder(environment_, "XDG_CONFIG_HOME", ".config");
}

ConfigSources ProgramConfig::sources() {
  const auto named = globals_.config ? globals_.config : environment_.find("REPRISE_CONFIG");
  return {.user_file = named ? std::filesystem::path(*named) : config_folder() / "config.toml",
          .user_file_required = named.has_value(),
          .project_from = working_dir()};
}

Result<> ProgramConfig::check_home() const {
  if (const auto home = environment_.find("HOME"); home && !home->starts_with('/')) {
    return fail(Code::invalid_argument,
                cat("HOME is '", *home, "', which is not an absolute path: correct it"));
  }
  for (const std::string_view variable : {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
    const auto value = environment_.find(variable);
    if (!environment_.find("HOME") && !(value && value->starts_with('/'))) {
      return fail(Code::not_found,
                  "HOME is not set, and the system names no home folder for this user: set HOME");
    }
  }
  return ::geteuid() == 0 ? check_owners() : Result<>();
}

// What root creates in the home folder of another user would lock that user out, as does what
// reading a database creates beside it.
Result<> ProgramConfig::check_owners() const {
  std::set<std::string> folders;
  for (const std::string_view variable : {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
    const auto value = environment_.find(variable);
    folders.insert(value && value->starts_with('/') ? *value
                                                    : environment_.find("HOME").value_or("/"));
  }
  for (const std::string& folder : folders) {
    const std::optional<uid_t> owner = owner_of(folder);
    if (owner && *owner != 0) {
      const std::string user = name_of_user(*owner);
      return fail(Code::invalid_argument,
                  cat("this is root, but ", folder, " belongs to ", user,
                      ", who could not use what root creates there: run `sudo -u ",
                      shell_word(user), " ", program(), "` for that user's sessions, or `sudo -H ",
                      program(), "` for root's own"));
    }
  }
  return {};
}

Result<const Settings*> ProgramConfig::settings() {
  if (!settings_) {
    REPRISE_TRY(check_home());
    (void)working_dir();
    if (is_folder_gone_) {
      return fail(Code::not_found, "the current folder no longer exists: change to another one");
    }
    REPRISE_ASSIGN(LoadedSettings loaded, load_settings(sources(), environment_));
    settings_ = std::move(loaded.settings);
    for (const std::string& warning : loaded.warnings) {
      console_.warn_once(warning);
    }
    if (globals_.store) {
      settings_->store = globals_.store;
      settings_->origin["store"] = "--store";
    }
    REPRISE_TRY(take_store_settings(*settings_));
  }
  return &*settings_;
}

// Applies the settings of a context file, and the default provider of the store's kind.
Result<> ProgramConfig::take_store_settings(Settings& settings) {
  const std::string url = resolved_store_url(opening_url(settings));
  const std::filesystem::path& folder = same_store_ ? parent_->working_dir() : working_dir();
  REPRISE_ASSIGN(const auto file, choose_context_file(url, folder));
  if (file) {
    std::vector<std::string> warnings;
    REPRISE_TRY(apply_context_file(settings, *file, warnings));
    for (const std::string& warning : warnings) {
      console_.warn_once(warning);
    }
  }
  const StoreKind* const kind = find_store_kind(url);
  if (kind != nullptr && !kind->provider.empty() && !settings.provider) {
    settings.provider = kind->provider;
    settings.origin.insert_or_assign("provider", url);
  }
  if (kind != nullptr && kind->has_models_titles && !settings.title) {
    settings.title = "model";
    settings.origin.insert_or_assign("title", url);
  }
  return {};
}

// Equal URLs may mean different files: "context:" is searched for from the folder.
Result<bool> ProgramConfig::has_store_of_parent() {
  if (parent_ == nullptr || same_store_) {
    return parent_ != nullptr;
  }
  REPRISE_ASSIGN(const Settings* const own, settings());
  REPRISE_ASSIGN(const Settings* const parents, parent_->settings());
  return opening_url(*own) == parent_->opening_url(*parents) &&
         own->context_file == parents->context_file;
}

std::string ProgramConfig::program() const {
  return cat("reprise",
             globals_.store ? cat(" --store ", shell_word(without_password(*globals_.store))) : "",
             globals_.config ? cat(" --config ", shell_word(*globals_.config)) : "");
}

std::string ProgramConfig::store_url(const Settings& settings) const {
  return without_password(opening_url(settings));
}

std::string ProgramConfig::absolute_url(const Settings& settings) {
  return absolute_store_url(resolved_store_url(store_url(settings)), working_dir());
}

std::string ProgramConfig::opening_url(const Settings& settings) const {
  if (same_store_ && parent_->settings_) {
    return parent_->opening_url(*parent_->settings_);
  }
  if (parent_ != nullptr && settings.store == "context:" && !settings.context_file.empty()) {
    return cat("context:", settings.context_file.native());
  }
  return settings.store.value_or(default_store_url());
}

std::string ProgramConfig::default_store_url() const {
  return cat("sqlite:", (data_folder() / "reprise.db").string());
}

}  // namespace reprise::cli
