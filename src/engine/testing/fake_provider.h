#pragma once

// A provider for tests: it plays scripts, records requests, and rejects what real providers reject.

#include <deque>

#include "reprise/provider.h"

namespace reprise {

// Why a real provider would reject these messages; "" if it would accept them. `open_calls` are
// calls in messages that the provider already has.
std::string refusal_of(const std::vector<Message>& messages,
                       const std::vector<std::string>& open_calls = {});

// One answer: its events in order, then the outcome of stream().
struct Script {
  // Owns what the events point to.
  Script& text(std::string_view text);
  Script& thinking(std::string_view text, std::string_view signature = "");
  Script& call(std::string_view id, std::string_view name, std::string_view input);
  Script& raw(std::string_view json);
  Script& started(std::string_view response_id, std::string_view model = "fake-1");
  Script& usage(std::int64_t input, std::int64_t output, std::string_view request_id = "");
  Script& ended(StopReason reason = StopReason::end, std::string_view word = {});
  Script& members(std::string_view json, bool of_call);
  Script& retrying(Error why, std::chrono::milliseconds pause);
  Script& fails(Code code, std::string message = "the connection broke");
  Script& refuses(Refusal why, std::string message = "invalid request");
  Script& then(std::function<void()> action);  // run between two events

  std::vector<std::function<void(const StreamSink&)>> steps;
  std::optional<Error> error;
  std::optional<Refusal> refusal;
};

struct SeenRequest {
  std::string model;
  std::string system;
  std::string previous_response_id;
  bool store_response = false;
  std::vector<ToolSpec> tools;
  std::vector<Message> messages;
  std::string refusal;
  RequestOptions options = {};
  std::string conversation = {};
  bool grows = true;
  RequestForm form = {};
};

class FakeProvider final : public Provider {
 public:
  std::string called = "fake";
  bool stores = false;
  bool continues = true;       // effective only with `stores`
  std::string server;          // the host
  bool reads_twice = true;     // like a retry; both passes must be equal
  std::deque<Script> scripts;  // one per request; the last one is reused
  std::vector<ModelInfo> listed;
  std::vector<SeenRequest> seen;

  Script& add();

  std::string_view name() const override { return called; }
  bool stores_responses() const override { return stores; }
  bool continues_responses() const override { return stores && continues; }
  std::string_view host() const override { return server; }
  Result<> stream(Request& request, const StreamSink& sink, std::stop_token stop) override;
  Result<std::string> dry_run(Request& request) override;
  Result<std::vector<ModelInfo>> models(std::chrono::milliseconds /*timeout*/,
                                        std::stop_token /*stop*/) override {
    return listed;
  }

 private:
  Result<> receive(Request& request);
};

}  // namespace reprise
