#pragma once

// A provider turns a request into a stream of events. Implementations: echo (built in, repeats),
// openai-responses, openai-chat (any compatible server) and anthropic.

#include <array>       // IWYU pragma: export
#include <cstddef>     // IWYU pragma: export
#include <memory>      // IWYU pragma: export
#include <span>        // IWYU pragma: export
#include <stop_token>  // IWYU pragma: export
#include <thread>      // IWYU pragma: export

#include "reprise/message.h"  // IWYU pragma: export

namespace reprise {

namespace provider {
class Codec;
}

struct ToolSpec {
  std::string name;
  std::string description;
  RawJson parameters;  // a JSON Schema object
};

// The messages of a request, pulled one by one so that a long history is never in memory whole.
// They are already what a provider accepts: the engine's request view has paired the tool calls,
// left out foreign thinking and cut to the budget. Roles are user and assistant only; tool results
// stand in user messages; two neighbours never have the same role. An assistant message names this
// provider when all thinking in it is the provider's own, and is incomplete when it was cut.
class RequestMessages {
 public:
  virtual ~RequestMessages() = default;
  virtual Result<std::optional<Message>> next() = 0;  // nullopt at the end
  virtual Result<> rewind() = 0;                      // a retry starts again from the first
  virtual std::int64_t bytes_estimate() const = 0;    // of all text; decides streamed or whole
};

// How an answer is to be made. What is not set is not sent: the provider's own default holds. What
// a protocol has no field for is an error (unsupported), never left out in silence.
struct RequestOptions {
  std::string effort = {};             // of reasoning: "none", "minimal", "low" … "max"
  std::string reasoning_summary = {};  // "auto", "concise", "detailed", "none"
  std::optional<std::int64_t> thinking_budget = std::nullopt;  // tokens (anthropic's older models)
  RawJson schema = {};                 // a JSON Schema that the answer must match; null for none
  std::vector<std::string> stop = {};  // texts that end the answer
  std::optional<double> top_p = std::nullopt;
  std::optional<std::int64_t> seed = std::nullopt;
  std::string service_tier = {};
  std::string tool_choice = {};  // "auto", "none", "required", or the name of a tool
  // Anthropic: mark the prompt, the tools and the history for the cache; OpenAI: send a cache key.
  // Without a value true at the provider's own host only.
  std::optional<bool> prompt_cache = std::nullopt;
  std::string prompt_cache_key = {};  // instead of the conversation's id
  friend bool operator==(const RequestOptions&, const RequestOptions&) = default;
};

struct Request {
  std::string model = {};
  std::string system = {};  // "" for none
  std::optional<double> temperature = std::nullopt;
  std::optional<std::int64_t> max_tokens = std::nullopt;
  std::vector<ToolSpec> tools = {};
  std::string previous_response_id =
      {};  // continue from there; `messages` then has only what is new
  // The words are nowhere but at the provider, which is to keep the answer where it can.
  bool keep_response = false;
  bool stream = true;
  RequestOptions options = {};
  std::string conversation = {};  // an id that its requests share; "" for none
  // The beginning of the messages is the same in the next request, so that caching it pays.
  bool grows = true;
  RequestMessages& messages;
};

// What comes while an answer streams, in order. A block begins with its first event and ends when
// another block's begins.
struct TextDelta {
  std::string_view text;  // valid UTF-8, whole characters
};
struct ThinkingDelta {
  std::string_view text;
};
struct ThinkingSignature {
  std::string_view signature;  // belongs to the thinking block before it
};
struct ToolUseBegin {
  std::string_view id;
  std::string_view name;
};
struct ToolInputDelta {
  std::string_view json;  // the next piece of the input's text
};
struct RawBlock {
  RawJson json;  // a whole block only this provider understands (encrypted reasoning, …)
};
struct ReplyStarted {
  std::string_view response_id;  // "" when the provider has none
  std::string_view model;
};
struct UsageReport {
  Usage usage;
};
enum class StopReason : std::uint8_t {
  end,
  tool_use,
  max_tokens,
  refused,
  other,
  paused,  // the provider's own tools take long: the same request, with this answer, goes on
};
struct ReplyEnded {
  StopReason reason;
};
// Before the first token: the request is tried again after a pause.
struct Retrying {
  Error why;
  std::chrono::milliseconds pause;
  std::string reason = {};  // a few words: "server is busy (429)"
  int next_try = 0;         // the request after the pause is that one, from 1
  int tries_max = 0;
};
// Before the first token: the model refuses a parameter of the request, which is left out of it and
// of the requests that follow.
struct ParameterLeftOut {
  std::string parameter;  // as the protocol calls it
  Error why;
};
using StreamEvent =
    std::variant<TextDelta, ThinkingDelta, ThinkingSignature, ToolUseBegin, ToolInputDelta,
                 RawBlock, ReplyStarted, UsageReport, ReplyEnded, Retrying, ParameterLeftOut>;

// Views in the event are valid during the call only. What it throws ends the request and goes on to
// the caller of stream().
using StreamSink = std::function<void(const StreamEvent&)>;

struct ModelInfo {
  std::string id;       // what a request names
  std::string name;     // for a person; "" when the provider has none
  std::string ends_on;  // "2026-12-11", the day it is withdrawn; "" when nothing is said of it
  friend bool operator==(const ModelInfo&, const ModelInfo&) = default;
};

// Thread-safe: one provider serves any number of threads, each with a request of its own. The
// sink is called on the thread that called stream().
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;

  // Blocks until the answer has ended (ReplyEnded came), failed or was stopped. Errors:
  // unauthorized, rate_limited (after the retries), expired (the previous response is unknown),
  // too_long (the model takes less), unsupported (the model takes no such images),
  // invalid_argument (the provider refused the request for another reason), timeout, cancelled, io
  // (connection lost, garbage). Everything that came before an error has been handed to the sink.
  virtual Result<> stream(Request& request, const StreamSink& sink, std::stop_token stop) = 0;

  // The exact request as text (method, URL, headers with the key masked, body); sends nothing.
  virtual Result<std::string> dry_run(Request& request) = 0;

  // The models on offer, in the provider's order. Errors: those of stream(), timeout when the list
  // is not there after `timeout`, and unsupported for a provider that has none.
  virtual Result<std::vector<ModelInfo>> models(std::chrono::milliseconds /*timeout*/,
                                                std::stop_token /*stop*/) {
    return fail(Code::unsupported, std::string(name()) + " does not list its models");
  }

  // True when a response id of this provider can be continued from.
  virtual bool keeps_responses() const { return false; }
  // Whether that is its usual way. Else each request has the whole history, and ids are continued
  // from only where the words are nowhere else (Request::keep_response).
  virtual bool continues_responses() const { return keeps_responses(); }

  // Thinking blocks and raw blocks are sent back only to the provider they came from.
  virtual bool accepts_thinking_from(std::string_view provider) const { return provider == name(); }
  // Whether such a block goes back only to the model that made it, too.
  virtual bool is_bound_to_model(const Block& /*block*/) const { return false; }
};

inline constexpr std::int64_t kAnswerBytesMax = 64 << 20;
inline constexpr std::size_t kAnswerCallsMax = 4096;  // tool calls of one answer

struct ProviderOptions {
  std::string base_url = {};  // "" for the provider's own
  std::string api_key = {};   // "" for none; never stored, never shown
  // What to do when the server wants a key and there is none; "" names the provider's variable.
  std::string key_advice = {};
  std::string auth = {};  // how the key is sent: "bearer", "x-api-key", "api-key"; "" as usual
  // Sent with each request, instead of Reprise's own of the same name. Never stored; values are
  // masked wherever they would show, but for a few names that hold no secret.
  std::vector<std::pair<std::string, std::string>> headers = {};
  // An object that is merged into each body and wins over what stands there; objects are merged,
  // everything else is replaced. It may not have `messages`, `input` or `stream`. Null for none.
  RawJson extra = {};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{120'000};  // without a byte from the provider
  int retries_max = 4;  // of a request that met 408, 429, 5xx or a lost connection
  // Of one answer: text, thinking, tool inputs and raw blocks together, and whatever a server sends
  // without adding to them. An answer that is larger ends with io and EFBIG.
  std::int64_t answer_bytes_max = kAnswerBytesMax;
  // openai-responses: whether the provider keeps the answers, so that a request has only what is
  // new. Without a value OpenAI does, and others are asked to only where the words are nowhere
  // else; false: never.
  std::optional<bool> store = std::nullopt;
};

// A kind of provider, and what it uses when nobody says otherwise.
struct ProviderKind {
  std::string_view name;           // "anthropic"
  std::string_view protocol;       // what its servers speak, for a person
  std::string_view key_variable;   // the environment's variables; "" where none is read
  std::string_view url_variable;   //
  std::string_view default_url;    // the provider's own base URL; "" for one without a server
  std::string_view default_model;  // current on the day `as_of`; models are withdrawn after a while
  std::string_view dev_model;      // a cheaper one
  std::string_view as_of;          // "2026-11-23"; "" for models that are never withdrawn
  // How its protocol is written and read; null for the one that is built in.
  std::unique_ptr<provider::Codec> (*codec)(const ProviderOptions& options);
};

// All there are, in the order in which they are shown. Lives as long as the program.
std::span<const ProviderKind> provider_kinds();
const ProviderKind* find_provider_kind(std::string_view name);  // null for a name there is not

// The built-in model: answers with the last user message. `delay` between words.
std::unique_ptr<Provider> make_echo_provider(std::chrono::milliseconds delay = {});

// By the name of its kind. invalid_argument names them all.
Result<std::unique_ptr<Provider>> make_provider(std::string_view name, ProviderOptions options);

// Starts loading the HTTP library in the background, for a program that knows it will need it. The
// thread that is returned must have ended before main() does, as its destructor sees to: libraries
// clean up at exit, whoever is inside them.
[[nodiscard]] std::jthread preload_http();

// A model server that answers on its usual port of this machine.
struct LocalServer {
  std::string name;      // "Ollama"
  std::string base_url;  // "http://127.0.0.1:11434/v1"
  std::vector<std::string> models;
};

// Ollama, llama.cpp, LM Studio and vLLM.
inline constexpr std::array<std::uint16_t, 4> kLocalPorts = {11434, 8080, 1234, 8000};

// Asks these ports of 127.0.0.1 for their models, all at once.
std::vector<LocalServer> find_local_servers(std::chrono::milliseconds timeout,
                                            std::span<const std::uint16_t> ports = kLocalPorts);

}  // namespace reprise
