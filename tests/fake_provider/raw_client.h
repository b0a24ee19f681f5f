#pragma once

// An HTTP client for the server's own tests, with access to all received bytes.

#include <vector>

#include "base/file.h"

namespace reprise::fake {

struct RawReply {
  std::string bytes;      // all received bytes
  int status = 0;         // 0 if there was no status line
  std::string head;       // in lower case
  std::string body;       // decoded if it was chunked, even if truncated
  bool complete = false;  // complete according to the length or the last chunk

  std::vector<std::string> events() const;  // the data of its SSE events
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port);

  void send(std::string_view bytes) const;
  // The next reply; incomplete if the server closes, or if nothing arrives within `patience_ms`.
  RawReply receive(int patience_ms = 5000);

 private:
  bool more(std::string& bytes, int patience_ms) const;

  Fd socket_;
  std::string left_over_;
};

// POST with the usual headers and `extra` ones ("x-api-key: k\r\n").
std::string post(std::string_view path, std::string_view body, std::string_view extra = "");

// Sends a request on a separate connection.
RawReply ask(std::uint16_t port, std::string_view request);

}  // namespace reprise::fake
