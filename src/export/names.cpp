// The names of exported files, the folders where other tools look for them, and the folders that
// those tools own.

#include "export/names.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "export/formats.h"
#include "export/tool_values.h"
#include "model/known_time.h"
#include "reprise/open_source.h"

namespace reprise::exporting {
namespace {

constexpr std::size_t kTitleBytes = 40;
constexpr std::size_t kDateBytes = 10;

// The title's letters and digits in lower case, with dashes between words.
std::string slug(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (is_ascii_alnum(c)) {
      out += ascii_lower(c);
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
    if (out.size() == kTitleBytes) {
      break;
    }
  }
  while (out.ends_with('-')) {
    out.pop_back();
  }
  return out;
}

std::string plain_id(std::string id) {
  for (char& c : id) {
    c = is_ascii_alnum(c) || c == '-' || c == '_' ? c : '-';
  }
  return id;
}

}  // namespace

std::string file_stem(const Session& session) {
  const Time time = time_of(session);
  const std::string day = is_known(time) ? cat(format_time(time).substr(0, kDateBytes), "-") : "";
  const std::string title = slug(session.info.title);
  return cat(day, title, title.empty() ? "" : "-", plain_id(short_id(session.info.id)));
}

std::string full_id(const SessionId& id) {
  return plain_id(id.str());
}

Time time_of(const Session& session) {
  return is_known(session.info.created_at) ? session.info.created_at : session.info.updated_at;
}

Result<Session> with_times(Source& source, Session session) {
  SessionInfo& info = session.info;
  Time first_known = kUnknownTime;
  if (!is_known(time_of(session)) && source.capabilities().messages) {
    REPRISE_TRY(source.read(info.id, {}, [&](const Message& message) {
      first_known = message.created_at;
      return is_known(first_known) ? Flow::stop : Flow::proceed;
    }));
  }
  info.created_at = known_time({info.created_at, info.updated_at, first_known});
  info.updated_at = known_time({info.updated_at, info.created_at});
  return session;
}

}  // namespace reprise::exporting

namespace reprise {

namespace exporting {
namespace {

namespace fs = std::filesystem;

// Without a home folder, the root folder.
std::optional<fs::path> folder_of_kind(const SourceKind& kind, const EnvironmentLookup& variables) {
  return default_location(kind, [&variables](std::string_view name) {
    const auto value = variables(name);
    return value || name != "HOME" ? value : std::optional<std::string>("/");
  });
}

fs::path folder_of_tool(std::string_view name, const EnvironmentLookup& variables) {
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
fs::path codex_folder(const Session& session, const EnvironmentLookup& variables) {
  const std::string day = iso_milliseconds(known_time({time_of(session)})).substr(0, 10);
  return folder_of_tool("codex", variables) / "sessions" / day.substr(0, 4) / day.substr(5, 2) /
         day.substr(8);
}

// Returns, for example, projects/-home-a-project.
fs::path claude_folder(const Session& session, const EnvironmentLookup& variables) {
  return folder_of_tool("claude", variables) / "projects" / dashed(session.info.working_dir);
}

// Returns, for example, sessions/--home-a-project--.
fs::path pi_folder(const Session& session, const EnvironmentLookup& variables) {
  std::string name = session.info.working_dir;
  name.erase(0, name.starts_with('/') ? 1 : 0);
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == '\\' || c == ':'; }, '-');
  return folder_of_tool("pi", variables) / "sessions" / cat("--", name, "--");
}

}  // namespace exporting

Result<std::filesystem::path> find_tool_folder(const ExportFormat& format, const Session& session,
                                               const EnvironmentLookup& variables) {
  const exporting::Format& entry = exporting::format_of(format);
  if (entry.folder == nullptr) {
    return fail(Code::unsupported,
                format.tool.empty()
                    ? cat("no other tool reads the format ", format.name)
                    : cat(format.tool, " imports files itself: export to one with -o, then `",
                          format.import_command, "`"));
  }
  return entry.folder(session, variables);
}

Result<std::optional<std::string>> find_owner_of(const std::filesystem::path& path,
                                                 const EnvironmentLookup& variables) {
  REPRISE_ASSIGN(const std::filesystem::path resolved, resolve_path(path));
  const std::filesystem::path target = resolved.lexically_normal();  // links are already resolved
  for (const SourceKind& kind : source_kinds()) {
    const auto location = exporting::folder_of_kind(kind, variables);
    if (!location) {
      continue;
    }
    REPRISE_ASSIGN(const std::filesystem::path folder, resolve_path(*location));
    const std::filesystem::path tool_folder = folder.lexically_normal();
    const auto [end, in_target] = std::ranges::mismatch(tool_folder, target);
    if (end == tool_folder.end()) {
      return std::optional(std::string(kind.title));
    }
  }
  return std::nullopt;
}

}  // namespace reprise
