#pragma once

// An HTTP client that hides nothing: what came is there byte by byte. For the server's own tests.

#include <vector>

#include "base/file.h"

namespace reprise::fake {

struct RawReply {
  std::string bytes;      // all, as they came
  int status = 0;         // 0 when there was no status line
  std::string head;       // in lower case
  std::string body;       // decoded when it was chunked, even when cut
  bool complete = false;  // as long as the length or the last chunk says

  std::vector<std::string> events() const;  // the data of its SSE events
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port);

  void send(std::string_view bytes) const;
  // The next reply; ends early when the server closes or nothing comes for `patience_ms`.
  RawReply receive(int patience_ms = 5000);

 private:
  bool more(std::string& bytes, int patience_ms) const;

  Fd socket_;
  std::string left_over_;
};

// POST with the usual headers and `extra` ones ("x-api-key: k\r\n").
std::string post(std::string_view path, std::string_view body, std::string_view extra = "");

// On a connection of its own.
RawReply ask(std::uint16_t port, std::string_view request);

}  // namespace reprise::fake
