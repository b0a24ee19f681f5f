#pragma once

// Waits for changes in folders and their subfolders, with inotify. Does not modify them.

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <vector>

#include "base/file.h"
#include "reprise/error.h"  // IWYU pragma: export

namespace reprise::cli {

class FolderWatch {
 public:
  // New folders are watched from the next wait() on. If the system has no watches left, wait()
  // polls every ten seconds.
  static FolderWatch begin(const std::vector<std::filesystem::path>& paths);

  bool is_polling() const { return !inotify_.is_open(); }
  // Waits until something has changed and `pause` has passed since. cancelled if a stop is
  // requested.
  Result<> wait(std::chrono::milliseconds pause, const std::stop_token& stop);

 private:
  explicit FolderWatch(std::vector<std::filesystem::path> paths) : paths_(std::move(paths)) {}
  void add_all();
  bool add(const std::filesystem::path& folder);
  void drain() const;

  std::vector<std::filesystem::path> paths_;
  Fd inotify_;
};

}  // namespace reprise::cli
