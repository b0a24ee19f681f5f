#include "stalling_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "fake_provider/http.h"
#include "fake_provider/json_value.h"
#include "program.h"

namespace reprise::rel {
namespace {

sockaddr_in address_of(int socket, bool of_peer) {
  sockaddr_in out{};
  socklen_t size = sizeof out;
  auto* const general = reinterpret_cast<sockaddr*>(&out);
  (void)(of_peer ? ::getpeername(socket, general, &size) : ::getsockname(socket, general, &size));
  return out;
}

Fd new_socket(int kind) {
  return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | kind, 0));
}

bool comes(int fd, short what) {
  pollfd wait{fd, what, 0};
  return ::poll(&wait, 1, 20'000) > 0;
}

// Joins the chunks of a body; the last one may be incomplete.
std::string without_chunks(std::string_view body) {
  std::string out;
  for (;;) {
    const auto end = body.find("\r\n");
    std::size_t size = 0;
    if (end == std::string_view::npos ||
        std::from_chars(body.data(), body.data() + end, size, 16).ptr == body.data() || size == 0) {
      return out;
    }
    out += body.substr(end + 2, size);
    if (body.size() < end + 2 + size + 2) {
      return out;
    }
    body.remove_prefix(end + 2 + size + 2);
  }
}

std::string text_of_event(const fake::Value& event) {
  const fake::Value& delta = event.find("delta");
  if (event.find("type").text == "response.output_text.delta") {
    return delta.text;
  }
  if (delta.find("type").text == "text_delta") {
    return delta.find("text").text;
  }
  const fake::Value& choices = event.find("choices");
  const fake::Value& content =
      choices.items.empty() ? choices : choices.items[0].find("delta").find("content");
  return content.is(fake::Kind::string) ? content.text : "";
}

}  // namespace

StallingServer::StallingServer() : listener_(new_socket(0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 1) != 0) {
    throw std::runtime_error("cannot listen");
  }
  port_ = ntohs(address_of(listener_.get(), false).sin_port);
}

std::string StallingServer::url() const {
  return cat("http://127.0.0.1:", port_);
}

bool StallingServer::accept_request() {
  if (!comes(listener_.get(), POLLIN)) {
    return false;
  }
  Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // The connection gets a duplicate of the socket, which remains open after the request.
  fake::Connection reading{Fd(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0))};
  peer_ = std::move(socket);
  return reading.read_request().has_value();
}

bool StallingServer::send(std::string_view bytes) const {
  return write_all(peer_.get(), bytes, "the socket") && eventually([this] { return is_read(); });
}

// Whether no data is in transit, and none waits to be read.
bool StallingServer::is_read() const {
  const auto hex = [](const sockaddr_in& address) {
    std::array<char, 5> out{};
    (void)std::snprintf(out.data(), out.size(), "%04X", ntohs(address.sin_port));
    return std::string(out.data());
  };
  const std::string here = hex(address_of(peer_.get(), false));
  const std::string there = hex(address_of(peer_.get(), true));
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream columns(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    std::string queues;
    columns >> number >> local >> remote >> state >> queues;
    const bool is_client = local.ends_with(":" + there) && remote.ends_with(":" + here);
    const bool is_server = local.ends_with(":" + here) && remote.ends_with(":" + there);
    // "TX:RX" in hexadecimal. A closed side reads no more, and its FIN counts as a byte.
    const bool is_open = state == "01";
    if (is_open && ((is_server && !queues.starts_with("00000000:")) ||
                    (is_client && !queues.ends_with(":00000000")))) {
      return false;
    }
  }
  return true;  // the other side is gone
}

void StallingServer::fill_queue() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port_);
  for (int i = 0; i < 8; ++i) {
    queue_.push_back(new_socket(SOCK_NONBLOCK));
    (void)::connect(queue_.back().get(), reinterpret_cast<const sockaddr*>(&address),
                    sizeof address);
  }
}

void StallingServer::empty_queue() {
  queue_.clear();
  *this = StallingServer();
}

std::string text_in(std::string_view response) {
  const auto head_end = response.find("\r\n\r\n");
  if (head_end == std::string_view::npos) {
    return "";
  }
  const std::string_view head = response.substr(0, head_end);
  std::string body(response.substr(head_end + 4));
  if (head.contains("chunked")) {
    body = without_chunks(body);
  }
  std::erase(body, '\r');
  std::string out;
  for (std::size_t from = 0;;) {
    const auto end = body.find("\n\n", from);
    if (end == std::string::npos) {
      return out;
    }
    const std::string event = body.substr(from, end - from);
    const auto data = event.find("data: ");
    if (data != std::string::npos) {
      const std::string_view line = std::string_view(event).substr(data + 6);
      if (const auto value = fake::parse_value(line.substr(0, line.find('\n')))) {
        out += text_of_event(*value);
      }
    }
    from = end + 2;
  }
}

}  // namespace reprise::rel
