#pragma once

// A lock between processes, and between the threads and objects of one process: a file with two
// lock bytes. Acquiring takes the gate first, then the lock, then releases the gate: the next
// waiter holds the gate, so writers queue instead of starving each other.

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "base/file.h"

namespace reprise {

// Thread-safe. The locks belong to the open file description and end with the process.
class LockFile {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Creates the file (0600) when missing. It is never removed: waiting processes have it open. io
  // (ENOLCK) on a file system where locks are known not to work.
  static Result<std::unique_ptr<LockFile>> open(const std::filesystem::path& path);

  // Released by its destructor. Must not outlive the LockFile.
  class Hold {
   public:
    Hold(Hold&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(file_, other.file_);
      return *this;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    friend class LockFile;
    explicit Hold(LockFile* file) : file_(file) {}
    LockFile* file_;
  };

  // busy, naming the holder if known, when the deadline passes. Tries at least once. If somebody
  // has removed or replaced the file, others lock the new one: then it opens or creates that one.
  Result<Hold> acquire(Deadline deadline);

  // Whether the calling thread holds it.
  bool is_held_by_this_thread() const { return holder_.load() == std::this_thread::get_id(); }
  // Whether some process holds the lock of that file now. Changes nothing; false when there is no
  // such file.
  static Result<bool> is_held(const std::filesystem::path& path);

 private:
  LockFile(std::filesystem::path path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<> lock(Deadline deadline);
  Result<bool> is_in_place() const;
  Result<> lock_byte(int byte, Deadline deadline, bool poll_fast);
  void unlock_byte(int byte);
  void record_pid();
  std::string recorded_pid() const;
  Error busy_error(std::string_view pid) const;

  std::filesystem::path path_;
  Fd fd_;
  std::timed_mutex threads_;  // the file's locks do not exclude threads of this process
  std::atomic<std::thread::id> holder_;
};

}  // namespace reprise
