#include "base/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/dynamic_library.h"
#include "base/http.h"
#include "base/text.h"
#include "base/variable.h"
#include "reprise/error.h"

namespace reprise::http {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long to wait for the end of a body whose content is complete: a connection that ends properly
// can be reused.
constexpr milliseconds kEndWait{150};
constexpr milliseconds kPollMax{60'000};
// After several small pieces at intervals below kFastIntervalMax, pieces are collected for
// kBatchInterval before they are delivered: waking up for each one costs more than processing it.
constexpr milliseconds kFastIntervalMax{2};
constexpr milliseconds kBatchInterval{8};
constexpr std::size_t kSmallPieceBytes = 8192;
constexpr int kFastPiecesMin = 8;
// The limit for the headers of one response, with interim responses and trailers.
constexpr std::size_t kHeadBytesMax = 256 << 10;

// libcurl, loaded by the first request: loading its thirty libraries would take most of the time of
// commands without requests.
struct CurlLibrary : LibraryFunctions {
  LazyFunction<decltype(&curl_global_init)> global_init{*this, "curl_global_init"};
  LazyFunction<decltype(&curl_easy_init)> easy_init{*this, "curl_easy_init"};
  LazyFunction<decltype(&curl_easy_cleanup)> easy_cleanup{*this, "curl_easy_cleanup"};
  LazyFunction<decltype(&curl_easy_setopt)> easy_setopt{*this, "curl_easy_setopt"};
  LazyFunction<decltype(&curl_easy_getinfo)> easy_getinfo{*this, "curl_easy_getinfo"};
  LazyFunction<decltype(&curl_easy_strerror)> easy_strerror{*this, "curl_easy_strerror"};
  LazyFunction<decltype(&curl_multi_init)> multi_init{*this, "curl_multi_init"};
  LazyFunction<decltype(&curl_multi_cleanup)> multi_cleanup{*this, "curl_multi_cleanup"};
  LazyFunction<decltype(&curl_multi_add_handle)> multi_add_handle{*this, "curl_multi_add_handle"};
  LazyFunction<decltype(&curl_multi_remove_handle)> multi_remove_handle{*this,
                                                                        "curl_multi_remove_handle"};
  LazyFunction<decltype(&curl_multi_perform)> multi_perform{*this, "curl_multi_perform"};
  LazyFunction<decltype(&curl_multi_poll)> multi_poll{*this, "curl_multi_poll"};
  LazyFunction<decltype(&curl_multi_wakeup)> multi_wakeup{*this, "curl_multi_wakeup"};
  LazyFunction<decltype(&curl_multi_info_read)> multi_info_read{*this, "curl_multi_info_read"};
  LazyFunction<decltype(&curl_slist_append)> slist_append{*this, "curl_slist_append"};
  LazyFunction<decltype(&curl_slist_free_all)> slist_free_all{*this, "curl_slist_free_all"};
};

Result<const CurlLibrary*> load_curl() {
  REPRISE_ASSIGN(const CurlLibrary* const curl,
                 load_library<CurlLibrary>("libcurl (package libcurl4)", kCurlFiles));
  if (const CURLcode code = curl->global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return fail(Code::unsupported, cat("libcurl cannot start: ", curl->easy_strerror(code)));
  }
  return curl;
}

// Loaded and initialised by the first call, in any thread; concurrent callers wait for it. Never
// unloaded. unsupported when it is not installed.
Result<const CurlLibrary*> curl_library() {
  static const auto loaded = load_curl();
  return loaded;
}

struct EasyCloser {
  const CurlLibrary* curl;
  void operator()(CURL* easy) const { curl->easy_cleanup(easy); }
};
struct MultiCloser {
  const CurlLibrary* curl;
  void operator()(CURLM* multi) const { curl->multi_cleanup(multi); }
};
struct ListCloser {
  const CurlLibrary* curl;
  void operator()(curl_slist* list) const { curl->slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyCloser>;
using Multi = std::unique_ptr<CURLM, MultiCloser>;
using List = std::unique_ptr<curl_slist, ListCloser>;

// The state of one request, passed to libcurl's callbacks.
struct Transfer {
  const CurlLibrary& curl;
  CURLM* multi;
  CURL* easy;
  const Request& request;
  Receiver& receiver;
  ResponseHead head = {};
  bool is_head_delivered = false;
  std::size_t head_bytes = 0;  // of all headers, and of trailers
  ReceiveAction action = ReceiveAction::more;
  std::optional<Error> error = std::nullopt;  // of the body source, or our own
  SteadyClock::time_point active = SteadyClock::now();
  std::size_t received = 0;                // of the body, since the last wait
  std::exception_ptr exception = nullptr;  // by the receiver or the body source

  void deliver_head() {
    if (is_head_delivered) {
      return;
    }
    is_head_delivered = true;
    action = receiver.head(head);
  }

  // An exception must not propagate through libcurl, which is C: it ends the transfer, and send()
  // rethrows it. `failed` is the return value that makes libcurl stop.
  template <class Work>
  std::size_t catch_exceptions(std::size_t failed, Work work) {
    try {
      return work();
    } catch (...) {
      exception = std::current_exception();
      action = ReceiveAction::nothing;
      return failed;
    }
  }
};

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line = trimmed({bytes, size * count});
  transfer.active = SteadyClock::now();
  transfer.head_bytes += size * count;
  if (transfer.head_bytes > kHeadBytesMax) {
    transfer.error = Error{Code::io,
                           cat(host_of(transfer.request.url), " sent more than ",
                               kHeadBytesMax >> 10U, " KiB of headers"),
                           EFBIG};
    return 0;  // aborts the transfer
  }
  if (line.starts_with("HTTP/")) {  // also after an interim response: the last head counts
    transfer.head = {};
    const auto blank = std::min(line.find(' '), line.size() - 1);
    std::from_chars(line.data() + blank + 1, line.data() + line.size(), transfer.head.status);
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    transfer.head.headers.push_back(
        {std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))});
  }
  return size * count;
}

std::size_t on_data(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t total = size * count;
  transfer.active = SteadyClock::now();
  transfer.received += total;
  // Any other number than the size makes libcurl abort the transfer.
  return transfer.catch_exceptions(0, [&]() -> std::size_t {
    transfer.deliver_head();
    if (transfer.action != ReceiveAction::nothing) {
      transfer.action = transfer.receiver.data({bytes, total});
    }
    return transfer.action == ReceiveAction::nothing ? 0 : total;
  });
}

std::size_t on_read(char* into, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.active = SteadyClock::now();
  return transfer.catch_exceptions(CURL_READFUNC_ABORT, [&]() -> std::size_t {
    auto bytes = transfer.request.source->read(std::span<char>(into, size * count));
    if (!bytes) {
      transfer.error = std::move(bytes).error();
      return CURL_READFUNC_ABORT;
    }
    return *bytes;
  });
}

// libcurl sends the body again if a reused connection turned out to be closed.
int on_seek(void* user, curl_off_t offset, int origin) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (offset != 0 || origin != SEEK_SET) {
    return CURL_SEEKFUNC_CANTSEEK;
  }
  return static_cast<int>(transfer.catch_exceptions(CURL_SEEKFUNC_FAIL, [&]() -> std::size_t {
    if (auto rewound = transfer.request.source->rewind(); !rewound) {
      transfer.error = std::move(rewound).error();
      return CURL_SEEKFUNC_FAIL;
    }
    return CURL_SEEKFUNC_OK;
  }));
}

// Servers on this machine are not reached through a proxy, whatever the environment variables
// are.
bool is_on_this_machine(std::string_view url) {
  return is_local_url(server_of(url));
}

Error refused_connection(const Transfer& transfer, const std::string& host) {
  long os_errno = 0;
  transfer.curl.easy_getinfo(transfer.easy, CURLINFO_OS_ERRNO, &os_errno);
  const std::string_view proxy =
      is_on_this_machine(transfer.request.url) ? "" : proxy_variable(transfer.request.url);
  return {Code::io,
          proxy.empty() ? cat("nothing answers at ", host,
                              ": check that the server is running and the base URL is correct")
                        : cat("nothing answers at ", host, ", or not at the proxy: check ", proxy),
          os_errno == 0 ? ECONNREFUSED : static_cast<int>(os_errno)};
}

// Maps the result code of a finished transfer to an error.
Error error_of(const Transfer& transfer, CURLcode code) {
  const std::string host = host_of(transfer.request.url);
  const std::string_view reason = transfer.curl.easy_strerror(code);
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {Code::invalid_argument,
              cat("not an http:// or https:// URL: ", http::masked_url(transfer.request.url))};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {Code::io, cat("cannot find the proxy: check ", proxy_variable(transfer.request.url)),
              EHOSTUNREACH};
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::io, cat("cannot find ", host, ": check the name and the network"),
              EHOSTUNREACH};
    case CURLE_COULDNT_CONNECT:
      return refused_connection(transfer, host);
    case CURLE_OPERATION_TIMEDOUT:
      return {Code::timeout,
              cat("no connection to ", host, " within ",
                  duration_words(transfer.request.connect_timeout), ": check the network")};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
      return {Code::io,
              cat("no secure connection to ", host, " (", reason,
                  "): SSL_CERT_FILE can name the trusted certificates"),
              EPROTO};
    default:
      break;
  }
  constexpr long kProxyPassword = 407;
  long connect_status = 0;
  transfer.curl.easy_getinfo(transfer.easy, CURLINFO_HTTP_CONNECTCODE, &connect_status);
  if (connect_status == kProxyPassword) {
    return {Code::unauthorized, cat("the proxy requires a password (407); ",
                                    proxy_password_advice(transfer.request.url))};
  }
  return {Code::io, cat("the connection to ", host, " was lost (", reason, ")"), ECONNRESET};
}

// Multi handles that are not in use. libcurl allows one thread at a time in such a handle, so
// each request takes one; its open connections are reused by the next request. Thread-safe.
class IdleHandles {
 public:
  // The most recently used one, whose connections are the most likely to be open, or a new one.
  Result<Multi> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!handles_.empty()) {
        Multi multi = std::move(handles_.back());
        handles_.pop_back();
        return multi;
      }
    }
    REPRISE_ASSIGN(const CurlLibrary* const curl, curl_library());
    Multi multi(curl->multi_init(), MultiCloser{curl});
    if (multi == nullptr) {
      return fail(Code::unsupported, "libcurl cannot start");
    }
    return multi;
  }

  void put_back(Multi multi) {
    const std::scoped_lock lock(mutex_);
    handles_.push_back(std::move(multi));
  }

 private:
  std::mutex mutex_;
  std::vector<Multi> handles_;  // at most as many as there were concurrent requests
};

class CurlTransport final : public Transport {
 public:
  CurlTransport() = default;
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  ~CurlTransport() override = default;

  Result<> send(const Request& request, Receiver& receiver, std::stop_token stop) override {
    REPRISE_ASSIGN(Multi multi, idle_.take());
    const CurlLibrary& curl = *multi.get_deleter().curl;
    const Easy easy(curl.easy_init(), EasyCloser{&curl});
    if (easy == nullptr) {
      return fail(Code::unsupported, "libcurl cannot make a request");
    }
    Transfer transfer{.curl = curl,
                      .multi = multi.get(),
                      .easy = easy.get(),
                      .request = request,
                      .receiver = receiver};
    const List headers = header_list(transfer);
    set_options(transfer, headers.get());
    if (curl.multi_add_handle(multi.get(), easy.get()) != CURLM_OK) {
      return fail(Code::io, "libcurl cannot start a request");
    }
    auto done = run(transfer, stop);
    curl.multi_remove_handle(multi.get(), easy.get());
    if (transfer.exception) {
      std::rethrow_exception(transfer.exception);
    }
    if (done) {
      transfer.deliver_head();
    }
    idle_.put_back(std::move(multi));
    return done;
  }

 private:
  static List header_list(const Transfer& transfer) {
    const Request& request = transfer.request;
    List list(nullptr, ListCloser{&transfer.curl});
    const auto add = [&](const std::string& line) {
      if (curl_slist* longer = transfer.curl.slist_append(list.get(), line.c_str());
          longer != nullptr) {
        (void)list.release();  // the longer list owns it
        list.reset(longer);
      }
    };
    add("Expect:");  // would wait a second for a permission that few servers send
    if (request.source != nullptr) {
      add("Transfer-Encoding: chunked");
    }
    for (const Header& header : request.headers) {
      add(cat(header.name, ": ", header.value));
    }
    return list;
  }

  template <class Value>
  static void set(const Transfer& transfer, CURLoption option, Value value) {
    // Only lack of memory and options unknown to this libcurl fail; both make the transfer fail.
    (void)transfer.curl.easy_setopt(transfer.easy, option, value);
  }

  static void set_options(Transfer& transfer, curl_slist* headers) {
    const Request& request = transfer.request;
    set(transfer, CURLOPT_URL, request.url.c_str());
    set(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    set(transfer, CURLOPT_HTTPHEADER, headers);
    set(transfer, CURLOPT_NOSIGNAL, 1L);
    set(transfer, CURLOPT_NOPROGRESS, 1L);
    set(transfer, CURLOPT_QUICK_EXIT, 1L);  // a cancelled name lookup is not waited for
    set(transfer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(transfer, CURLOPT_TCP_KEEPALIVE, 1L);
    set(transfer, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
    set(transfer, CURLOPT_HEADERFUNCTION, &on_header);
    set(transfer, CURLOPT_HEADERDATA, &transfer);
    set(transfer, CURLOPT_WRITEFUNCTION, &on_data);
    set(transfer, CURLOPT_WRITEDATA, &transfer);
    if (request.source != nullptr) {
      set(transfer, CURLOPT_POST, 1L);
      set(transfer, CURLOPT_READFUNCTION, &on_read);
      set(transfer, CURLOPT_READDATA, &transfer);
      set(transfer, CURLOPT_SEEKFUNCTION, &on_seek);
      set(transfer, CURLOPT_SEEKDATA, &transfer);
    } else if (request.method != "GET") {
      set(transfer, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(transfer, CURLOPT_POSTFIELDS, request.body.data());
    }
    set(transfer, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (is_on_this_machine(request.url)) {
      set(transfer, CURLOPT_PROXY, "");
    }
    set_certificates(transfer);
  }

  static void set_certificates(const Transfer& transfer) {
    // The first variable has precedence in curl(1): it is set last.
    for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
      if (const std::string file = variable(name); !file.empty()) {
        set(transfer, CURLOPT_CAINFO, file.c_str());
      }
    }
    if (const std::string folder = variable("SSL_CERT_DIR"); !folder.empty()) {
      set(transfer, CURLOPT_CAPATH, folder.c_str());
    }
  }

  // The result code of the finished transfer; nullopt while it is running.
  static std::optional<CURLcode> finished(const Transfer& transfer) {
    int left = 0;
    while (const CURLMsg* message = transfer.curl.multi_info_read(transfer.multi, &left)) {
      if (message->msg == CURLMSG_DONE) {
        return message->data.result;
      }
    }
    return std::nullopt;
  }

  static Result<> run(Transfer& transfer, const std::stop_token& stop) {
    const CurlLibrary& curl = transfer.curl;
    // The only function of libcurl that other threads may call.
    const std::stop_callback wake(stop, [&] { (void)curl.multi_wakeup(transfer.multi); });
    std::optional<SteadyClock::time_point> complete_at;
    SteadyClock::duration waited = kPollMax;
    int fast = 0;
    while (true) {
      if (stop.stop_requested()) {
        return fail(Code::cancelled, "stopped");
      }
      int running = 0;
      if (curl.multi_perform(transfer.multi, &running) != CURLM_OK) {
        return fail(Code::io, "libcurl failed", ECONNRESET);
      }
      if (const auto code = finished(transfer); code) {
        return outcome(transfer, *code);
      }
      const auto now = SteadyClock::now();
      if (transfer.action == ReceiveAction::end && !complete_at) {
        complete_at = now;
      }
      const auto until =
          complete_at ? *complete_at + kEndWait : transfer.active + transfer.request.idle_timeout;
      if (now >= until) {
        if (complete_at) {
          return {};
        }
        return fail(Code::timeout,
                    cat(host_of(transfer.request.url), " sent nothing for ",
                        duration_words(transfer.request.idle_timeout), ": try again"));
      }
      const std::size_t received = std::exchange(transfer.received, 0);
      fast =
          waited < kFastIntervalMax && received > 0 && received < kSmallPieceBytes ? fast + 1 : 0;
      if (fast > kFastPiecesMin) {
        std::this_thread::sleep_for(kBatchInterval);
        waited = {};  // take what has arrived without polling
        continue;
      }
      const auto wait = std::min(std::chrono::ceil<milliseconds>(until - now), kPollMax);
      const auto begin = SteadyClock::now();
      (void)curl.multi_poll(transfer.multi, nullptr, 0, static_cast<int>(wait.count()), nullptr);
      waited = SteadyClock::now() - begin;
    }
  }

  static Result<> outcome(Transfer& transfer, CURLcode code) {
    if (transfer.action != ReceiveAction::more || code == CURLE_OK) {
      return {};
    }
    return std::unexpected(transfer.error ? *std::move(transfer.error) : error_of(transfer, code));
  }

  IdleHandles idle_;
};

}  // namespace

std::string_view proxy_variable(std::string_view url) {
  const bool is_http = ascii_lower(url).starts_with("http://");
  for (const char* name : {is_http ? "http_proxy" : "https_proxy",
                           is_http ? "http_proxy" : "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    if (!variable(name).empty()) {
      return name;
    }
  }
  return "";
}

std::string proxy_password_advice(std::string_view url) {
  const std::string_view known = proxy_variable(url);
  const std::string_view other =
      ascii_lower(url).starts_with("https:") ? "https_proxy" : "http_proxy";
  return cat("set ", known.empty() ? other : known, " to http://USER:PASSWORD@PROXY");
}

std::unique_ptr<Transport> make_curl_transport() {
  return std::make_unique<CurlTransport>();
}

std::jthread preload_curl() {
  return std::jthread([] { (void)curl_library(); });  // the first send() reports an error
}

}  // namespace reprise::http
