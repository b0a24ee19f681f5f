#pragma once

// HTTP as Reprise needs it: one request a call; a large body is pulled, the answer is pushed.
// `Transport` is the seam to the network: the real one is in curl_transport.h, tests have others.

#include <chrono>
#include <span>
#include <stop_token>
#include <vector>

#include "reprise/error.h"

namespace reprise::http {

struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

// The first header of that name in any letter case; "" when there is none.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);

// The host of a URL as a person knows it, "127.0.0.1:11434": without scheme, user and path.
std::string host_of(std::string_view url);

// The URL as it may be shown and stored: "***" for a user and a password, and for parameters whose
// names say that they are secret (key, api-key, token, sig, …).
std::string masked_url(std::string_view url);

// Whom a URL reaches: "https://api.test:443", in lower case and with its port. "" for what is no
// http or https URL, or one that readers of URLs disagree about.
std::string server_of(std::string_view url);
// Both reach the same server, with the same scheme.
bool is_same_server(std::string_view a, std::string_view b);
// A server on this machine (localhost, 127.x.x.x, [::1]), and nothing that only looks like one.
bool is_local_url(std::string_view url);

// The URL with a path appended: before the query, which stays.
std::string with_path(std::string_view base_url, std::string_view path);

// A body that is made while it is sent.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Fills the beginning of `into`, which is not empty. 0 at the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
  // The next read starts again from the first byte.
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

// What a receiver wants of the rest of the answer.
enum class Want : std::uint8_t {
  more,
  end,      // all is there: only the end of the body, if it comes at once
  nothing,  // the connection is closed
};

// Called from the thread that called send(). Views are valid during the call only.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual Want head(const ResponseHead& head) = 0;  // once, before any data
  virtual Want data(std::string_view bytes) = 0;
};

// Errors of send(): cancelled, timeout, invalid_argument (not a URL), unsupported (no HTTP library
// here), those of the body source, and io. `os_errno` of an io error tells whether trying again
// can help: ECONNREFUSED, EHOSTUNREACH (no such host), EPROTO (no valid certificate) and EFBIG
// (headers without an end) stay; everything else is a connection that was lost. Messages name the
// host.
// Thread-safe: requests of several threads run side by side.
class Transport {
 public:
  virtual ~Transport() = default;
  // Blocks until the answer is complete or the receiver wants nothing more. Any status is an
  // answer; redirects are not followed. What the receiver or the body source throws ends the
  // request and goes on to the caller.
  virtual Result<> send(const Request& request, Receiver& receiver, std::stop_token stop) = 0;
};

}  // namespace reprise::http
