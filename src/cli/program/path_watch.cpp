#include "cli/program/path_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kSlice{200};  // how often the stop token is checked
constexpr milliseconds kPollEvery{10'000};
constexpr std::uint32_t kChanges = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE |
                                   IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

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

// False if the folder cannot be watched.
bool PathWatch::add_folder(const fs::path& folder, const std::string& name) {
  if (!inotify_.is_open()) {
    return false;
  }
  const int watch = ::inotify_add_watch(inotify_.get(), folder.c_str(), kChanges);
  if (watch >= 0) {
    folders_[watch].insert(name);
  } else if (errno == ENOSPC || errno == ENOMEM) {
    inotify_ = Fd();  // out of watches: polls
  }
  return watch >= 0;
}

// Links in it are not followed, as by those who read it.
void PathWatch::add_tree(const fs::path& folder) {
  if (!add_folder(folder, "")) {
    return;
  }
  std::error_code error;
  for (fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && entry != end; entry.increment(error)) {
    std::error_code none;
    if (entry->is_directory(none) && !entry->is_symlink(none)) {
      add_tree(entry->path());
    }
  }
}

// Watches the nearest folder for what leads to the path.
void PathWatch::add_missing(const fs::path& path) {
  for (fs::path part = path; part.has_relative_path(); part = part.parent_path()) {
    if (add_folder(part.parent_path(), part.filename().native())) {
      return;
    }
  }
}

void PathWatch::add(const std::vector<fs::path>& paths) {
  if (!inotify_.is_open()) {
    folders_.clear();
    inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  }
  for (const fs::path& path : paths) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(fs::absolute(path, error), error);
    if (fs::is_directory(canonical, error)) {
      add_tree(canonical);
    } else {
      add_missing(canonical);
    }
  }
}

bool PathWatch::concerns(const inotify_event& event, std::string_view name) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    return true;
  }
  const auto found = folders_.find(event.wd);
  if (found == folders_.end()) {
    return false;
  }
  const bool is_watched =
      name.empty() || std::ranges::any_of(found->second, [&](const std::string& watched) {
        return name.starts_with(watched);
      });
  if ((event.mask & IN_IGNORED) != 0) {
    folders_.erase(found);
  }
  return is_watched;
}

// Whether something that is watched has changed.
bool PathWatch::read_events() {
  bool has_changed = false;
  alignas(inotify_event) std::array<char, 4096> events = {};
  for (ssize_t count = 0; (count = ::read(inotify_.get(), events.data(), events.size())) > 0;) {
    inotify_event event = {};
    for (ssize_t at = 0; at < count; at += static_cast<ssize_t>(sizeof event + event.len)) {
      std::memcpy(&event, events.data() + at, sizeof event);
      const char* const name = events.data() + at + sizeof event;
      has_changed = concerns(event, event.len > 0 ? name : "") || has_changed;
    }
  }
  return has_changed;
}

Result<> PathWatch::wait(milliseconds pause, const std::stop_token& stop) {
  bool readable = false;
  if (is_polling()) {
    if (sleep_or_stop(-1, kPollEvery, stop, readable)) {
      return std::unexpected(stopped());
    }
  }
  for (bool has_changed = false; !is_polling() && !has_changed;) {
    if (sleep_or_stop(inotify_.get(), kPollEvery, stop, readable)) {
      return std::unexpected(stopped());
    }
    has_changed = readable && read_events();
  }
  // Debounces a series of small writes.
  if (sleep_or_stop(-1, pause, stop, readable)) {
    return std::unexpected(stopped());
  }
  if (!is_polling()) {
    read_events();
  }
  return {};
}

}  // namespace reprise::cli
