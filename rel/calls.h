#pragma once

// The system calls through which this process looks at, reads, locks and changes the files below
// one folder, in our hands: counted, ended by a kill, made to fail, or written down. This program
// has its own stat(), open(), write(), fsync()…, and the libraries that it is linked with call
// those, too. They do not see what the C library does inside (stdio), nor what changes through
// mapped memory.
//
// One thread at a time but for the counting.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::rel {

// What happens to one of the calls, counted from 1.
struct Trap {
  enum class What : std::uint8_t {
    nothing,
    kill,         // the process dies (SIGKILL) instead of making the call; only changes count
    fail,         // the call fails with `error`; every call counts
    short_write,  // the first write from there on takes half of what it is given
    short_read,   // every read from there on gives half of what it is asked for
  };
  What what = What::nothing;
  std::int64_t at = 0;
  int error = 0;
  bool lasting = false;  // every later call of the same sort fails, too; after a short write, too
};

// Told of every change in the order they are made, with absolute paths.
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

// From here on calls count. `listener`, when there is one, must live until unwatch().
void watch(std::string_view folder, const Trap& trap = {}, ChangeListener* listener = nullptr);
// Nothing fails any more.
void unwatch();

struct CallCounts {
  std::int64_t all = 0;
  std::int64_t changes = 0;
  // Which of all sync, lock, open or list a folder, or look at what a name stands for: when these
  // fail, it is easily overlooked.
  std::vector<std::int64_t> delicate;
};
// Since watch().
CallCounts calls_seen();

}  // namespace reprise::rel
