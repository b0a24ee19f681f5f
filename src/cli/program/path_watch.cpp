#include "cli/program/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <stop_token>
#include <system_error>
#include <vector>

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kSlice{200};  // how often the stop token is checked
constexpr milliseconds kPollEvery{10'000};
constexpr std::uint32_t kChanges = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE;

Error stopped() {
  return {Code::cancelled, "stopped watching"};
}

// Sleeps until `time` has passed or `fd` is readable (false), or a stop is requested (true).
bool sleep_or_stop(int fd, milliseconds time, const std::stop_token& stop, bool& readable) {
  readable = false;
  for (milliseconds left = time; left.count() > 0 && !readable; left -= kSlice) {
    if (stop.stop_requested()) {
      return true;
    }
    pollfd waiting = {.fd = fd, .events = POLLIN, .revents = 0};
    const int got =
        ::poll(&waiting, fd >= 0 ? 1 : 0, static_cast<int>(std::min(left, kSlice).count()));
    readable = got > 0;
  }
  return stop.stop_requested();
}

}  // namespace

FolderWatch FolderWatch::begin(const std::vector<fs::path>& paths) {
  FolderWatch watch(paths);
  watch.add_all();
  return watch;
}

bool FolderWatch::add(const fs::path& folder) {
  return ::inotify_add_watch(inotify_.get(), folder.c_str(), kChanges) >= 0;
}

// Adds watches for new folders; existing watches are unchanged.
void FolderWatch::add_all() {
  if (!inotify_.is_open()) {
    inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  }
  for (const fs::path& path : paths_) {
    bool is_watched = inotify_.is_open() && add(path);
    std::error_code error;
    for (fs::recursive_directory_iterator
             entry(path, fs::directory_options::skip_permission_denied, error),
         end;
         is_watched && !error && entry != end; entry.increment(error)) {
      std::error_code none;
      if (entry->is_directory(none) && !entry->is_symlink(none)) {
        is_watched = add(entry->path());
      }
    }
    if (!is_watched) {
      inotify_ = Fd();  // out of watches: fall back to polling
      return;
    }
  }
}

void FolderWatch::drain() const {
  std::array<char, 4096> events = {};
  while (::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
}

Result<> FolderWatch::wait(milliseconds pause, const std::stop_token& stop) {
  bool readable = false;
  if (is_polling()) {
    if (sleep_or_stop(-1, kPollEvery, stop, readable)) {
      return std::unexpected(stopped());
    }
  }
  while (!is_polling() && !readable) {
    if (sleep_or_stop(inotify_.get(), kPollEvery, stop, readable)) {
      return std::unexpected(stopped());
    }
  }
  // Debounces a series of small writes.
  if (sleep_or_stop(-1, pause, stop, readable)) {
    return std::unexpected(stopped());
  }
  if (!is_polling()) {
    drain();
  }
  add_all();
  return {};
}

}  // namespace reprise::cli
