#include "cli/commands/import_sources.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/program/store_opener.h"
#include "cli/settings/program_config.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

// The size of the file, or of all readable files in the folder.
std::int64_t bytes_at(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    return static_cast<std::int64_t>(fs::file_size(path, error));
  }
  std::int64_t bytes = 0;
  for (fs::recursive_directory_iterator
           entry(path, fs::directory_options::skip_permission_denied, error),
       end;
       !error && entry != end; entry.increment(error)) {
    std::error_code none;
    if (entry->is_regular_file(none) && !entry->is_symlink(none)) {
      const auto size = entry->file_size(none);
      bytes += none ? 0 : static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

Result<FoundSessions> list_history(Source& source) {
  SessionQuery query;
  query.states = every_state();
  query.children = true;
  REPRISE_ASSIGN(FoundSessions listed, find_all_sessions(source, query));
  // Parents come before their forks, which share their messages.
  std::ranges::stable_sort(listed.sessions, {}, [](const SessionInfo& info) {
    return std::pair(info.forked_from.has_value(), info.created_at);
  });
  return listed;
}

// Opens it if it is there by now.
Result<FoundSessions> list_history(Context& context, FoundSource& found) {
  std::error_code error;
  if (found.source == nullptr && fs::exists(found.path, error)) {
    auto source = open_source(cat(found.kind->name, ":", found.path.native()),
                              {.cache_folder = context.config().cache_folder()});
    if (!source && source.error().code != Code::not_found) {
      return std::unexpected(source.error());
    }
    found.source = std::move(source).value_or(nullptr);
  }
  return found.source == nullptr ? FoundSessions() : list_history(*found.source);
}

}  // namespace

std::vector<fs::path> FoundSource::files() const {
  std::vector<fs::path> files;
  if (kind->files_elsewhere != nullptr) {
    files = kind->files_elsewhere(path);
  }
  files.push_back(path);
  return files;
}

std::int64_t FoundSource::bytes() const {
  std::int64_t sum = 0;
  for (const fs::path& file : files()) {
    sum += bytes_at(file);
  }
  return sum;
}

std::int64_t FoundSource::messages() const {
  std::int64_t sum = 0;
  for (const SessionInfo& info : listed.sessions) {
    sum += info.head.value;
  }
  return sum;
}

bool FoundSource::has_exact_counts() const {
  return std::ranges::all_of(listed.sessions, &SessionInfo::is_head_known);
}

Time FoundSource::newest() const {
  Time newest;
  for (const SessionInfo& info : listed.sessions) {
    newest = std::max(newest, info.updated_at);
  }
  return newest;
}

void list_again(Context& context, FoundSource& found) {
  auto listed = list_history(context, found);
  std::string error = listed ? "" : listed.error().message;
  if (!listed && error != found.error) {
    context.console().warn(cat("cannot read ", found.kind->name, ": ", error));
  }
  found.error = std::move(error);
  found.listed = std::move(listed).value_or(FoundSessions());
}

std::vector<FoundSource> find_import_sources(Context& context) {
  std::vector<FoundSource> sources;
  for (const SourceKind& kind : source_kinds()) {
    auto path = default_location(
        kind, [&](std::string_view name) { return context.environment().find(name); });
    if (path) {
      sources.push_back({.kind = &kind, .path = *std::move(path)});
      list_again(context, sources.back());
    }
  }
  return sources;
}

Result<std::vector<FoundSource>> open_import_sources(Context& context,
                                                     const std::vector<std::string>& urls) {
  std::vector<FoundSource> sources;
  for (const std::string& url : urls) {
    REPRISE_ASSIGN(const SourceKind* const kind, source_kind_of(url));
    if (kind == nullptr) {
      std::error_code error;
      if (!url.contains(':') && !fs::exists(url, error)) {
        return fail(Code::not_found, cat("there is no file or folder '", url, "'"));
      }
      return fail(
          Code::invalid_argument,
          cat("'", url, "' is not another tool's history; between stores, use `reprise copy`"));
    }
    REPRISE_ASSIGN(auto source, context.stores().open_source_at(url));
    const std::string full_url = source_url(url, context.environment());
    const std::size_t colon = full_url.find(':');
    const fs::path path = colon == std::string::npos ? full_url : full_url.substr(colon + 1);
    FoundSource found{
        .kind = kind, .path = fs::absolute(path).lexically_normal(), .source = std::move(source)};
    REPRISE_ASSIGN(found.listed, list_history(*found.source));
    sources.push_back(std::move(found));
  }
  return sources;
}

}  // namespace reprise::cli
