#pragma once

// Intercepts the system calls by which this process reads, locks and changes the files below one
// folder: they are counted, ended by a kill, made to fail, or recorded. This program defines
// stat(), open(), write(), fsync()…, which replace those of the C library for the libraries that it
// is linked with, too. Not intercepted are calls within the C library (stdio) and changes through
// mapped memory.
//
// One thread at a time, except for counting.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::rel {

// The fault of a call; calls are counted from 1.
struct Trap {
  enum class What : std::uint8_t {
    nothing,
    kill,         // the process is killed (SIGKILL) instead of making the call; only changes count
    fail,         // the call fails with `error`; every call counts
    short_write,  // the first write from there on writes half of its bytes
    short_read,   // every read from there on returns half of its bytes
  };
  What what = What::nothing;
  std::int64_t at = 0;
  int error = 0;
  bool lasting = false;  // every later call of the same sort fails, too; after a short write, too
};

// Receives every change in order, with absolute paths.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  virtual void opened(int fd, std::string_view path, bool is_new, bool emptied) = 0;
  virtual void closed(int fd) = 0;
  virtual void wrote(int fd, std::int64_t offset, std::string_view bytes) = 0;
  virtual void resized(int fd, std::int64_t size) = 0;
  virtual void synced(int fd) = 0;
  virtual void made_folder(std::string_view path) = 0;
  virtual void removed(std::string_view path) = 0;  // a name: of a file or of a folder
  virtual void renamed(std::string_view from, std::string_view to) = 0;
  virtual void linked(std::string_view from, std::string_view to) = 0;
  virtual void pointed(std::string_view path, std::string_view target) = 0;  // a symbolic link
};

// Starts counting calls. `listener`, if not null, must live until unwatch().
void watch(std::string_view folder, const Trap& trap = {}, ChangeListener* listener = nullptr);
// Stops counting and failing calls.
void unwatch();

struct CallCounts {
  std::int64_t all = 0;
  std::int64_t changes = 0;
  // The numbers of the calls that sync, lock, open or list a folder, or stat a name: their failures
  // are easily overlooked.
  std::vector<std::int64_t> delicate;
};
// The counts since watch().
CallCounts call_counts();

}  // namespace reprise::rel
