#pragma once

// HTTP/1.1 over one accepted socket, minimal for a server that simulates faults: the caller
// controls every byte that is sent.

#include <vector>

#include "base/file.h"

namespace reprise::fake {

inline constexpr std::size_t kHeadBytesMax = 64 << 10;
inline constexpr std::size_t kBodyBytesMax = 64 << 20;

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case

struct HttpRequest {
  std::string method;
  std::string path;  // with the query
  Headers headers;
  std::string body;

  std::string_view header(std::string_view name) const;  // "" when missing
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers = {};
};

class Connection {
 public:
  explicit Connection(Fd socket) : socket_(std::move(socket)) {}

  // Errors: cancelled when the peer has closed or the server stops, invalid_argument for what is
  // no HTTP or too large.
  Result<HttpRequest> read_request();

  // Sends all bytes, in packets of at most `packet` bytes if it is not 0. io if the peer is gone.
  Result<> send(std::string_view bytes, std::size_t packet = 0);
  Result<> send(const HttpResponse& response);

  // Waits; false as soon as the peer closes or the server stops. Negative for no timeout.
  bool wait_ms(int milliseconds) const;

 private:
  Result<> fill(std::size_t bytes);  // until the buffer has `bytes` bytes
  Result<std::string> read_line();   // without its CR LF
  Result<std::string> read_bytes(std::size_t count);
  Result<> read_headers(HttpRequest& out);
  Result<> read_body(HttpRequest& out);
  Result<std::string> read_chunks();

  Fd socket_;
  std::string buffer_;
};

std::string_view reason_phrase(int status);

}  // namespace reprise::fake
