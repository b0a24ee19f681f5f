#pragma once

// The end of a messages.jsonl: from it alone follows, as a rule, what the record has come to.

#include <ctime>
#include <memory>

#include "base/file.h"
#include "reprise/types.h"
#include "store/chatdir/trailer.h"

namespace reprise::store::chatdir {

// What the record has come to.
struct LogState {
  std::int64_t end = 0;   // of what counts
  std::int64_t size = 0;  // of the file
  Seq head = {};
  std::shared_ptr<const Trailer> trailer = {};  // of the newest line that has one
  bool trailer_is_last = false;                 // and no other message came after it
  bool ends_line = true;                        // a line end stands before `end`
  std::uint64_t tail = 0;                       // a hash of the last bytes before `end`
  Time changed = {};                            // when the file was written to

  static LogState of_nothing();  // of an empty file, or a missing one
  bool is_torn() const { return end < size; }
};

// A place in a log, known again by the bytes before it.
struct LogPoint {
  std::int64_t end = 0;
  std::uint64_t tail = 0;
  friend bool operator==(const LogPoint&, const LogPoint&) = default;
};
inline LogPoint point_of(const LogState& log) {
  return {log.end, log.tail};
}
Result<LogPoint> point_at_end(const std::filesystem::path& file);

// What the record has come to by a look at the end of the file alone; nullopt when that does not
// tell. not_found when there is no such file.
Result<std::optional<LogState>> peek_state(const std::filesystem::path& file);

// The bytes before a place.
struct Tail {
  std::uint64_t hash = 0;
  bool ends_line = true;
};
Result<Tail> tail_before(int fd, const std::filesystem::path& file, std::int64_t end);

// corrupt for what is no file: a pipe or a device would keep us waiting, a folder has no bytes.
Result<Fd> open_regular(const std::filesystem::path& file);
Time time_of(const timespec& time);

}  // namespace reprise::store::chatdir
