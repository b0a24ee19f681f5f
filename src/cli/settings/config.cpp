#include "cli/settings/config.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "cli/settings/config_values.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProjectFile = ".reprise.toml";

Result<> read_file_of_settings(const fs::path& file, FileRank rank, LoadedSettings& out) {
  // An untrusted project must not decide which file is read.
  REPRISE_ASSIGN(const fs::path real,
                 rank == FileRank::project ? resolve_folder_of(file) : resolve_path(file));
  REPRISE_ASSIGN(const std::string text, read_file(real, kConfigBytesMax));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const auto& position = parsed.error().source().begin;
    return fail(Code::invalid_argument,
                cat(file.string(), ", line ", position.line, ", column ", position.column,
                    ": not valid TOML: ", parsed.error().description(),
                    rank == FileRank::user ? "; `reprise config edit` opens the file" : ""));
  }
  out.settings.files.push_back(file);
  return read_config(parsed.table(), ConfigValues(file, rank, out));
}

bool is_below(const fs::path& folder, const fs::path& parent) {
  const auto [end, ignored] =
      std::mismatch(parent.begin(), parent.end(), folder.begin(), folder.end());
  return end == parent.end();
}

void take(const ProcessEnvironment& environment, const std::string& variable, std::string_view name,
          std::optional<std::string>& out, LoadedSettings& loaded) {
  if (auto value = environment.find(variable)) {
    out = *std::move(value);
    loaded.settings.origin.insert_or_assign(std::string(name), variable);
  }
}

}  // namespace

bool is_trusted(const fs::path& folder, const std::vector<std::string>& trust) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  return !error && std::ranges::any_of(trust, [&](const std::string& entry) {
    std::error_code missing;
    const fs::path parent = fs::canonical(entry, missing);
    return !missing && fs::path(entry).is_absolute() && is_below(real, parent);
  });
}

Result<fs::path> find_project_file(const fs::path& folder) {
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    fs::path file = at / kProjectFile;
    const auto kind = kind_of_target(file);
    if (!kind && kind.error().os_errno != EACCES) {
      return std::unexpected(kind.error());
    }
    if (kind && *kind != FileKind::none) {
      return file;
    }
    if (at == at.parent_path()) {
      break;
    }
  }
  return fs::path();
}

Result<LoadedSettings> load_settings(const ConfigSources& sources,
                                     const ProcessEnvironment& environment) {
  LoadedSettings loaded;
  REPRISE_ASSIGN(const FileKind user_file, kind_of_target(sources.user_file));
  if (sources.user_file_required || user_file != FileKind::none) {
    REPRISE_TRY(read_file_of_settings(sources.user_file, FileRank::user, loaded));
  }
  REPRISE_ASSIGN(const fs::path project, find_project_file(sources.project_from));
  if (!project.empty()) {
    const bool trusted = is_trusted(project.parent_path(), loaded.settings.trust);
    loaded.settings.untrusted_file = trusted ? "" : project.string();
    REPRISE_TRY(read_file_of_settings(
        project, trusted ? FileRank::trusted_project : FileRank::project, loaded));
  }
  take(environment, "REPRISE_STORE", "store", loaded.settings.store, loaded);
  take(environment, "REPRISE_PROVIDER", "provider", loaded.settings.provider, loaded);
  take(environment, "REPRISE_AUTHOR", "author", loaded.settings.author, loaded);
  TopSettings variables{.provider = {}, .own = {}, .from = "REPRISE_MODEL"};
  take(environment, "REPRISE_MODEL", "model", variables.own.model, loaded);
  loaded.settings.tops.push_back(std::move(variables));
  return loaded;
}

}  // namespace reprise::cli
