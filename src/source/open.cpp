#include <algorithm>
#include <iterator>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "base/variable.h"
#include "reprise/open_source.h"
#include "source/database_copy.h"
#include "source/kinds.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

// Each kind of source is a line of this table.
constexpr SourceKind kKinds[] = {
    {.name = "claude",
     .title = "Claude Code",
     .form = "claude:[FOLDER]",
     .default_locations = {{{"CLAUDE_CONFIG_DIR", ""}, {"HOME", ".claude"}}},
     .is_at = source::is_claude,
     .open = source::open_claude},
    {.name = "codex",
     .title = "Codex",
     .form = "codex:[FOLDER]",
     .default_locations = {{{"CODEX_HOME", ""}, {"HOME", ".codex"}}},
     .is_at = source::is_codex,
     .open = source::open_codex},
    {.name = "gemini",
     .title = "Gemini CLI",
     .form = "gemini:[FOLDER]",
     .default_locations = {{{"HOME", ".gemini"}}},
     .is_at = source::is_gemini,
     .open = source::open_gemini},
    {.name = "qwen",
     .title = "Qwen Code",
     .form = "qwen:[FOLDER]",
     .default_locations = {{{"HOME", ".qwen"}}},
     .is_at = source::is_qwen,
     .open = source::open_qwen},
    {.name = "pi",
     .title = "pi",
     .form = "pi:[FOLDER]",
     .default_locations = {{{"PI_CODING_AGENT_DIR", ""}, {"HOME", ".pi/agent"}}},
     .is_at = source::is_pi,
     .open = source::open_pi},
    {.name = "copilot",
     .title = "Copilot CLI",
     .form = "copilot:[FOLDER]",
     .default_locations = {{{"COPILOT_HOME", ""}, {"HOME", ".copilot"}}},
     .is_at = source::is_copilot,
     .open = source::open_copilot},
    {.name = "opencode",
     .title = "opencode",
     .form = "opencode:[FOLDER]",
     .default_locations = {{{"XDG_DATA_HOME", "opencode"}}},
     .is_at = source::is_opencode,
     .open = source::open_opencode},
    {.name = "kilo",
     .title = "Kilo",
     .form = "kilo:[FOLDER]",
     .default_locations = {{{"XDG_DATA_HOME", "kilo"}}},
     .is_at = source::is_kilo,
     .open = source::open_opencode},
    {.name = "llm",
     .title = "llm",
     .form = "llm:[FOLDER]",
     .default_locations = {{{"LLM_USER_PATH", ""}, {"XDG_CONFIG_HOME", "io.datasette.llm"}}},
     .is_at = source::is_llm,
     .open = source::open_llm},
    {.name = "goose",
     .title = "goose",
     .form = "goose:[FOLDER]",
     .default_locations = {{{"GOOSE_PATH_ROOT", "data/sessions"},
                            {"XDG_DATA_HOME", "goose/sessions"}}},
     .is_at = source::is_goose,
     .open = source::open_goose},
    {.name = "crush",
     .title = "crush",
     .form = "crush:[FOLDER]",
     .default_locations = {{{"CRUSH_GLOBAL_DATA", ""}, {"XDG_DATA_HOME", "crush"}}},
     .is_at = source::is_crush,
     .open = source::open_crush,
     .files_elsewhere = source::crush_databases},
    {.name = "aichat",
     .title = "aichat",
     .form = "aichat:[FOLDER]",
     .default_locations = {{{"AICHAT_CONFIG_DIR", ""}, {"XDG_CONFIG_HOME", "aichat"}}},
     .is_at = source::is_aichat,
     .open = source::open_aichat},
    {.name = "continue",
     .title = "Continue",
     .form = "continue:[FOLDER]",
     .default_locations = {{{"CONTINUE_GLOBAL_DIR", ""}, {"HOME", ".continue"}}},
     .is_at = source::is_continue,
     .open = source::open_continue},
    {.name = "cline",
     .title = "Cline",
     .form = "cline:[FOLDER]",
     .default_locations = {{{"HOME", ".cline"}}},
     .is_at = source::is_cline,
     .open = source::open_cline},
    {.name = "chatgpt",
     .title = "ChatGPT",
     .form = "chatgpt:FILE",
     .is_at = source::is_chatgpt,
     .open = source::open_chatgpt},
    {.name = "claude-export",
     .title = "claude.ai",
     .form = "claude-export:FILE",
     .is_at = source::is_claude_export,
     .open = source::open_claude_export},
    {.name = "llamacpp",
     .title = "llama.cpp",
     .form = "llamacpp:FILE",
     .is_at = source::is_llamacpp,
     .open = source::open_llamacpp},
    {.name = "exported",
     .title = "exported sessions",
     .form = "exported:FILE",
     .is_at = source::is_exported,
     .open = source::open_exported},
};

// The defaults of XDG variables.
struct XdgFolder {
  std::string_view variable;
  std::string_view in_home;
};
constexpr XdgFolder kXdgFolders[] = {{"XDG_DATA_HOME", ".local/share"},
                                     {"XDG_CONFIG_HOME", ".config"},
                                     {"XDG_STATE_HOME", ".local/state"},
                                     {"XDG_CACHE_HOME", ".cache"}};

std::optional<fs::path> folder_in(std::string_view name, const EnvironmentLookup& variable) {
  if (const auto value = variable(name); value && !value->empty()) {
    return fs::path(*value);
  }
  const auto* const xdg = std::ranges::find(kXdgFolders, name, &XdgFolder::variable);
  const auto home = variable("HOME");
  if (xdg == std::end(kXdgFolders) || !home || home->empty()) {
    return std::nullopt;
  }
  return fs::path(*home) / xdg->in_home;
}

std::optional<std::string> process_variable(std::string_view name) {
  std::string value = variable(std::string(name).c_str());
  return value.empty() ? std::nullopt : std::optional(std::move(value));
}

const SourceKind* kind_of_scheme(std::string_view scheme) {
  const auto* const found = std::ranges::find(kKinds, scheme, &SourceKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

// A file without a history would be read as a history without sessions.
Result<> check_file(const SourceKind& kind, const fs::path& location, FileKind file_kind) {
  if (file_kind != FileKind::file) {
    return {};
  }
  std::error_code failed;  // reported by whoever reads the file
  if (fs::is_empty(location, failed) && !failed) {
    return fail(Code::invalid_argument, cat("the file ", location.native(), " is empty"));
  }
  const bool is_in_folder = !kind.default_locations.front().variable.empty();
  REPRISE_ASSIGN(const bool is_history, is_in_folder ? kind.is_at(location) : Result<bool>(true));
  return is_history ? Result<>()
                    : fail(Code::invalid_argument,
                           cat("the file ", location.native(), " is not a history of ", kind.title,
                               ": write ", kind.form));
}

Result<std::unique_ptr<Source>> open_kind(const SourceKind& kind, std::string_view path,
                                          const StoreOptions& options,
                                          const EnvironmentLookup& variable) {
  const std::optional<fs::path> where =
      path.empty() ? default_location(kind, variable ? variable : process_variable)
                   : fs::path(path);
  if (!where) {
    return fail(Code::invalid_argument, cat("no path in the URL: write ", kind.form));
  }
  REPRISE_ASSIGN(const fs::path location, resolve_path(*where));
  REPRISE_ASSIGN(const FileKind file_kind, kind_of(location));
  if (file_kind == FileKind::none) {
    return fail(Code::not_found,
                cat("no history of ", kind.title, " at ", location.native(),
                    path.empty() ? cat("; name its path: ", kind.name, ":PATH") : std::string()));
  }
  REPRISE_TRY(check_file(kind, location, file_kind));
  return kind.open(location, options);
}

}  // namespace

std::span<const SourceKind> source_kinds() {
  return kKinds;
}

std::string source_forms() {
  std::string forms;
  for (const SourceKind& kind : kKinds) {
    forms += cat(forms.empty() ? "" : ", ", kind.form);
  }
  return forms;
}

std::optional<fs::path> default_location(const SourceKind& kind,
                                         const EnvironmentLookup& variable) {
  for (const SourceKind::DefaultLocation& location : kind.default_locations) {
    if (location.variable.empty()) {
      break;
    }
    if (const auto folder = folder_in(location.variable, variable)) {
      return location.below.empty() ? *folder : *folder / location.below;
    }
  }
  return std::nullopt;
}

std::optional<fs::path> default_location(const SourceKind& kind) {
  return default_location(kind, process_variable);
}

Result<const SourceKind*> source_kind_of(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon != std::string_view::npos) {
    return kind_of_scheme(url.substr(0, colon));
  }
  REPRISE_ASSIGN(const FileKind file_kind, kind_of_target(url));
  if (file_kind != FileKind::file && file_kind != FileKind::folder) {
    return nullptr;
  }
  REPRISE_ASSIGN(const std::string store, recognise_store(url));
  REPRISE_ASSIGN(const fs::path location, resolve_path(url));
  // recognise_store() accepts any database, so the application id decides.
  const bool is_database = store.starts_with("sqlite:");
  if (!store.empty() && (!is_database || source::is_own_database(location))) {
    return nullptr;
  }
  for (const SourceKind& kind : kKinds) {
    REPRISE_ASSIGN(const bool is_at, kind.is_at(location));
    if (is_at) {
      return &kind;
    }
  }
  return nullptr;
}

bool is_store_url(std::string_view url) {
  const std::size_t colon = url.find(':');
  const std::string_view scheme = url.substr(0, colon);
  return colon != std::string_view::npos &&
         std::ranges::any_of(store_kinds(), [scheme](const StoreKind& kind) {
           return kind.name == scheme || kind.alias == scheme;
         });
}

Result<std::unique_ptr<Source>> open_source(std::string_view url, StoreOptions options,
                                            const EnvironmentLookup& variable) {
  options.access = Access::read;
  REPRISE_ASSIGN(const SourceKind* const kind, source_kind_of(url));
  if (kind != nullptr) {
    return open_kind(*kind, url.substr(url.find(':') + 1), options, variable);
  }
  auto store = open_store(url, options);
  if (!store && store.error().code == Code::invalid_argument &&
      url.find(':') != std::string_view::npos && !is_store_url(url)) {
    store.error().message += cat("; other tools' histories: ", source_forms());
  }
  return store;
}

}  // namespace reprise
