#pragma once

// A server on 127.0.0.1 whose every byte a test decides.

#include <thread>

#include "base/file.h"

namespace reprise {

// One accepted connection.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  // The head of the request and its whole body, de-chunked. "" when the client has gone.
  std::string read_request();
  // True when it was written; false when the client has gone.
  bool write(std::string_view bytes) const;
  // Blocks until the client has closed.
  void wait_for_close() const;

 private:
  bool fill();
  std::string take(std::size_t count);
  std::string take_line();

  int fd_;
  std::string pending_;
};

// Serves one connection after the other with `serve` until it is destroyed.
class Loopback {
 public:
  explicit Loopback(std::function<void(Peer&)> serve);
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;
  ~Loopback();
  std::string url() const;
  int port() const { return port_; }

 private:
  int port_ = 0;  // before listener_, which sets it
  Fd listener_;
  std::jthread thread_;
};

// A port of this machine where nothing listens.
int free_port();

}  // namespace reprise
