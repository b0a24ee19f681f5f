#pragma once

#include <filesystem>

#include "reprise/error.h"

namespace reprise {

// Owns a file descriptor. The destructor closes it and ignores errors; use close() for written
// files.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  Result<> close(const std::filesystem::path& path);

 private:
  int fd_ = -1;
};

}  // namespace reprise
