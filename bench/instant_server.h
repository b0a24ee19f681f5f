#pragma once

// A provider that answers at once, so that only the asking program is measured. Listens on a port
// of 127.0.0.1 chosen by the kernel; supports just enough HTTP for our programs.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "measure.h"

namespace bench {

struct Answering {
  std::int64_t deltas = 3;
  std::chrono::microseconds pause{0};  // before each delta; 0 sends the answer in one piece
};

// set_answering() and first_byte() may be called while no request runs.
class InstantServer {
 public:
  InstantServer();
  ~InstantServer();
  InstantServer(const InstantServer&) = delete;
  InstantServer& operator=(const InstantServer&) = delete;

  std::string base_url() const;  // "http://127.0.0.1:PORT/v1"
  void set_answering(Answering answering);
  // The time of the first byte of the last request, and the length of its body.
  Clock::time_point first_byte() const;
  std::int64_t body_bytes() const { return body_bytes_; }
  std::int64_t requests() const { return requests_; }

 private:
  void run();
  void serve(int connection);
  void send_answer(int connection, bool responses_api);

  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  Answering answering_;
  Clock::time_point first_byte_;
  std::atomic<std::int64_t> body_bytes_ = 0;
  std::atomic<std::int64_t> requests_ = 0;
  std::jthread thread_;
};

}  // namespace bench
