#pragma once

// Waits for changes of files and of whole folders, with inotify. Does not modify them.

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <stop_token>
#include <vector>

#include "base/file.h"
#include "reprise/error.h"  // IWYU pragma: export

struct inotify_event;

namespace reprise::cli {

class PathWatch {
 public:
  // Watches these paths, too. A path that is missing is waited for. Of a file, also those whose
  // names begin with its name, such as a database's log. Replaced files, and new subfolders of a
  // watched folder, are watched from the next call on. If the system has no watches left, wait()
  // polls every ten seconds.
  void add(const std::vector<std::filesystem::path>& paths);

  bool is_polling() const { return !inotify_.is_open(); }
  // Waits until something has changed since the last wait() returned and `pause` has passed since
  // then. cancelled if a stop is requested.
  Result<> wait(std::chrono::milliseconds pause, const std::stop_token& stop);

 private:
  // What is watched in a folder: what begins with one of these; with "", everything.
  using Names = std::set<std::string>;

  void add_missing(const std::filesystem::path& path);
  void add_tree(const std::filesystem::path& folder);
  bool add_folder(const std::filesystem::path& folder, const std::string& name);
  bool concerns(const inotify_event& event, std::string_view name);
  bool read_events();

  Fd inotify_;
  std::map<int, Names> folders_;  // by watch descriptor
};

}  // namespace reprise::cli
