#include "base/lock_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/file.h"
#include "base/lock_check.h"
#include "base/text.h"

namespace reprise {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr int kLockByte = 0;
constexpr int kGateByte = 1;
constexpr int kTrialByte = 2;
constexpr int kPidAt = 8;
constexpr std::size_t kPidWidth = 16;
constexpr std::chrono::milliseconds kSlice{100};
constexpr microseconds kPauseMin{50};
constexpr microseconds kPauseMax{2000};
constexpr microseconds kGatePauseMax{200};

struct flock range_of(int byte, short type) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return range;
}

// Waits in slices of the wall clock: the thread sanitizer of GCC 12 does not see a mutex locked
// with a steady-clock timeout, and reports its unlocking. Setting the clock costs at most one
// slice.
bool lock_until(std::unique_lock<std::timed_mutex>& lock, LockFile::Deadline deadline) {
  while (!lock.try_lock()) {
    const auto left = deadline - steady_clock::now();
    if (left <= steady_clock::duration::zero()) {
      return false;
    }
    const auto slice = std::min<steady_clock::duration>(left, kSlice);
    if (lock.try_lock_until(std::chrono::system_clock::now() + slice)) {
      return true;
    }
  }
  return true;
}

Result<Fd> open_lock(const std::filesystem::path& path) {
  REPRISE_ASSIGN(Fd fd, open_file(path, O_RDWR | O_CREAT, 0600));
  REPRISE_TRY(check_locks(fd.get(), path, kTrialByte));
  return fd;
}

}  // namespace

Result<std::unique_ptr<LockFile>> LockFile::open(const std::filesystem::path& path) {
  REPRISE_ASSIGN(Fd fd, open_lock(path));
  return std::unique_ptr<LockFile>(new LockFile(path, std::move(fd)));
}

Result<LockFile::Hold> LockFile::acquire(Deadline deadline) {
  std::unique_lock threads(threads_, std::defer_lock);
  if (!lock_until(threads, deadline)) {
    return std::unexpected(busy_error(std::to_string(::getpid())));
  }
  for (;;) {
    REPRISE_TRY(lock(deadline));
    const auto in_place = is_in_place();
    if (in_place && *in_place) {
      break;
    }
    unlock_byte(kLockByte);
    REPRISE_TRY(in_place);
    REPRISE_ASSIGN(fd_, open_lock(path_));
  }
  record_pid();
  holder_ = std::this_thread::get_id();
  threads.release();  // Hold's destructor unlocks it
  return Hold(this);
}

Result<> LockFile::lock(Deadline deadline) {
  REPRISE_TRY(lock_byte(kGateByte, deadline, false));
  auto locked = lock_byte(kLockByte, deadline, true);
  unlock_byte(kGateByte);
  return locked;
}

Result<bool> LockFile::is_in_place() const {
  REPRISE_ASSIGN(const struct stat locked, status_of(fd_.get(), path_));
  REPRISE_ASSIGN(const auto named, find_status(path_));
  return named && named->st_dev == locked.st_dev && named->st_ino == locked.st_ino;
}

Result<bool> LockFile::is_held(const std::filesystem::path& path) {
  REPRISE_ASSIGN(const auto fd, if_exists(open_file(path, O_RDONLY)));
  if (!fd) {
    return false;
  }
  struct flock range = range_of(kLockByte, F_WRLCK);
  if (::fcntl(fd->get(), F_OFD_GETLK, &range) != 0) {
    return std::unexpected(os_error("access the lock", path, errno));
  }
  return range.l_type != F_UNLCK;
}

LockFile::Hold::~Hold() {
  if (file_ != nullptr) {
    file_->holder_ = std::thread::id();
    file_->unlock_byte(kLockByte);
    file_->threads_.unlock();
  }
}

// Only the holder of the gate waits for the lock, so it may poll often.
Result<> LockFile::lock_byte(int byte, Deadline deadline, bool poll_fast) {
  microseconds pause = kPauseMin;
  while (true) {
    struct flock range = range_of(byte, F_WRLCK);
    if (::fcntl(fd_.get(), F_OFD_SETLK, &range) == 0) {
      return {};
    }
    if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) {
      return std::unexpected(no_locks_error(path_, std::generic_category().message(errno)));
    }
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
      return std::unexpected(os_error("lock", path_, errno));
    }
    if (steady_clock::now() >= deadline) {
      return std::unexpected(busy_error(recorded_pid()));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, poll_fast ? kGatePauseMax : kPauseMax);
  }
}

void LockFile::unlock_byte(int byte) {
  struct flock range = range_of(byte, F_UNLCK);
  // Unlocking a held lock cannot fail; closing the file would unlock it, too.
  (void)::fcntl(fd_.get(), F_OFD_SETLK, &range);
}

// Records the holder's pid for the error messages of waiting processes. Nothing depends on it, so a
// full disk does not matter. Written only if another process wrote it last.
void LockFile::record_pid() {
  std::array<char, kPidWidth> own_pid{};
  own_pid.fill(' ');
  std::to_chars(own_pid.data(), own_pid.data() + own_pid.size(),
                static_cast<std::int64_t>(::getpid()));
  std::array<char, kPidWidth> recorded{};
  const ssize_t count = ::pread(fd_.get(), recorded.data(), recorded.size(), kPidAt);
  if (count != static_cast<ssize_t>(recorded.size()) || recorded != own_pid) {
    [[maybe_unused]] const ssize_t ignored =
        ::pwrite(fd_.get(), own_pid.data(), own_pid.size(), kPidAt);
  }
}

std::string LockFile::recorded_pid() const {
  std::array<char, kPidWidth> text{};
  const ssize_t count = ::pread(fd_.get(), text.data(), text.size(), kPidAt);
  return std::string(
      trimmed(std::string_view(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0)));
}

Error LockFile::busy_error(std::string_view pid) const {
  return {Code::busy, cat(path_.string(), " has been held by ",
                          pid.empty() ? "another process" : cat("process ", pid),
                          " for too long: wait for the process or end it, then try again")};
}

}  // namespace reprise
