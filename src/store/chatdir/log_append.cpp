// Appends to a log; the caller holds the chat's lock.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "base/file.h"
#include "base/text.h"
#include "reprise/store.h"
#include "store/chatdir/message_log.h"

namespace reprise::store::chatdir {

Result<int> MessageLog::writable() {
  if (!out_.is_open()) {
    REPRISE_ASSIGN(out_, open_file(file_, O_WRONLY | O_APPEND));
  }
  return out_.get();
}

// Truncates an unacknowledged append. If that fails too, its bytes remain as a torn end.
Result<> MessageLog::undo_append(std::int64_t size, Error error) {
  if (::ftruncate(out_.get(), size) != 0) {
    error.message += "; its beginning stays in the file";
  }
  out_ = Fd();
  return std::unexpected(std::move(error));
}

Result<> MessageLog::append(std::string_view bytes, Durability durability) {
  REPRISE_ASSIGN(const int out, writable());
  const std::int64_t size = state().size;
  if (auto written = write_all(out, bytes, file_); !written) {
    return undo_append(size, std::move(written).error());
  }
  if (durability == Durability::disk) {
    // The kernel marks pages clean even if writing them failed, so never retry fsync().
    if (auto synced = sync(); !synced) {
      return undo_append(size, std::move(synced).error());
    }
  }
  REPRISE_ASSIGN(const bool same, refresh());
  return same ? Result<>()
              : fail(Code::conflict, cat(file_.native(), " was changed by another program"));
}

Result<> MessageLog::cut_torn() {
  REPRISE_ASSIGN(const int out, writable());
  const LogState state = this->state();
  if (::ftruncate(out, state.end) != 0) {
    return std::unexpected(os_error("cut", file_, errno));
  }
  REPRISE_TRY(sync());
  const std::lock_guard lock(mutex_);
  REPRISE_TRY(read_on(state.end, nullptr));
  return {};
}

Result<> MessageLog::sync() {
  REPRISE_ASSIGN(const int out, writable());
  int outcome = 0;
  do {
    outcome = ::fdatasync(out);
  } while (outcome != 0 && errno == EINTR);
  return outcome == 0 ? Result<>() : std::unexpected(os_error("sync", file_, errno));
}

}  // namespace reprise::store::chatdir
