#pragma once

// The end of a messages.jsonl, which is usually sufficient to determine the state of the record.

#include <ctime>
#include <memory>

#include "base/file.h"
#include "reprise/types.h"
#include "store/chatdir/trailer.h"

namespace reprise::store::chatdir {

// The state of a log.
struct LogState {
  std::int64_t end = 0;   // of the last whole batch
  std::int64_t size = 0;  // of the file
  Seq head = {};
  std::shared_ptr<const Trailer> trailer = {};  // of the last line that has one
  bool trailer_is_last = false;                 // and no other message follows it
  bool ends_line = true;                        // a line end precedes `end`
  std::uint64_t tail = 0;                       // a hash of the last bytes before `end`
  Time changed = {};                            // when the file was last modified

  static LogState of_nothing();  // of an empty or missing file
  bool is_torn() const { return end < size; }
};

// A position in a log, identified by the bytes before it.
struct LogPoint {
  std::int64_t end = 0;
  std::uint64_t tail = 0;
  friend bool operator==(const LogPoint&, const LogPoint&) = default;
};
inline LogPoint point_of(const LogState& log) {
  return {log.end, log.tail};
}
Result<LogPoint> point_at_end(const std::filesystem::path& file);

// The state determined from the end of the file alone; nullopt if that is not sufficient. not_found
// if the file does not exist.
Result<std::optional<LogState>> peek_state(const std::filesystem::path& file);

// Describes the bytes before a position.
struct Tail {
  std::uint64_t hash = 0;
  bool ends_line = true;
};
Result<Tail> tail_before(int fd, const std::filesystem::path& file, std::int64_t end);

// corrupt if it is not a regular file: opening a pipe or a device would block, and a folder has no
// bytes.
Result<Fd> open_regular(const std::filesystem::path& file);
Time time_of(const timespec& time);

}  // namespace reprise::store::chatdir
