#include "cli/program/search_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/file.h"
#include "cli/program/store_opener.h"
#include "cli/settings/context_file.h"
#include "cli/settings/program_config.h"
#include "reprise/open_store.h"
#include "session/outbox.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 1'000;  // per folder
constexpr std::size_t kFoldersUpMax = 32;

class StoreFinder {
 public:
  void probe(const fs::path& path) {
    std::error_code none;
    if (!fs::exists(path, none)) {
      return;
    }
    const auto url = recognise_store(path);
    if (url && !url->empty() && std::ranges::find(found_, *url) == found_.end()) {
      found_.push_back(*url);
    }
  }

  void probe_named(const fs::path& folder, std::string_view name) {
    if (!name.empty()) {
      probe(folder / name);
    }
  }

  void probe_folder(const fs::path& folder) {
    std::error_code none;
    std::vector<fs::path> entries;
    for (fs::directory_iterator entry(folder, none), end;
         entry != end && entries.size() < kEntriesMax; entry.increment(none)) {
      entries.push_back(entry->path());
    }
    std::ranges::sort(entries);
    probe(folder);
    for (const fs::path& entry : entries) {
      probe(entry);
    }
  }

  void probe_parents(fs::path folder) {
    for (std::size_t up = 0; up < kFoldersUpMax; ++up) {
      probe(folder);
      for (const StoreKind& kind : store_kinds()) {
        for (const std::string_view name : kind.in_project) {
          probe_named(folder, name);
        }
      }
      const fs::path parent = folder.parent_path();
      if (parent == folder) {
        return;
      }
      folder = parent;
    }
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

// Indexing them takes more than a moment.
constexpr std::int64_t kNotedMessages = 20'000;

// A search waits until all messages of a server's store are indexed.
void note_waiting(Context& context, std::int64_t messages) {
  const auto settings = context.config().settings();
  if (settings && is_on_a_server(context.config().store_url(**settings))) {
    context.console().notice(cat("waiting until about ", messages, " messages are indexed; `",
                                 context.config().program(),
                                 " store index`, run by a timer, does it beforehand"));
  }
}

}  // namespace

std::filesystem::path search_index_file(const Context& context) {
  return context.config().state_folder() / "search.db";
}

Result<std::unique_ptr<SearchIndex>> open_search_index(
    Context& context, std::function<void(const Damage&)> on_damage) {
  REPRISE_TRY(context.config().check_home());
  const auto on_progress = [&context, is_noted = false](const Progress& progress) mutable {
    if (!is_noted && progress.total - progress.done >= kNotedMessages) {
      is_noted = true;
      note_waiting(context, progress.total);
    }
    context.console().progress(progress);
    return Flow::proceed;
  };
  auto index = SearchIndex::open(search_index_file(context),
                                 {.on_progress = on_progress, .on_damage = std::move(on_damage)});
  constexpr std::array kElsewhereToo = {EMFILE, ENFILE, ENOMEM, EIO};
  if (!index && index.error().code == Code::io &&
      std::ranges::find(kElsewhereToo, index.error().os_errno) == kElsewhereToo.end()) {
    index.error().message += "; searching needs an index in a writable folder: set XDG_STATE_HOME";
  }
  return index;
}

std::optional<Remnant> forget_in_search(Context& context, std::span<const SessionId> purged) {
  const std::filesystem::path file = search_index_file(context);
  const auto forget = [&]() -> Result<> {
    REPRISE_ASSIGN(const FileKind kind, kind_of_target(file));
    if (kind == FileKind::none) {
      return {};
    }
    REPRISE_ASSIGN(const std::string url, search_url(context));
    const auto index = SearchIndex::open(file);
    auto forgotten = index ? (*index)->forget(url, purged) : std::unexpected(index.error());
    // What cannot be read or written can still be removed.
    return !forgotten && forgotten.error().code == Code::io ? SearchIndex::remove(file)
                                                            : std::move(forgotten);
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

Result<std::string> parse_tool(std::string_view from) {
  const std::string_view name = from.substr(0, from.size() - (from.ends_with(':') ? 1 : 0));
  if (std::ranges::find(source_kinds(), name, &SourceKind::name) != source_kinds().end()) {
    return std::string(name);
  }
  return fail(Code::invalid_argument,
              cat("--from must be one of ", joined(source_kinds(), &SourceKind::name), ", not '",
                  from, "'"));
}

std::vector<FoundHistory> find_histories(Context& context, std::string_view only) {
  std::vector<FoundHistory> found;
  for (const SourceKind& kind : source_kinds()) {
    const auto path = default_location(
        kind, [&context](std::string_view name) { return context.environment().find(name); });
    if ((!only.empty() && kind.name != only) || !path) {
      continue;
    }
    auto opened = kind.open(*path, {.cache_folder = context.config().cache_folder()});
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
  if (colon == std::string::npos || url.contains("://")) {
    return url;
  }
  const std::filesystem::path path = url.substr(colon + 1);
  if (path.empty()) {
    return url;
  }
  std::error_code failed;
  const std::filesystem::path absolute =
      std::filesystem::absolute(resolve_path(path).value_or(path), failed);
  return cat(url.substr(0, colon + 1), (failed ? path : absolute.lexically_normal()).native());
}

std::vector<std::string> find_stores_around(Context& context) {
  StoreFinder finder;
  finder.probe_folder(context.config().working_dir());
  finder.probe_parents(context.config().working_dir());
  finder.probe(context.config().data_folder() / "reprise.db");
  if (const auto home = context.environment().find("HOME"); home && !home->empty()) {
    for (const StoreKind& kind : store_kinds()) {
      finder.probe_named(*home, kind.in_home);
    }
  }
  return finder.take();
}

}  // namespace reprise::cli
