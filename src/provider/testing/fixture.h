#pragma once

// Test fixtures for providers: a transport that plays recorded responses in arbitrary pieces,
// messages from a list, and the events of an answer as lines that are easy to compare.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "provider/codec.h"
#include "provider/http_provider.h"
#include "provider/retry.h"
#include "reprise/environment.h"

namespace reprise::provider {

class ListMessages final : public RequestMessages {
 public:
  explicit ListMessages(std::vector<Message> messages = {}, std::int64_t bytes = 0)
      : messages_(std::move(messages)), bytes_(bytes) {}
  Result<std::optional<Message>> next() override {
    if (at_ == messages_.size()) {
      return std::optional<Message>();
    }
    return std::optional<Message>(messages_[at_++]);
  }
  Result<> rewind() override {
    at_ = 0;
    return {};
  }
  std::int64_t bytes_estimate() const override { return bytes_; }

 private:
  std::vector<Message> messages_;
  std::int64_t bytes_;
  std::size_t at_ = 0;
};

inline Message make_message(std::string_view who, std::vector<Block> blocks,
                            std::string provider = "") {
  Message out;
  out.role = who;
  out.blocks = std::move(blocks);
  out.provider = std::move(provider);
  return out;
}
inline Message make_message(std::string_view who, std::string_view text) {
  return make_message(who, {TextBlock{std::string(text), {}}});
}
inline RawJson json_of(std::string text) {
  return *RawJson::parse(std::move(text));
}

// The network's behaviour for one request.
struct RecordedResponse {
  int status = 200;
  std::string body = {};
  std::vector<http::Header> headers = {};
  std::optional<Error> lost = std::nullopt;     // after the body
  std::vector<std::size_t> split_offsets = {};  // the offsets at which the body is split
};

class FakeTransport final : public http::Transport {
 public:
  explicit FakeTransport(std::vector<RecordedResponse> script) : script_(std::move(script)) {}

  Result<> send(const http::Request& request, http::Receiver& receiver,
                std::stop_token stop) override {
    sent.push_back(request);
    if (request.source != nullptr) {
      REPRISE_TRY(drain(*request.source, sent.back().body));
    }
    if (stop.stop_requested()) {
      return fail(Code::cancelled, "stopped");
    }
    const RecordedResponse& played = script_.at(std::min(sent.size(), script_.size()) - 1);
    if (played.status != 0) {
      receiver.head({played.status, played.headers});
      play(played, receiver);
    }
    if (played.lost) {
      return std::unexpected(*played.lost);
    }
    return {};
  }

  std::vector<http::Request> sent;

 private:
  static Result<> drain(http::BodySource& source, std::string& into) {
    std::string buffer(1000, '\0');
    while (true) {
      REPRISE_ASSIGN(const std::size_t count, source.read(std::span<char>(buffer)));
      if (count == 0) {
        return {};
      }
      into.append(buffer, 0, count);
    }
  }

  static void play(const RecordedResponse& played, http::Receiver& receiver) {
    std::size_t from = 0;
    for (std::size_t i = 0; i <= played.split_offsets.size(); ++i) {
      const std::size_t to =
          i < played.split_offsets.size() ? played.split_offsets[i] : played.body.size();
      if (to > from) {
        // A separate copy, so that the address sanitizer detects reads beyond a piece.
        const std::string piece = played.body.substr(from, to - from);
        if (receiver.data(piece) == http::ReceiveAction::nothing) {
          return;
        }
      }
      from = to;
    }
  }

  std::vector<RecordedResponse> script_;
};

// The events of one answer; consecutive pieces of one block are joined.
class EventLog {
 public:
  void operator()(const StreamEvent& event) {
    std::visit([this](const auto& alternative) { add(alternative); }, event);
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void join(std::string_view kind, std::string_view text) {
    EXPECT_TRUE(utf8::is_valid(text)) << kind;
    EXPECT_FALSE(text.empty()) << kind;
    if (lines_.empty() || !lines_.back().starts_with(cat(kind, ": "))) {
      lines_.push_back(cat(kind, ": "));
    }
    lines_.back() += text;
  }
  void add(const TextDelta& event) { join("text", event.text); }
  void add(const ThinkingDelta& event) { join("thinking", event.text); }
  void add(const ToolInputDelta& event) { join("input", event.json); }
  void add(const ThinkingSignature& event) {
    lines_.push_back(cat("signature: ", event.signature));
  }
  void add(const ToolUseBegin& event) {
    lines_.push_back(cat("tool ", event.id, ": ", event.name));
  }
  void add(const RawBlock& event) { lines_.push_back(cat("raw: ", event.json.text())); }
  void add(const BlockMembers& event) {
    lines_.push_back(cat("members", event.of_call ? " of the call: " : ": ", event.json.text()));
  }
  void add(const ReplyStarted& event) {
    lines_.push_back(cat("started ", event.response_id, ": ", event.model));
  }
  void add(const UsageReport& event) {
    lines_.push_back(cat("usage ", usage_to_json(event.usage)));
  }
  void add(const ReplyEnded& event) {
    lines_.push_back(
        cat("ended ", static_cast<int>(event.reason), event.word.empty() ? "" : " ", event.word));
  }
  void add(const ParameterLeftOut& event) {
    lines_.push_back(cat("without ", event.parameter, ": ", event.error.message));
  }
  void add(const KeyMasked& /*event*/) { lines_.emplace_back("a key is masked"); }
  void add(const Retrying& event) {
    lines_.push_back(cat("retry ", event.next_attempt, "/", event.attempts_max, " after ",
                         event.pause.count(), ", ", event.reason, ": ", event.error.message));
  }

  std::vector<std::string> lines_;
};

// A clock stopped at Sun, 06 Nov 1994 08:49:37 GMT.
class FixedClock final : public Clock {
 public:
  Time now() override { return Time(std::chrono::seconds(784111777)); }
};

// No jitter: backoff() subtracts nothing.
class ZeroEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override { std::ranges::fill(bytes, 0); }
};

// A provider over a script; records everything.
class ProviderFixture {
 public:
  ProviderFixture(std::unique_ptr<Codec> codec, std::vector<RecordedResponse> script,
                  ProviderOptions options = {}) {
    auto transport = std::make_unique<FakeTransport>(std::move(script));
    transport_ = transport.get();
    if (options.base_url.empty()) {
      options.base_url = "http://model.test/v1";
    }
    provider_ =
        *make_http_provider(std::move(codec), std::move(options),
                            {.transport = std::move(transport),
                             .sleeper =
                                 [this](std::chrono::milliseconds pause, const std::stop_token&) {
                                   pauses.push_back(pause.count());
                                   return !stop_sleeping;
                                 },
                             .clock = clock_,
                             .entropy = entropy_});
  }

  Result<> ask(Request& request, std::stop_token stop = {}) {
    return provider_->stream(
        request, [this](const StreamEvent& event) { log(event); }, std::move(stop));
  }
  Result<> ask(bool stream = true) {
    ListMessages messages({make_message(role::kUser, "Hi")});
    Request request{.model = "m", .stream = stream, .messages = messages};
    return ask(request);
  }
  Provider& provider() { return *provider_; }
  const std::vector<http::Request>& sent() const { return transport_->sent; }
  const std::vector<std::string>& lines() const { return log.lines(); }

  EventLog log;
  std::vector<std::int64_t> pauses;
  bool stop_sleeping = false;

 private:
  FixedClock clock_;
  ZeroEntropy entropy_;
  FakeTransport* transport_ = nullptr;
  std::unique_ptr<Provider> provider_;
};

inline std::unique_ptr<Codec> chat_codec() {
  return make_openai_chat("http://model.test/v1");
}

inline const std::string kGood =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},"
    "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

// Asks once for each way to split the response: in pieces of 1, 2 and 3 bytes, and in any two
// parts. All must give the same lines, which are returned.
std::vector<std::string> lines_in_all_chunkings(
    const std::function<std::unique_ptr<Codec>()>& codec, const std::string& body);

}  // namespace reprise::provider
