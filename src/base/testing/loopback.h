#pragma once

// A server on 127.0.0.1 that sends exactly the bytes that a test specifies.

#include <thread>

#include "base/file.h"

namespace reprise {

// One accepted connection.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  // The head of the request and its whole body, de-chunked. "" when the client has disconnected.
  std::string read_request();
  // False when the client has disconnected.
  bool write(std::string_view bytes) const;
  // Blocks until the client has closed the connection.
  void wait_for_close() const;

 private:
  bool fill();
  std::string take(std::size_t count);
  std::string take_line();

  int fd_;
  std::string pending_;
};

// Serves one connection after another with `serve` until it is destroyed.
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

// A port of this machine on which nothing listens.
int free_port();

}  // namespace reprise
