#include "base/testing/loopback.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <stop_token>
#include <thread>

#include "base/file.h"
#include "base/text.h"

namespace reprise {
namespace {

Fd listen_somewhere(int& port) {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const raw = std::bit_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.get(), raw, size), 0);
  EXPECT_EQ(::listen(listener.get(), 16), 0);
  EXPECT_EQ(::getsockname(listener.get(), raw, &size), 0);
  port = ntohs(address.sin_port);
  return listener;
}

}  // namespace

bool Peer::fill() {
  std::array<char, 65'536> buffer{};
  const ssize_t count = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (count <= 0) {
    return false;
  }
  pending_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string Peer::take(std::size_t count) {
  while (pending_.size() < count && fill()) {
  }
  std::string out = pending_.substr(0, count);
  pending_.erase(0, count);
  return out;
}

std::string Peer::take_line() {
  auto end = pending_.find("\r\n");
  while (end == std::string::npos) {
    if (!fill()) {
      return {};
    }
    end = pending_.find("\r\n");
  }
  return take(end + 2);
}

std::string Peer::read_request() {
  std::string request;
  std::size_t length = 0;
  bool chunked = false;
  while (true) {
    const std::string line = take_line();
    request += line;
    const std::string lower = ascii_lower(line);
    if (lower.starts_with("content-length: ")) {
      std::from_chars(lower.data() + 16, lower.data() + lower.size(), length);
    }
    chunked = chunked || lower == "transfer-encoding: chunked\r\n";
    if (line.size() <= 2) {
      break;
    }
  }
  if (!chunked) {
    return request + take(length);
  }
  while (true) {
    const std::string line = take_line();
    std::size_t size = 0;
    std::from_chars(line.data(), line.data() + line.size(), size, 16);
    request += take(size);
    take_line();
    if (size == 0) {
      return request;
    }
  }
}

bool Peer::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Peer::wait_for_close() const {
  std::array<char, 4096> buffer{};
  while (::recv(fd_, buffer.data(), buffer.size(), 0) > 0) {
  }
}

Loopback::Loopback(std::function<void(Peer&)> serve) : listener_(listen_somewhere(port_)) {
  thread_ = std::jthread([this, serve = std::move(serve)](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Fd client(::accept(listener_.get(), nullptr, nullptr));
      if (client.is_open()) {
        const int on = 1;  // send writes immediately
        ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        Peer peer(client.get());
        serve(peer);
      }
    }
  });
}

Loopback::~Loopback() {
  thread_.request_stop();
  (void)::shutdown(listener_.get(), SHUT_RDWR);  // wakes accept(); errors cannot be handled here
}

std::string Loopback::url() const {
  return cat("http://127.0.0.1:", port_);
}

int free_port() {
  int port = 0;
  const Fd listener = listen_somewhere(port);
  return port;
}

}  // namespace reprise
