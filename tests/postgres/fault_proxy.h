#pragma once

// A proxy on loopback between a store and its server that injects network faults.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace reprise::test {

enum class Fault : std::uint8_t {
  none,
  cut_before,  // the next request does not reach the server, both sides are closed
  cut_within,  // half of it does, both sides are closed
  cut_during,  // it does; its response is dropped
  cut_after,   // after the response, both sides are closed
  half_open,   // from the next request on, all data is dropped silently
  delayed,     // the response waits for release()
  late,        // the request waits for release(), when its client has given up
  slow,        // all data is forwarded in pieces of a few bytes
  unclear,     // the request is executed, but its response is an internal error (XX000)
};

// A fault affects the first connection that sends something after set(), or after the given number
// of further requests; all others are forwarded.
class FaultProxy {
 public:
  // `url` of the real server.
  explicit FaultProxy(std::string_view url);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::string url() const;  // the same server through this proxy
  void set(Fault fault, int after = 0);
  void release();             // forwards what is delayed
  bool has_happened() const;  // whether the fault has occurred
  void limit_rate(int bytes_per_second);
  void go_away();  // closes all connections and refuses new ones
  void come_back();
  int connections() const;  // the number of connections so far, including refused ones

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace reprise::test
