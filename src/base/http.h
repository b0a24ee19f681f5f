#pragma once

// HTTP for Reprise: one request per call; a large body is pulled, the response is pushed.
// `Transport` is the interface to the network: curl_transport.h has the real one, tests have
// others.

#include <chrono>  // IWYU pragma: export
#include <span>
#include <stop_token>
#include <utility>  // IWYU pragma: export
#include <vector>

#include "reprise/error.h"

namespace reprise::http {

struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

// The first header of that name, case-insensitive; "" when there is none.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);

// The host and port of a URL for display, "127.0.0.1:11434": without scheme, user and path.
std::string host_of(std::string_view url);

// The URL for display and storage: "***" replaces user and password, and the values of parameters
// with secret names (key, api-key, token, sig, …).
std::string masked_url(std::string_view url);
// The secrets that it hides: user, password, the header made of both, and values of parameters, as
// written and percent-decoded.
std::vector<std::string> secrets_in_url(std::string_view url);

// The server of a URL: "https://api.test:443", in lower case and with its port. "" if it is not an
// http or https URL, or one that URL parsers interpret differently.
std::string server_of(std::string_view url);
// Whether both have the same scheme and server.
bool is_same_server(std::string_view a, std::string_view b);
// Whether the server is on this machine (localhost, 127.x.x.x, [::1]); false for lookalikes.
bool is_local_url(std::string_view url);

// The URL with a path appended before the query, which is preserved.
std::string with_path(std::string_view base_url, std::string_view path);

// "500 ms", "30 s", "2 min".
std::string duration_words(std::chrono::milliseconds duration);

// A body that is generated while it is sent.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Fills a prefix of `into`, which is not empty. Returns 0 at the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
  // The next read starts from the first byte again.
  virtual Result<> rewind() = 0;
};

struct Request {
  std::string method = "GET";
  std::string url = {};
  std::vector<Header> headers = {};
  std::string body = {};         // sent with its length
  BodySource* source = nullptr;  // instead of `body`; sent in chunks
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{120'000};  // without a byte in either direction
};

struct ResponseHead {
  int status = 0;
  std::vector<Header> headers;
};

// What a receiver wants of the remaining response.
enum class ReceiveAction : std::uint8_t {
  more,
  end,      // the content is complete: wait only briefly for the end of the body
  nothing,  // close the connection
};

// Called from the thread that called send(). Views are valid during the call only.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual ReceiveAction head(const ResponseHead& head) = 0;  // once, before any data
  virtual ReceiveAction data(std::string_view bytes) = 0;
};

// Errors of send(): cancelled, timeout, invalid_argument (not a URL), unsupported (no HTTP
// library), those of the body source, and io. `os_errno` of an io error tells whether a retry can
// help: ECONNREFUSED, EHOSTUNREACH (no such host), EPROTO (no valid certificate) and EFBIG (endless
// headers) are permanent; everything else is a lost connection. Messages name the host.
// Thread-safe: requests of several threads run concurrently.
class Transport {
 public:
  virtual ~Transport() = default;
  // Blocks until the response is complete or the receiver wants nothing more. Any status is a
  // response; redirects are not followed. An exception of the receiver or the body source ends the
  // request and propagates to the caller.
  virtual Result<> send(const Request& request, Receiver& receiver, std::stop_token stop) = 0;
};

}  // namespace reprise::http
