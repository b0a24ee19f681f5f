#include "cli/commands/stores_around.h"

#include <algorithm>
#include <system_error>

#include "cli/settings/program_config.h"
#include "reprise/open_store.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 1'000;  // per folder
constexpr std::size_t kFoldersUpMax = 32;

class Search {
 public:
  void probe(const fs::path& place) {
    std::error_code none;
    if (!fs::exists(place, none)) {
      return;
    }
    const auto url = recognise_store(place);
    if (url && !url->empty() && std::ranges::find(found_, *url) == found_.end()) {
      found_.push_back(*url);
    }
  }

  void probe_named(const fs::path& folder, std::string_view place) {
    if (!place.empty()) {
      probe(folder / place);
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
        for (const std::string_view place : kind.in_project) {
          probe_named(folder, place);
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

}  // namespace

std::vector<std::string> find_stores_around(Context& context) {
  Search search;
  search.probe_folder(context.config().working_dir());
  search.probe_parents(context.config().working_dir());
  search.probe(context.config().data_folder() / "reprise.db");
  if (const auto home = context.environment().find("HOME"); home && !home->empty()) {
    for (const StoreKind& kind : store_kinds()) {
      search.probe_named(*home, kind.in_home);
    }
  }
  return search.take();
}

}  // namespace reprise::cli
