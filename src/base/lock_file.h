#pragma once

// A lock between processes, and between the threads and objects of one: a file with two locked
// bytes. Whoever wants the lock takes the gate first, then the lock, then opens the gate again:
// the one that waits next holds the gate, so writers queue instead of starving one another.

#include <chrono>
#include <memory>
#include <mutex>

#include "base/file.h"

namespace reprise {

// Thread-safe. The locks belong to the open file: they end with the process, however it ends.
class LockFile {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Creates the file (0600) when it is missing. It is never removed: who waits for it has it open.
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

  // busy, naming the holder where that is known, when the deadline passes. A deadline that has
  // passed already tries once.
  Result<Hold> acquire(Deadline deadline);

  // Whether somebody holds the lock of that file right now. Changes nothing; false when there is
  // no such file.
  static Result<bool> is_held(const std::filesystem::path& path);

 private:
  LockFile(std::filesystem::path path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<> lock_byte(int byte, Deadline deadline, bool poll_fast);
  void unlock_byte(int byte);
  void sign();
  Error held_by_other() const;

  std::filesystem::path path_;
  Fd fd_;
  std::timed_mutex threads_;  // the file's locks do not tell threads apart
};

}  // namespace reprise
