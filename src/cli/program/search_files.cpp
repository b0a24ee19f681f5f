#include "cli/program/search_files.h"

#include <algorithm>

#include "base/file.h"
#include "cli/program/store_opener.h"
#include "cli/settings/context_file.h"

namespace reprise::cli {

std::filesystem::path search_index_file(const Context& context) {
  return context.config().state_folder() / "search.db";
}

Result<std::unique_ptr<SearchIndex>> open_search_index(Context& context) {
  REPRISE_TRY(context.config().check_home());
  return SearchIndex::open(
      search_index_file(context), {.on_progress = [&context](const Progress& progress) {
        context.console().progress(progress.work, progress.done, progress.total);
        return Flow::proceed;
      }});
}

std::optional<Remnant> forget_in_search(Context& context, std::span<const SessionId> purged) {
  const std::filesystem::path file = search_index_file(context);
  const auto forget = [&]() -> Result<> {
    REPRISE_ASSIGN(const FileKind kind, kind_behind(file));
    if (kind == FileKind::none) {
      return {};
    }
    REPRISE_ASSIGN(const std::string url, search_url(context));
    REPRISE_ASSIGN(const auto index, SearchIndex::open(file));
    return index->forget(url, purged);
  };
  if (const auto forgotten = forget(); !forgotten) {
    return Remnant{file.native(),
                   cat(forgotten.error().message, "; the next `reprise search` removes them")};
  }
  return std::nullopt;
}

Result<std::string> search_url(Context& context) {
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  return search_url(context.config().store_url(*settings), context.environment());
}

std::vector<FoundHistory> find_histories(Context& context, std::string_view only) {
  std::vector<FoundHistory> found;
  for (const SourceKind& kind : source_kinds()) {
    const auto place = default_location(
        kind, [&context](std::string_view name) { return context.environment().find(name); });
    if ((!only.empty() && kind.name != only) || !place) {
      continue;
    }
    auto opened = kind.open(*place, {.cache_folder = context.config().cache_folder()});
    if (opened) {
      found.push_back({cat(kind.name, ":"), *std::move(opened)});
    } else if (opened.error().code != Code::not_found) {
      context.console().warn(opened.error().message);
    }
  }
  return found;
}

std::string search_url(std::string_view store_url, const ProcessEnvironment& environment) {
  std::string url = source_url(without_password(resolved_store_url(store_url)), environment);
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos || url.find("://") != std::string::npos) {
    return url;
  }
  const std::filesystem::path place = url.substr(colon + 1);
  if (place.empty()) {
    return url;
  }
  std::error_code failed;
  const std::filesystem::path absolute =
      std::filesystem::absolute(resolve_path(place).value_or(place), failed);
  return cat(url.substr(0, colon + 1), (failed ? place : absolute.lexically_normal()).native());
}

}  // namespace reprise::cli
