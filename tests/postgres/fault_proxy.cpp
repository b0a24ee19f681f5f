#include "postgres/fault_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace reprise::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Sends a few bytes at a time; of a long response only the beginning, which has all kinds of
// messages.
bool send_slowly(int socket, std::string_view bytes) {
  constexpr std::size_t kSlowBytes = 20'000;
  const std::size_t end = bytes.size();
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, end - bytes.size() < kSlowBytes ? 7 : 701);
    if (!send_all(socket, piece)) {
      return false;
    }
    bytes.remove_prefix(piece.size());
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

class FaultProxy::Server {
 public:
  explicit Server(std::string_view url) : url_(url) {
    const std::size_t colon = url_.rfind(':');
    port_end_ = url_.find('/', colon);
    port_begin_ = colon + 1;
    target_ = std::stoi(url_.substr(port_begin_, port_end_ - port_begin_));
    listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(0);
    // Little is between the client and a limited rate.
    constexpr int kBufferBytes = 65'536;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    if (::bind(listener_.get(), generic(address), sizeof address) != 0 ||
        ::listen(listener_.get(), 64) != 0 ||
        ::getsockname(listener_.get(), static_cast<sockaddr*>(static_cast<void*>(&bound)), &size) !=
            0) {
      throw std::runtime_error("the proxy cannot listen");
    }
    port_ = ntohs(bound.sin_port);
    accepting_ = std::jthread([this] { accept_all(); });
  }

  ~Server() {
    is_over_ = true;
    release();
    ::shutdown(listener_.get(), SHUT_RDWR);
    accepting_.join();
    end_all();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const {
    return cat(url_.substr(0, port_begin_), port_, url_.substr(port_end_));
  }

  void set(Fault fault, int after) {
    is_held_ = fault == Fault::delayed || fault == Fault::late;
    has_happened_ = false;
    passing_requests_ = after;
    fault_ = fault;
  }

  void release() {
    is_held_ = false;
    is_held_.notify_all();
  }

  bool has_happened() const { return has_happened_; }

  void limit_rate(int bytes_per_second) { rate_ = bytes_per_second; }

  void go_away() {
    is_away_ = true;
    end_all();
  }
  void come_back() { is_away_ = false; }
  int connections() const { return connections_; }

 private:
  void end_all() {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) {
      ::shutdown(socket, SHUT_RDWR);
    }
  }

  void accept_all() {
    while (!is_over_) {
      Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (client.get() < 0) {
        return;
      }
      ++connections_;
      if (is_away_) {
        continue;
      }
      Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_in address = loopback(target_);
      if (::connect(server.get(), generic(address), sizeof address) != 0) {
        continue;
      }
      const std::lock_guard lock(mutex_);
      sockets_.push_back(client.get());
      sockets_.push_back(server.get());
      passing_.emplace_back([this, from = std::move(client), to = std::move(server)] {
        pass(from.get(), to.get());
        const std::lock_guard forget(mutex_);
        std::erase(sockets_, from.get());
        std::erase(sockets_, to.get());
      });
    }
  }

  // Forwards the data of one connection in both directions until one side closes it.
  void pass(int client, int server) {
    Fault fault = Fault::none;  // the fault of this connection
    while (true) {
      std::array<pollfd, 2> sides{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
      if (::poll(sides.data(), sides.size(), -1) < 0) {
        return;
      }
      const bool is_request = sides[0].revents != 0;
      std::array<char, 65536> buffer{};
      const ssize_t size = ::recv(is_request ? client : server, buffer.data(), buffer.size(), 0);
      if (size <= 0) {
        return;
      }
      if (const int rate = rate_; rate > 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(size * 1'000'000 / rate));
      }
      if (is_request && fault_ != Fault::none && passing_requests_-- <= 0) {
        if (const Fault next = fault_.exchange(Fault::none); next != Fault::none) {
          fault = next;
          has_happened_ = true;
        }
      }
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
      if (!(is_request ? request(fault, server, bytes) : answer(fault, client, bytes))) {
        return;
      }
    }
  }

  bool request(Fault fault, int server, std::string_view bytes) {
    switch (fault) {
      case Fault::cut_before:
        return false;
      case Fault::cut_within:
        send_all(server, bytes.substr(0, bytes.size() / 2));
        return false;
      case Fault::half_open:
        return true;
      case Fault::late:
        is_held_.wait(true);
        return send_all(server, bytes);
      case Fault::slow:
        return send_slowly(server, bytes);
      default:
        return send_all(server, bytes);
    }
  }

  bool answer(Fault fault, int client, std::string_view bytes) {
    switch (fault) {
      case Fault::cut_during:
        return false;
      case Fault::cut_after:
        send_all(client, bytes);
        return false;
      case Fault::half_open:
        return true;
      case Fault::delayed:
        is_held_.wait(true);
        return send_all(client, bytes);
      case Fault::slow:
        return send_slowly(client, bytes);
      case Fault::unclear:
        return send_all(client, internal_error());
      default:
        return send_all(client, bytes);
    }
  }

  // Like the server's error, followed by ReadyForQuery.
  static std::string internal_error() {
    const std::string fields("SERROR\0CXX000\0Mfailure on another node\0\0", 40);
    const std::string ready("Z\0\0\0\5I", 6);
    return cat(std::string("E\0\0\0", 4), static_cast<char>(fields.size() + 4), fields, ready);
  }

  std::string url_;
  std::size_t port_begin_ = 0;
  std::size_t port_end_ = 0;
  int target_ = 0;
  int port_ = 0;
  Fd listener_;
  std::atomic<Fault> fault_ = Fault::none;
  std::atomic<int> passing_requests_ = 0;
  std::atomic<bool> has_happened_ = false;
  std::atomic<bool> is_held_ = false;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_away_ = false;
  std::atomic<int> connections_ = 0;
  std::atomic<int> rate_ = 0;  // bytes a second; 0 without a limit
  std::mutex mutex_;
  std::vector<int> sockets_;         // guarded by mutex_
  std::list<std::jthread> passing_;  // only accept_all() adds to it
  std::jthread accepting_;
};

FaultProxy::FaultProxy(std::string_view url) : server_(std::make_unique<Server>(url)) {}
FaultProxy::~FaultProxy() = default;

std::string FaultProxy::url() const {
  return server_->url();
}

void FaultProxy::set(Fault fault, int after) {
  server_->set(fault, after);
}

void FaultProxy::release() {
  server_->release();
}

bool FaultProxy::has_happened() const {
  return server_->has_happened();
}

void FaultProxy::limit_rate(int bytes_per_second) {
  server_->limit_rate(bytes_per_second);
}

void FaultProxy::go_away() {
  server_->go_away();
}

void FaultProxy::come_back() {
  server_->come_back();
}

int FaultProxy::connections() const {
  return server_->connections();
}

}  // namespace reprise::test
