#pragma once

// Waits until something changes below some places (inotify). Nothing there is touched.

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <vector>

#include "base/fd.h"
#include "reprise/error.h"

namespace reprise::cli {

class FolderWatch {
 public:
  // Folders that come later are watched after the next wait(). unsupported where the system has no
  // watches left; then wait() looks again every ten seconds.
  static FolderWatch begin(const std::vector<std::filesystem::path>& places);

  bool is_polling() const { return !inotify_.is_open(); }
  // Until something has changed and `pause` has passed since, or somebody asks to stop (cancelled).
  Result<> wait(std::chrono::milliseconds pause, const std::stop_token& stop);

 private:
  explicit FolderWatch(std::vector<std::filesystem::path> places) : places_(std::move(places)) {}
  void add_all();
  bool add(const std::filesystem::path& folder);
  void drain() const;

  std::vector<std::filesystem::path> places_;
  Fd inotify_;
};

}  // namespace reprise::cli
