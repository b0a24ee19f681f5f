#include "fake_provider/http.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "base/text.h"
#include "reprise/error.h"

namespace reprise::fake {
namespace {

Result<std::size_t> parse_size(std::string_view text, int base) {
  std::size_t out = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (code != std::errc{} || end != text.data() + text.size()) {
    return fail(Code::invalid_argument, cat("not a length: ", text));
  }
  if (out > kBodyBytesMax) {
    return fail(Code::invalid_argument, "the body is too large");
  }
  return out;
}

}  // namespace

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Payload Too Large";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 529:
      return "Overloaded";
    default:
      return "Unknown";
  }
}

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& header) { return header.first == name; });
  return found == headers.end() ? std::string_view{} : std::string_view(found->second);
}

Result<> Connection::fill(std::size_t bytes) {
  std::array<char, 64 << 10> piece;
  while (buffer_.size() < bytes) {
    const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return fail(Code::cancelled, "the peer has closed");
    }
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
  }
  return {};
}

Result<std::string> Connection::read_line() {
  std::size_t from = 0;
  auto end = buffer_.find('\n');
  while (end == std::string::npos) {
    from = buffer_.size();
    if (from > kHeadBytesMax) {
      return fail(Code::invalid_argument, "a header line is too long");
    }
    REPRISE_TRY(fill(from + 1));
    end = buffer_.find('\n', from);
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  return line;
}

Result<std::string> Connection::read_bytes(std::size_t count) {
  REPRISE_TRY(fill(count));
  std::string out = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return out;
}

Result<> Connection::read_headers(HttpRequest& out) {
  for (std::size_t bytes = 0; bytes <= kHeadBytesMax;) {
    REPRISE_ASSIGN(const std::string line, read_line());
    if (line.empty()) {
      return {};
    }
    bytes += line.size();
    const auto colon = line.find(':');
    if (colon == std::string::npos) {
      return fail(Code::invalid_argument, cat("no header: ", line));
    }
    const std::string_view view = line;
    out.headers.emplace_back(ascii_lower(view.substr(0, colon)), trimmed(view.substr(colon + 1)));
  }
  return fail(Code::invalid_argument, "too many headers");
}

Result<std::string> Connection::read_chunks() {
  std::string out;
  while (true) {
    REPRISE_ASSIGN(const std::string line, read_line());
    const std::string_view view = line;
    REPRISE_ASSIGN(const std::size_t size, parse_size(trimmed(view.substr(0, view.find(';'))), 16));
    if (out.size() + size > kBodyBytesMax) {
      return fail(Code::invalid_argument, "the body is too large");
    }
    REPRISE_ASSIGN(const std::string piece, read_bytes(size));
    out += piece;
    REPRISE_ASSIGN(const std::string after, read_line());
    if (!after.empty()) {
      return fail(Code::invalid_argument, "a chunk is longer than it says");
    }
    if (size == 0) {
      return out;
    }
  }
}

Result<> Connection::read_body(HttpRequest& out) {
  if (ascii_lower(out.header("expect")) == "100-continue") {
    REPRISE_TRY(send("HTTP/1.1 100 Continue\r\n\r\n"));
  }
  if (ascii_lower(out.header("transfer-encoding")) == "chunked") {
    REPRISE_ASSIGN(out.body, read_chunks());
  } else if (const std::string_view length = out.header("content-length"); !length.empty()) {
    REPRISE_ASSIGN(const std::size_t size, parse_size(length, 10));
    REPRISE_ASSIGN(out.body, read_bytes(size));
  }
  return {};
}

Result<HttpRequest> Connection::read_request() {
  HttpRequest out;
  REPRISE_ASSIGN(const std::string line, read_line());
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string::npos || first == last || line.substr(last + 1) != "HTTP/1.1") {
    return fail(Code::invalid_argument, cat("not an HTTP/1.1 request: ", line));
  }
  out.method = line.substr(0, first);
  out.path = line.substr(first + 1, last - first - 1);
  REPRISE_TRY(read_headers(out));
  REPRISE_TRY(read_body(out));
  return out;
}

Result<> Connection::send(std::string_view bytes, std::size_t packet) {
  while (!bytes.empty()) {
    const std::size_t size = packet == 0 ? bytes.size() : std::min(packet, bytes.size());
    const ssize_t sent = ::send(socket_.get(), bytes.data(), size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return fail(Code::io, "the peer is gone", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<> Connection::send(const HttpResponse& response) {
  std::string head = cat("HTTP/1.1 ", response.status, " ", reason_phrase(response.status),
                         "\r\ncontent-type: ", response.content_type,
                         "\r\ncontent-length: ", response.body.size(), "\r\n");
  for (const auto& [name, value] : response.headers) {
    head += cat(name, ": ", value, "\r\n");
  }
  return send(cat(head, "\r\n", response.body));
}

bool Connection::wait_ms(int milliseconds) const {
  pollfd watched{socket_.get(), POLLRDHUP, 0};
  int ready = 0;
  do {
    ready = ::poll(&watched, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready == 0;
}

}  // namespace reprise::fake
