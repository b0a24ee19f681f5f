#include "fake_provider/delivery.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "base/text.h"
#include "fake_provider/behaviour.h"
#include "fake_provider/http.h"
#include "fake_provider/protocol.h"
#include "reprise/error.h"

namespace reprise::fake {
namespace {

constexpr std::size_t kFloodBytes = 64 << 10;

std::string hex_size(std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (; size > 0; size /= 16) {
    out.insert(out.begin(), kDigits[size % 16]);
  }
  return out;
}

class Delivery {
 public:
  Delivery(Connection& connection, const Behaviour& behaviour, const Stream& stream)
      : connection_(connection), behaviour_(behaviour), stream_(stream) {}

  Result<Sent> run() {
    REPRISE_TRY(connection_.send(head()));
    bool ending = false;
    for (const SseEvent& event : stream_.events) {
      const bool left_out =
          event.is_end &&
          (behaviour_.no_end || (behaviour_.no_done && &event == &stream_.events.back()));
      if (left_out) {
        continue;
      }
      if (event.is_delta || event.is_end) {
        REPRISE_ASSIGN(const auto ended, interfere(event));
        if (ended) {
          return *ended;
        }
        ++deltas_;
      }
      if (event.is_end && !ending) {
        ending = true;
        stream_.before_end();
      }
      REPRISE_TRY(send_bytes(encoded(event)));
    }
    return finish();
  }

 private:
  std::string head() const {
    std::string out = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n";
    for (const auto& [name, value] : stream_.headers) {
      out += cat(name, ": ", value, "\r\n");
    }
    return out += cat(behaviour_.until_close ? "connection: close" : "transfer-encoding: chunked",
                      "\r\n\r\n");
  }

  bool is_time(const std::optional<int>& after) const { return after && deltas_ >= *after; }

  // Applies faults before the event; returns how the delivery ended, if it did.
  Result<std::optional<Sent>> interfere(const SseEvent& event) {
    if (behaviour_.slow_ms > 0 && !connection_.wait_ms(behaviour_.slow_ms)) {
      return Sent::cut;
    }
    if (!behaviour_.endless.empty() && deltas_ > 0) {
      REPRISE_TRY(flood(event));
    }
    if (is_time(behaviour_.hang)) {
      (void)connection_.wait_ms(-1);  // until the client closes
      return Sent::cut;
    }
    if (is_time(behaviour_.overloaded)) {
      REPRISE_TRY(send_bytes(encoded(stream_.overload)));
      REPRISE_TRY(finish());
      return Sent::cut;
    }
    const std::string bytes = encoded(event);
    if (is_time(behaviour_.cut)) {
      REPRISE_TRY(send_bytes(bytes.substr(0, bytes.size() / 2)));
      return Sent::cut;
    }
    if (is_time(behaviour_.cut_char)) {
      const auto high = bytes.find_first_of("\xC3\xC4\xC5\xE2\xE6\xF0");  // begin a character
      if (high != std::string::npos) {
        REPRISE_TRY(send_bytes(bytes.substr(0, high + 1)));
        return Sent::cut;
      }
    }
    return std::optional<Sent>();
  }

  // Sends until the client closes.
  Result<> flood(const SseEvent& event) {
    std::string piece = "xxxxxxxxxxxxxxxx";
    if (behaviour_.endless != "line") {
      piece = behaviour_.endless == "comment" ? ": nothing\n" : encoded(event);
    }
    std::string many;
    while (many.size() < kFloodBytes) {
      many += piece;
    }
    while (true) {
      REPRISE_TRY(send_bytes(many));
    }
  }

  std::string encoded(const SseEvent& event) const {
    const std::string_view end = behaviour_.crlf ? "\r\n" : "\n";
    std::string out;
    if (behaviour_.comments) {
      out += cat(": a comment", end, end, "id: 7", end, "retry: 1000", end, "strange: field", end);
    }
    if (!event.name.empty()) {
      out += cat("event: ", event.name, end);
    }
    return out += cat("data: ", event.data, end, end);
  }

  Result<> send_bytes(const std::string& bytes) {
    if (behaviour_.until_close) {
      return connection_.send(bytes, behaviour_.drip);
    }
    return connection_.send(cat(hex_size(bytes.size()), "\r\n", bytes, "\r\n"), behaviour_.drip);
  }

  Result<Sent> finish() {
    if (behaviour_.until_close) {
      return Sent::closed;
    }
    REPRISE_TRY(connection_.send("0\r\n\r\n"));
    return Sent::whole;
  }

  Connection& connection_;
  const Behaviour& behaviour_;
  const Stream& stream_;
  int deltas_ = 0;
};

}  // namespace

Result<Sent> deliver(Connection& connection, const Behaviour& behaviour, const Stream& stream) {
  return Delivery(connection, behaviour, stream).run();
}

Result<Sent> deliver_garbage(Connection& connection) {
  std::string bytes = "data: {not json\n\n";
  for (int i = 0; i < 2000; ++i) {
    bytes += static_cast<char>((i * 7919 + i / 256) % 256);
  }
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.body = bytes + "\n\ndata: \xFF\xFE\n\n";
  REPRISE_TRY(connection.send(response));
  return Sent::whole;
}

}  // namespace reprise::fake
