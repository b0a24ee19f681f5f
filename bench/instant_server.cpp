#include "instant_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "measure.h"

namespace bench {
namespace {

// False if the program has ended; its exit code shows why.
bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string chat_event(std::string_view delta) {
  return R"(data: {"id":"r1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,)"
         R"("delta":{"content":")" +
         std::string(delta) + R"("},"finish_reason":null}]})" + "\n\n";
}
constexpr std::string_view kChatEnd =
    R"(data: {"id":"r1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,)"
    R"("delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,)"
    R"("total_tokens":12}})"
    "\n\ndata: [DONE]\n\n";

std::string responses_event(std::string_view type, const std::string& rest) {
  return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" + rest +
         "}\n\n";
}
std::string responses_begin(std::int64_t number) {
  const std::string id = std::to_string(number);
  return responses_event("response.created", R"(,"response":{"id":"resp_)" + id +
                                                 R"(","model":"m","status":"in_progress"})") +
         responses_event("response.output_item.added",
                         R"(,"output_index":0,"item":{"id":"msg_)" + id +
                             R"(","type":"message","role":"assistant","content":[]})");
}
std::string responses_delta(std::string_view delta) {
  return responses_event(
      "response.output_text.delta",
      R"(,"output_index":0,"content_index":0,"delta":")" + std::string(delta) + "\"");
}
std::string responses_end(std::int64_t number) {
  const std::string id = std::to_string(number);
  return responses_event(
      "response.completed",
      R"(,"response":{"id":"resp_)" + id +
          R"(","model":"m","status":"completed","usage":{"input_tokens":9,"output_tokens":3,)"
          R"("total_tokens":12}})");
}

// Reads until `buffer` holds `count` bytes.
bool fill(int connection, std::string& buffer, std::size_t count) {
  char piece[65536];
  while (buffer.size() < count) {
    const ssize_t received = recv(connection, piece, sizeof piece, 0);
    if (received <= 0) {
      return false;
    }
    buffer.append(piece, static_cast<std::size_t>(received));
  }
  return true;
}

bool read_head(int connection, std::string& buffer, std::size_t& end) {
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!fill(connection, buffer, buffer.size() + 1)) {
      return false;
    }
  }
  end += 4;
  return true;
}

// Reads and discards `count` bytes: the peak memory of this process would be counted as that of
// every program it starts.
bool skip(int connection, std::string& buffer, std::size_t count) {
  while (count > 0) {
    if (buffer.empty() && !fill(connection, buffer, 1)) {
      return false;
    }
    const std::size_t part = std::min(count, buffer.size());
    buffer.erase(0, part);
    count -= part;
  }
  return true;
}

// Reads the chunked body at the beginning of `buffer`; returns its length, negative if it is
// incomplete.
std::int64_t read_chunks(int connection, std::string& buffer) {
  std::int64_t length = 0;
  while (true) {
    std::size_t line = 0;
    while ((line = buffer.find("\r\n")) == std::string::npos) {
      if (!fill(connection, buffer, buffer.size() + 1)) {
        return -1;
      }
    }
    const std::size_t chunk = std::strtoull(buffer.c_str(), nullptr, 16);
    if (!skip(connection, buffer, line + 2 + chunk + 2)) {
      return -1;
    }
    if (chunk == 0) {
      return length;
    }
    length += static_cast<std::int64_t>(chunk);
  }
}

std::int64_t read_body(int connection, const std::string& head, std::string& buffer) {
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t at = head.find(kLength);
  if (at == std::string::npos) {
    return read_chunks(connection, buffer);
  }
  const std::size_t length = std::strtoull(head.c_str() + at + kLength.size(), nullptr, 10);
  return skip(connection, buffer, length) ? static_cast<std::int64_t>(length) : -1;
}

}  // namespace

InstantServer::InstantServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as sockets are addressed.
  auto* socket_address = reinterpret_cast<sockaddr*>(&address);
  require(listener_ >= 0 && bind(listener_, socket_address, size) == 0 &&
              listen(listener_, 64) == 0 && getsockname(listener_, socket_address, &size) == 0,
          "cannot listen on 127.0.0.1");
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { run(); });
}

InstantServer::~InstantServer() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

std::string InstantServer::base_url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/v1";
}

void InstantServer::set_answering(Answering answering) {
  const std::lock_guard lock(mutex_);
  answering_ = answering;
}

Clock::time_point InstantServer::first_byte() const {
  const std::lock_guard lock(mutex_);
  return first_byte_;
}

void InstantServer::run() {
  for (int connection = 0; (connection = accept(listener_, nullptr, nullptr)) >= 0;) {
    serve(connection);
    close(connection);
  }
}

void InstantServer::serve(int connection) {
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::string buffer;
  if (!fill(connection, buffer, 1)) {
    return;
  }
  const auto now = Clock::now();
  std::size_t end = 0;
  if (!read_head(connection, buffer, end)) {
    return;
  }
  const std::string head = buffer.substr(0, end);
  buffer.erase(0, end);
  const bool responses_api = head.find("/responses ") != std::string::npos;
  const std::int64_t length = read_body(connection, head, buffer);
  if (length < 0) {
    return;
  }
  body_bytes_ = length;
  ++requests_;
  {
    const std::lock_guard lock(mutex_);
    first_byte_ = now;
  }
  send_answer(connection, responses_api);
}

void InstantServer::send_answer(int connection, bool responses_api) {
  mutex_.lock();
  const Answering answering = answering_;
  mutex_.unlock();
  const std::int64_t number = requests_;
  std::string out =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
  out += responses_api ? responses_begin(number) : "";
  const std::string event = responses_api ? responses_delta("word ") : chat_event("word ");
  auto due = Clock::now();
  for (std::int64_t i = 0; i < answering.deltas; ++i) {
    out += event;
    if (answering.pause.count() > 0) {
      std::this_thread::sleep_until(due += answering.pause);
      if (!send_all(connection, out)) {
        return;
      }
      out.clear();
    }
  }
  out += responses_api ? responses_end(number) : std::string(kChatEnd);
  send_all(connection, out);
}

}  // namespace bench
