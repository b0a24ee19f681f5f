#include "fake_provider/fake_provider.h"

#include <asm-generic/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "fake_provider/http.h"
#include "fake_provider/service.h"

namespace reprise::fake {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// The socket functions expect the generic form of an address.
const sockaddr* general(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}
sockaddr* general(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

Result<Fd> listen_on(std::uint16_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  const sockaddr_in address = loopback(port);
  if (!socket.is_open() ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(socket.get(), general(address), sizeof address) != 0 ||
      ::listen(socket.get(), 64) != 0) {
    return fail(Code::io, cat("cannot listen on port ", port), errno);
  }
  return socket;
}

Result<std::uint16_t> port_of(const Fd& socket) {
  sockaddr_in address{};
  unsigned size = sizeof address;
  if (::getsockname(socket.get(), general(address), &size) != 0) {
    return fail(Code::io, "cannot learn the port", errno);
  }
  return ntohs(address.sin_port);
}

}  // namespace

class FakeProvider::Impl {
 public:
  Impl(Fd listener, std::uint16_t port, const FakeOptions& options)
      : port_(port),
        service_(options),
        listener_(std::move(listener)),
        acceptor_([this] { accept_all(); }) {}

  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl(Impl&&) = delete;
  Impl& operator=(const Impl&) = delete;
  Impl& operator=(Impl&&) = delete;

  std::uint16_t port() const { return port_; }
  Service& service() { return service_; }

  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      for (const Live& live : connections_) {
        ::shutdown(live.socket, SHUT_RDWR);
      }
    }
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (acceptor_.joinable()) {
      acceptor_.join();
    }
    connections_.clear();  // joins
  }

 private:
  struct Live {
    int socket = -1;  // owned by `connection`
    std::unique_ptr<Connection> connection;
    std::atomic<bool> done = false;
    std::jthread thread;
  };

  void accept_all() {
    while (true) {
      Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket.is_open() && (errno == EINTR || errno == ECONNABORTED)) {
        continue;
      }
      const std::scoped_lock lock(mutex_);
      if (stopping_ || !socket.is_open()) {
        return;
      }
      connections_.remove_if([](const Live& live) { return live.done.load(); });
      add(std::move(socket));
    }
  }

  void add(Fd socket) {
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    Live& live = connections_.emplace_back();
    live.socket = socket.get();
    live.connection = std::make_unique<Connection>(std::move(socket));
    live.thread = std::jthread([this, &live] { conversation(live); });
  }

  void conversation(Live& live) {
    bool reusable = true;
    while (reusable) {
      const auto request = live.connection->read_request();
      if (!request) {
        if (request.error().code == Code::invalid_argument) {
          (void)live.connection->send(  // the peer may be gone; nothing follows
              HttpResponse{400, "text/plain", request.error().message + "\n"});
        }
        break;
      }
      reusable = service_.serve(*live.connection, *request);
    }
    ::shutdown(live.socket, SHUT_RDWR);  // closed when the thread is joined
    live.done = true;
  }

  const std::uint16_t port_;
  Service service_;
  Fd listener_;
  std::mutex mutex_;  // for the two below
  bool stopping_ = false;
  std::list<Live> connections_;
  std::jthread acceptor_;  // last: uses all the others
};

FakeProvider::FakeProvider(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FakeProvider::~FakeProvider() = default;

Result<std::unique_ptr<FakeProvider>> FakeProvider::start(const FakeOptions& options) {
  REPRISE_ASSIGN(Fd listener, listen_on(options.port));
  REPRISE_ASSIGN(const std::uint16_t port, port_of(listener));
  auto impl = std::make_unique<Impl>(std::move(listener), port, options);
  return std::unique_ptr<FakeProvider>(new FakeProvider(std::move(impl)));
}

std::string FakeProvider::url() const {
  return cat("http://127.0.0.1:", port());
}

std::uint16_t FakeProvider::port() const {
  return impl_->port();
}

Result<> FakeProvider::add_rule(std::string_view line) {
  return impl_->service().add_rule(line);
}

std::int64_t FakeProvider::request_count() const {
  return impl_->service().record().count();
}

std::vector<SeenRequest> FakeProvider::requests() const {
  return impl_->service().record().requests();
}

std::vector<std::string> FakeProvider::violations() const {
  return impl_->service().record().violations();
}

void FakeProvider::stop() {
  impl_->stop();
}

}  // namespace reprise::fake
