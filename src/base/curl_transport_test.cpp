#include "base/curl_transport.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <semaphore>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/http.h"
#include "base/testing/loopback.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

class Received final : public Receiver {
 public:
  ReceiveAction head(const ResponseHead& head) override {
    ++heads;
    last = head;
    return ReceiveAction::more;
  }
  ReceiveAction data(std::string_view bytes) override {
    body += bytes;
    return on_data ? on_data() : ReceiveAction::more;
  }
  std::function<ReceiveAction()> on_data;
  ResponseHead last;
  int heads = 0;
  std::string body;
};

// 'a' to 'z' repeatedly, in reads of an odd size.
class Letters final : public BodySource {
 public:
  explicit Letters(std::size_t size, std::size_t read_max = 7777)
      : size_(size), read_max_(read_max) {}
  Result<std::size_t> read(std::span<char> into) override {
    if (at_ == fail_at) {
      return fail(Code::corrupt, "row 7 is bad");
    }
    const std::size_t count = std::min({into.size(), size_ - at_, read_max_});
    for (std::size_t i = 0; i < count; ++i) {
      into[i] = static_cast<char>('a' + (at_ + i) % 26);
    }
    at_ += count;
    return count;
  }
  Result<> rewind() override {
    at_ = 0;
    return {};
  }
  std::size_t fail_at = std::string::npos;

 private:
  std::size_t size_;
  std::size_t read_max_;
  std::size_t at_ = 0;
};

Result<> get(const std::string& url, Received& received, std::stop_token stop = {}) {
  return make_curl_transport()->send({.url = url, .idle_timeout = milliseconds(5000)}, received,
                                     std::move(stop));
}

TEST(CurlTransport, SendsABodyAndReadsTheAnswer) {
  std::string seen;
  Received received;
  {
    const Loopback server([&](Peer& peer) {
      seen = peer.read_request();
      peer.write(cat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", kOk,
                     "X-Request-Id:  r1 \r\nContent-Length: 5\r\n\r\nhello"));
    });
    const Request request{.method = "POST",
                          .url = cat(server.url(), "/v1/x"),
                          .headers = {{"Content-Type", "application/json"}, {"X-Key", "k"}},
                          .body = std::string("{\"a\":\0}", 7)};
    ASSERT_TRUE(make_curl_transport()->send(request, received, {}));
  }
  EXPECT_THAT(seen, testing::StartsWith("POST /v1/x HTTP/1.1\r\n"));
  EXPECT_THAT(seen, HasSubstr("\r\nContent-Length: 7\r\n"));
  EXPECT_THAT(seen, HasSubstr("\r\nX-Key: k\r\n"));
  EXPECT_THAT(seen, Not(HasSubstr("Expect")));
  EXPECT_TRUE(seen.ends_with(std::string("\r\n\r\n{\"a\":\0}", 11)));
  EXPECT_EQ(received.heads, 1);
  EXPECT_EQ(received.last.status, 200);
  EXPECT_EQ(find_header(received.last.headers, "x-request-id"), "r1");
  EXPECT_EQ(find_header(received.last.headers, "link"), "");
  EXPECT_EQ(received.body, "hello");
}

TEST(CurlTransport, DeliversTheHeadOfAnEmptyResponse) {
  const Loopback server([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n");
  });
  Received received;
  ASSERT_TRUE(get(server.url(), received));
  EXPECT_EQ(received.last.status, 429);
  EXPECT_EQ(find_header(received.last.headers, "retry-after"), "3");
}

// Only servers on this machine are reached without the proxy of the environment.
TEST(CurlTransport, ProxiesLookalikesOfLocalNames) {
  std::vector<std::string> seen;
  std::string url;
  {
    const Loopback server([&](Peer& peer) {
      const std::string request = peer.read_request();
      seen.push_back(request.substr(0, request.find(" HTTP")));
      peer.write("HTTP/1.1 204 None\r\nConnection: close\r\n\r\n");
    });
    url = server.url();
    ASSERT_EQ(::setenv("http_proxy", url.c_str(), 1), 0);
    const std::string port = cat(server.port());
    for (const std::string& target :
         {std::string("http://localhost.evil.test/a"), std::string("http://127.evil/b"),
          cat(url, "/c"), cat("http://me:secret@127.0.0.1:", port, "/d")}) {
      Received received;
      EXPECT_TRUE(get(target, received)) << target;
    }
    ASSERT_EQ(::unsetenv("http_proxy"), 0);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"GET http://localhost.evil.test/a",
                                            "GET http://127.evil/b", "GET /c", "GET /d"}));
}

TEST(CurlTransport, NamesTheVariableOfTheProxy) {
  for (const char* const name : {"http_proxy", "ALL_PROXY"}) {
    ASSERT_EQ(::setenv(name, "http://127.0.0.1:1", 1), 0);
    Received received;
    EXPECT_EQ(get("http://model.test/", received).error().message,
              cat("nothing answers at model.test, or not at the proxy: check ", name));
    ASSERT_EQ(::unsetenv(name), 0);
  }
}

TEST(CurlTransport, BoundsTheHeaders) {
  const Loopback server([](Peer& peer) {
    peer.read_request();
    std::string head(kOk);
    for (int i = 0; i < 3000; ++i) {
      head += cat("X-", i, ": ", std::string(100, 'x'), "\r\n");
    }
    peer.write(cat(head, "Content-Length: 0\r\n\r\n"));
    peer.wait_for_close();
  });
  Received received;
  const auto sent = get(server.url(), received);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().os_errno, EFBIG);
  EXPECT_THAT(sent.error().message, HasSubstr("sent more than 256 KiB of headers"));
}

TEST(CurlTransport, SendsThreeMegabytesInChunks) {
  constexpr std::size_t kSize = 3'000'000;
  std::string seen;
  Received received;
  Letters letters(kSize);
  {
    const Loopback server([&](Peer& peer) {
      seen = peer.read_request();
      peer.write(cat(kOk, "Content-Length: 0\r\n\r\n"));
    });
    const Request request{.method = "POST", .url = server.url(), .source = &letters};
    ASSERT_TRUE(make_curl_transport()->send(request, received, {}));
  }
  EXPECT_THAT(seen.substr(0, 500), HasSubstr("Transfer-Encoding: chunked"));
  const std::string body = seen.substr(seen.find("\r\n\r\n") + 4);
  ASSERT_EQ(body.size(), kSize);
  std::string expected(kSize, '\0');
  ASSERT_EQ(*Letters(kSize, kSize).read(expected), kSize);
  EXPECT_TRUE(body == expected);  // too long to print
}

TEST(CurlTransport, ReturnsErrorsOfTheBodySource) {
  const Loopback server([](Peer& peer) { peer.wait_for_close(); });
  Letters letters(100'000);
  letters.fail_at = 7777;
  Received received;
  const auto sent = make_curl_transport()->send(
      {.method = "POST", .url = server.url(), .source = &letters}, received, {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error(), (Error{Code::corrupt, "row 7 is bad", 0}));
}

// The time from the stop request to the return of the call.
steady_clock::duration time_to_stop(const std::string& url) {
  Received received;
  std::stop_source stop;
  steady_clock::time_point stopped;
  std::jthread stopper;
  received.on_data = [&] {
    stopper = std::jthread([&] {
      std::this_thread::sleep_for(milliseconds(20));
      stopped = steady_clock::now();
      stop.request_stop();
    });
    return ReceiveAction::more;
  };
  const auto sent = get(url, received, stop.get_token());
  const auto returned = steady_clock::now();
  stopper.join();
  EXPECT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::cancelled);
  EXPECT_EQ(received.body, "first");
  return returned - stopped;
}

TEST(CurlTransport, StopsImmediatelyDuringTheBody) {
  const Loopback server([](Peer& peer) {
    peer.read_request();
    peer.write(cat(kOk, "\r\nfirst"));
    peer.wait_for_close();
  });
  // A busy machine may be slow once, but not every time.
  auto best = time_to_stop(server.url());
  for (int i = 0; i < 4 && best >= milliseconds(100); ++i) {
    best = std::min(best, time_to_stop(server.url()));
  }
  EXPECT_LT(best, milliseconds(100));
}

TEST(CurlTransport, ReportsARefusedConnection) {
  const int port = free_port();
  Received received;
  const auto sent = get(cat("http://127.0.0.1:", port), received);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::io);
  EXPECT_EQ(sent.error().os_errno, ECONNREFUSED);
  EXPECT_EQ(sent.error().message,
            cat("nothing answers at 127.0.0.1:", port,
                ": check that the server is running and the base URL is correct"));
  EXPECT_EQ(received.heads, 0);
}

TEST(CurlTransport, TimesOutWithoutData) {
  const Loopback server([](Peer& peer) {
    peer.read_request();
    peer.write(cat(kOk, "\r\nfirst"));
    peer.wait_for_close();
  });
  Received received;
  const auto sent = make_curl_transport()->send(
      {.url = server.url(), .idle_timeout = milliseconds(400)}, received, {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::timeout);
  EXPECT_EQ(received.body, "first");
}

TEST(CurlTransport, ReportsATruncatedBody) {
  for (const char* framing :
       {"Content-Length: 50\r\n\r\nfirst", "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"}) {
    const Loopback server([&](Peer& peer) {
      peer.read_request();
      peer.write(cat(kOk, framing));
    });
    Received received;
    const auto sent = get(server.url(), received);
    ASSERT_FALSE(sent) << framing;
    EXPECT_EQ(sent.error().code, Code::io);
    EXPECT_EQ(sent.error().os_errno, ECONNRESET);
    EXPECT_EQ(received.body, "first");
  }
}

TEST(CurlTransport, DoesNotWaitForAMissingEnd) {
  const Loopback server([](Peer& peer) {
    peer.read_request();
    peer.write(cat(kOk, "\r\nall"));
    peer.wait_for_close();
  });
  for (const ReceiveAction want : {ReceiveAction::end, ReceiveAction::nothing}) {
    Received received;
    received.on_data = [want] { return want; };
    EXPECT_TRUE(get(server.url(), received));
    EXPECT_EQ(received.body, "all");
  }
}

// The number of calls to the receiver for `pieces` sent one by one.
int calls_for(const std::string& url, std::size_t pieces) {
  Received received;
  int calls = 0;
  received.on_data = [&] {
    ++calls;
    return ReceiveAction::more;
  };
  EXPECT_TRUE(get(url, received));
  EXPECT_EQ(received.body.size(), pieces);
  return calls;
}

TEST(CurlTransport, CollectsFastPieces) {
  constexpr std::size_t kPieces = 400;
  const Loopback server([](Peer& peer) {
    peer.read_request();
    peer.write(cat(kOk, "\r\n"));
    auto due = steady_clock::now();
    for (std::size_t i = 0; i < kPieces && peer.write("x"); ++i) {
      std::this_thread::sleep_until(due += std::chrono::microseconds(300));
    }
  });
  // A server on a busy machine may be too slow once, but not every time.
  int calls = calls_for(server.url(), kPieces);
  for (int i = 0; i < 20 && calls > 200; ++i) {
    calls = std::min(calls, calls_for(server.url(), kPieces));
  }
  EXPECT_LE(calls, 200);
}

// The server sends the next piece only after the previous one was received, even at a rate at which
// pieces are collected.
TEST(CurlTransport, DoesNotDelayPieces) {
  constexpr int kPieces = 40;
  std::counting_semaphore<> taken(0);
  int sent = 0;
  {
    const Loopback server([&](Peer& peer) {
      peer.read_request();
      peer.write(cat(kOk, "\r\n"));
      do {
        peer.write("x");
      } while (taken.try_acquire_for(std::chrono::seconds(4)) && ++sent < kPieces);
    });
    Received received;
    received.on_data = [&] {
      taken.release();
      return ReceiveAction::more;
    };
    EXPECT_TRUE(get(server.url(), received));
  }
  EXPECT_EQ(sent, kPieces);
}

TEST(CurlTransport, ReusesConnections) {
  int connections = 0;
  {
    const Loopback server([&](Peer& peer) {
      ++connections;
      while (!peer.read_request().empty()) {
        if (!peer.write(cat(kOk, "Content-Length: 2\r\n\r\nok"))) {
          return;
        }
      }
    });
    const auto transport = make_curl_transport();
    for (int i = 0; i < 3; ++i) {
      Received received;
      ASSERT_TRUE(transport->send({.url = server.url()}, received, {}));
      EXPECT_EQ(received.body, "ok");
    }
  }
  EXPECT_EQ(connections, 1);
}

class ThrowingBody final : public BodySource {
 public:
  Result<std::size_t> read(std::span<char> /*into*/) override { throw 42; }
  Result<> rewind() override { return {}; }
};

TEST(CurlTransport, PropagatesExceptionsOfTheBody) {
  const Loopback server([](Peer& peer) { peer.wait_for_close(); });
  ThrowingBody body;
  Received received;
  const Request request{.method = "POST", .url = server.url(), .source = &body};
  EXPECT_THROW((void)make_curl_transport()->send(request, received, {}), int);
}

TEST(CurlTransport, PropagatesExceptionsOfTheReceiver) {
  const Loopback server([](Peer& peer) {
    peer.read_request();
    peer.write(cat(kOk, "Connection: close\r\nContent-Length: 2\r\n\r\nok"));
  });
  const auto transport = make_curl_transport();
  Received thrower;
  thrower.on_data = []() -> ReceiveAction { throw 42; };
  EXPECT_THROW((void)transport->send({.url = server.url()}, thrower, {}), int);
  Received received;
  ASSERT_TRUE(transport->send({.url = server.url()}, received, {}));
  EXPECT_EQ(received.body, "ok");
}

// Each thread receives the responses to its own requests; the thread sanitizer checks for races.
TEST(CurlTransport, ServesManyThreadsAtOnce) {
  constexpr int kThreads = 8;
  constexpr int kRequests = 25;
  const Loopback server([](Peer& peer) {
    const std::string request = peer.read_request();
    const std::string path = request.substr(4, request.find(' ', 4) - 4);
    peer.write(cat(kOk, "Connection: close\r\nContent-Length: ", path.size(), "\r\n\r\n", path));
  });
  const auto transport = make_curl_transport();
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kRequests; ++i) {
          const std::string path = cat("/", thread, "/", i);
          Received received;
          const auto sent = transport->send({.url = cat(server.url(), path)}, received, {});
          right += sent && received.body == path ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(right, kThreads * kRequests);
}

TEST(CurlTransport, RejectsInvalidUrls) {
  for (const char* url : {"ftp://127.0.0.1/", "file:///etc/passwd", "http://"}) {
    Received received;
    const auto sent = get(url, received);
    ASSERT_FALSE(sent) << url;
    EXPECT_EQ(sent.error().code, Code::invalid_argument) << url;
  }
}

TEST(PreloadCurl, LoadsTheLibrary) {
  preload_curl().join();
  EXPECT_NE(::dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(PreloadCurl, IsThreadSafe) {
  const std::jthread one = preload_curl();
  const std::jthread other = preload_curl();
  Received received;
  EXPECT_FALSE(get(cat("http://127.0.0.1:", free_port()), received));
}

TEST(HostOf, ShowsNoUserAndNoPath) {
  EXPECT_EQ(host_of("https://user:secret@h.test:80/v1?x"), "h.test:80");
  EXPECT_EQ(host_of("h.test/x"), "h.test");
  EXPECT_EQ(masked_url("https://user:se@cret@h.test:80/v1?x@y"), "https://***@h.test:80/v1?x@y");
  EXPECT_EQ(masked_url("http://h.test/a@b"), "http://h.test/a@b");
  EXPECT_EQ(host_of("http://[::1]:8080"), "[::1]:8080");
}

TEST(Http, MasksSecretParametersOfAUrl) {
  EXPECT_EQ(masked_url("https://h/v1?api-version=1&api-key=s1&x=2#f"),
            "https://h/v1?api-version=1&api-key=***&x=2#f");
  for (const char* const name : {"key", "API_KEY", "token", "access_token", "sig", "secret",
                                 "Ocp-Apim-Subscription-Key", "X-Amz-Signature", "code"}) {
    EXPECT_EQ(masked_url(cat("https://h/?", name, "=s3cret")), cat("https://h/?", name, "=***"));
  }
  EXPECT_EQ(masked_url("https://u:p@h?a;key=s"), "https://***@h?a;key=***");
}

TEST(Http, DistinguishesServers) {
  EXPECT_EQ(server_of("https://API.test/v1?x"), "https://api.test:443");
  EXPECT_EQ(server_of("http://u:p@h:8080"), "http://h:8080");
  EXPECT_EQ(server_of("http://[::1]/v1"), "http://[::1]:80");
  EXPECT_TRUE(is_same_server("https://h/a", "HTTPS://H:443/b"));
  EXPECT_FALSE(is_same_server("https://h/a", "http://h/a"));
  EXPECT_FALSE(is_same_server("https://h/a", "https://h.evil/a"));
  for (const char* const url :
       {"", "h/v1", "ftp://h", "http://", "http://a@b@c", "http://h\\@evil", "http://h%2eevil",
        "http://h:8o", "http://[::1", "http://[::1]x", "http:// h"}) {
    EXPECT_EQ(server_of(url), "") << url;
    EXPECT_FALSE(is_same_server(url, url)) << url;
  }
}

TEST(Http, RecognizesLocalServers) {
  for (const char* const local : {"http://localhost", "http://LOCALHOST:1/v1", "https://127.0.0.1/",
                                  "http://127.1.2.3:8080/v1", "http://[::1]:8080/v1?x=a@b"}) {
    EXPECT_TRUE(is_local_url(local)) << local;
  }
  for (const char* const other :
       {"http://localhost.evil.test/", "http://127.0.0.1.evil.test/", "http://localhost@evil.test/",
        "http://127.0.0.1:80@evil.test/", "http://127.0.0.1\\@evil.test/", "http://127.0.0.256/",
        "http://127.0.0.1.5/", "http://128.0.0.1/", "http://127..0.1/",
        "http://evil.test#@localhost/", "http://user@localhost/", "localhost",
        "http://127.0.0.1%00.evil.test/", "http://127.1/"}) {
    EXPECT_FALSE(is_local_url(other)) << other;
  }
}

TEST(Http, AppendsAPathBeforeTheQuery) {
  EXPECT_EQ(with_path("https://h/v1", "/x"), "https://h/v1/x");
  EXPECT_EQ(with_path("https://h/d/?api-version=1#f", "/x"), "https://h/d/x?api-version=1");
  EXPECT_EQ(with_path("https://h?q", "/x"), "https://h/x?q");
}

}  // namespace
}  // namespace reprise::http
