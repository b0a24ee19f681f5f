#include "fake_provider/raw_client.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace reprise::fake {
namespace {

std::size_t number_in(std::string_view text, int base) {
  std::size_t out = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), out, base);  // 0 for no number
  return out;
}

std::string_view header(std::string_view head, std::string_view name) {
  const std::string line = cat("\r\n", name, ": ");
  const auto at = head.find(line);
  if (at == std::string_view::npos) {
    return {};
  }
  const auto start = at + line.size();
  return head.substr(start, head.find("\r\n", start) - start);
}

// Removes chunks from `rest`; true if they include the last one.
bool decode_chunks(std::string_view& rest, std::string& out) {
  while (true) {
    const auto end = rest.find("\r\n");
    if (end == std::string_view::npos) {
      return false;
    }
    const std::size_t size = number_in(rest.substr(0, end), 16);
    if (rest.size() < end + 2 + size + 2) {
      out += rest.substr(end + 2);
      rest = {};
      return false;
    }
    out += rest.substr(end + 2, size);
    rest.remove_prefix(end + 2 + size + 2);
    if (size == 0) {
      return true;
    }
  }
}

// Parses the bytes; `left_over` receives those after a complete reply.
RawReply parse(const std::string& bytes, std::string& left_over) {
  RawReply out;
  out.bytes = bytes;
  std::string_view view = bytes;
  constexpr std::string_view kInterim = "HTTP/1.1 100 Continue\r\n\r\n";
  if (view.starts_with(kInterim)) {
    view.remove_prefix(kInterim.size());
  }
  const auto head_end = view.find("\r\n\r\n");
  if (head_end == std::string_view::npos) {
    return out;
  }
  out.head = ascii_lower(view.substr(0, head_end + 2));
  out.status = static_cast<int>(number_in(view.substr(9, 3), 10));
  std::string_view rest = view.substr(head_end + 4);
  if (header(out.head, "transfer-encoding") == "chunked") {
    out.complete = decode_chunks(rest, out.body);
  } else if (const auto length = header(out.head, "content-length"); !length.empty()) {
    const std::size_t size = number_in(length, 10);
    out.complete = rest.size() >= size;
    out.body = rest.substr(0, size);
    rest = out.complete ? rest.substr(size) : std::string_view{};
  } else {
    out.body = rest;
    return out;
  }
  if (out.complete) {
    left_over = rest;
  }
  return out;
}

}  // namespace

RawClient::RawClient(std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    socket_ = Fd();  // shows as an empty reply
  }
}

void RawClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;  // shows as an empty reply
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool RawClient::more(std::string& bytes, int patience_ms) const {
  pollfd watched{socket_.get(), POLLIN, 0};
  if (::poll(&watched, 1, patience_ms) <= 0) {
    return false;
  }
  std::array<char, 65536> piece;
  const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
  if (got <= 0) {
    return false;
  }
  bytes.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

RawReply RawClient::receive(int patience_ms) {
  std::string bytes = std::move(left_over_);
  left_over_.clear();
  RawReply out = parse(bytes, left_over_);
  while (!out.complete && more(bytes, patience_ms)) {
    out = parse(bytes, left_over_);
  }
  return out;
}

std::vector<std::string> RawReply::events() const {
  std::vector<std::string> out;
  std::string_view rest = body;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.starts_with("data: ")) {
      out.emplace_back(line.substr(6));
    }
  }
  return out;
}

std::string post(std::string_view path, std::string_view body, std::string_view extra) {
  return cat("POST ", path, " HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n", extra,
             "content-length: ", body.size(), "\r\n\r\n", body);
}

RawReply ask(std::uint16_t port, std::string_view request) {
  RawClient client(port);
  client.send(request);
  return client.receive();
}

}  // namespace reprise::fake
