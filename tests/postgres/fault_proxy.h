#pragma once

// Stands between a store and its server on loopback and does to a connection what networks do.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace reprise::test {

enum class Fault : std::uint8_t {
  none,
  cut_before,  // the next request does not reach the server, both sides are cut
  cut_within,  // half of it does
  cut_during,  // it does; what the server answers does not come back
  cut_after,   // the answer comes back, then both sides are cut
  half_open,   // from the next request on nothing passes, and nobody is told
  delayed,     // the answer waits for release()
  late,        // the request does, and arrives then although nobody waits for it any more
  slow,        // everything passes in pieces of a few bytes
  unclear,     // it does; the answer that comes back is an internal error (XX000)
};

// A fault happens to the first connection that sends something after set(), or after so many more
// requests; all others pass.
class FaultProxy {
 public:
  // `url` of the real server.
  explicit FaultProxy(std::string_view url);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::string url() const;  // the same by way of this proxy
  void set(Fault fault, int after = 0);
  void release();             // what is delayed goes on
  bool has_happened() const;  // the fault that was set
  void go_away();             // ends what there is, and refuses what comes
  void come_back();
  int connections() const;  // how many have come, refused ones too

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace reprise::test
