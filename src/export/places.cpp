// The folders where other tools look for sessions, and the folders they own.

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "export/formats.h"
#include "export/names.h"
#include "export/tool_values.h"
#include "model/known_time.h"
#include "reprise/open_source.h"

namespace reprise {
namespace exporting {
namespace {

namespace fs = std::filesystem;

// Without a home folder, the root folder.
std::optional<fs::path> folder_of_kind(const SourceKind& kind, const ToolVariables& variables) {
  return default_location(kind, [&variables](std::string_view name) {
    const auto value = variables(name);
    return value || name != "HOME" ? value : std::optional<std::string>("/");
  });
}

fs::path folder_of_tool(std::string_view name, const ToolVariables& variables) {
  const auto kind = std::ranges::find(source_kinds(), name, &SourceKind::name);
  return kind == source_kinds().end() ? fs::path("/")
                                      : folder_of_kind(*kind, variables).value_or("/");
}

// Replaces all characters but letters and digits with dashes.
std::string dashed(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, [](char c) { return !is_ascii_alnum(c); }, '-');
  return out;
}

}  // namespace

// Returns, for example, sessions/2026/01/18.
fs::path codex_folder(const Session& session, const ToolVariables& variables) {
  const std::string day = iso_milliseconds(known_time({time_of(session)})).substr(0, 10);
  return folder_of_tool("codex", variables) / "sessions" / day.substr(0, 4) / day.substr(5, 2) /
         day.substr(8);
}

// Returns, for example, projects/-home-a-project.
fs::path claude_folder(const Session& session, const ToolVariables& variables) {
  return folder_of_tool("claude", variables) / "projects" / dashed(session.info.working_dir);
}

// Returns, for example, sessions/--home-a-project--.
fs::path pi_folder(const Session& session, const ToolVariables& variables) {
  std::string name = session.info.working_dir;
  name.erase(0, name.starts_with('/') ? 1 : 0);
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == '\\' || c == ':'; }, '-');
  return folder_of_tool("pi", variables) / "sessions" / cat("--", name, "--");
}

}  // namespace exporting

Result<std::filesystem::path> find_tool_folder(const ExportFormat& format, const Session& session,
                                               const ToolVariables& variables) {
  const exporting::Format& entry = exporting::format_of(format);
  if (entry.folder == nullptr) {
    return fail(Code::unsupported,
                format.tool.empty()
                    ? cat("no other tool reads the format ", format.name)
                    : cat(format.tool, " imports files itself: export to one with -o, then `",
                          format.taken_by, "`"));
  }
  return entry.folder(session, variables);
}

Result<std::optional<std::string>> find_owner_of(const std::filesystem::path& path,
                                                 const ToolVariables& variables) {
  REPRISE_ASSIGN(const std::filesystem::path resolved, resolve_path(path));
  const std::filesystem::path target = resolved.lexically_normal();  // links are already resolved
  for (const SourceKind& kind : source_kinds()) {
    const auto place = exporting::folder_of_kind(kind, variables);
    if (!place) {
      continue;
    }
    REPRISE_ASSIGN(const std::filesystem::path folder, resolve_path(*place));
    const std::filesystem::path own = folder.lexically_normal();
    const auto [end, rest] = std::ranges::mismatch(own, target);
    if (end == own.end()) {
      return std::optional(std::string(kind.title));
    }
  }
  return std::nullopt;
}

}  // namespace reprise
