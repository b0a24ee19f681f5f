#pragma once

// A provider turns a request into a stream of events. Implementations: echo (built in),
// openai-responses, openai-chat (any compatible server) and anthropic.

#include <array>       // IWYU pragma: export
#include <cstddef>     // IWYU pragma: export
#include <memory>      // IWYU pragma: export
#include <span>        // IWYU pragma: export
#include <stop_token>  // IWYU pragma: export
#include <thread>      // IWYU pragma: export
#include <variant>     // IWYU pragma: export

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

// The messages of a request, pulled one by one so that a long history is never completely in
// memory. They are already acceptable to the provider: the engine's request view has paired the
// tool calls, left out others' reasoning and applied the budget. Roles are user and assistant only;
// tool results are in user messages; roles alternate. An assistant message names this provider, and
// is incomplete if it was interrupted.
class RequestMessages {
 public:
  virtual ~RequestMessages() = default;
  virtual Result<std::optional<Message>> next() = 0;  // nullopt at the end
  virtual Result<> rewind() = 0;                      // a retry restarts from the first
  virtual std::int64_t bytes_estimate() const = 0;    // of all text; large requests are streamed
};

// Options for the answer. Unset options are not sent: the provider's defaults apply. An option that
// the protocol does not have is an error (unsupported), never silently dropped.
struct RequestOptions {
  std::string effort = {};             // of reasoning: "none", "minimal", "low" … "max"
  std::string reasoning_summary = {};  // "auto", "concise", "detailed", "none"
  std::optional<std::int64_t> thinking_budget = std::nullopt;  // tokens (anthropic's older models)
  RawJson schema = {};                 // a JSON Schema for the answer; null for none
  std::vector<std::string> stop = {};  // texts that end the answer
  std::optional<double> top_p = std::nullopt;
  std::optional<std::int64_t> seed = std::nullopt;
  std::string service_tier = {};
  std::string tool_choice = {};  // "auto", "none", "required", or the name of a tool
  // Anthropic: mark the prompt, the tools and the history for the cache; OpenAI: send a cache key.
  // If unset, true at the provider's own host only.
  std::optional<bool> prompt_cache = std::nullopt;
  std::string prompt_cache_key = {};  // instead of the conversation's id
  friend bool operator==(const RequestOptions&, const RequestOptions&) = default;
};

// How a request is written if a server rejects the usual form. All false: the usual one. The
// engine's view of the messages does the first half, the provider the second.
struct RequestForm {
  bool prompt_in_question = false;  // the system prompt is the head of the first question
  bool omits_opaque = false;        // reasoning, blocks of the server's own tools, unknown members
  bool omits_media = false;         // images and documents of earlier turns
  bool answers_results = false;     // an answer stands between tool results and a question
  bool strict_ids = false;          // all call ids have nine letters and digits
  bool single_calls = false;        // parallel calls one after another
  bool tools_as_text = false;       // earlier calls and their results are text

  bool fills_reasoning = false;   // every answer with calls has reasoning, if need be an empty one
  bool fills_signatures = false;  // every call has a signature, if need be a placeholder
  bool omits_parameters = false;  // options that were not given for this turn
  bool short_answers = false;     // the default limit of an answer is small
  friend bool operator==(const RequestForm&, const RequestForm&) = default;
};

// What a refusal tells about a request, so that it can be changed and sent again.
struct Refusal {
  RequestForm hint = {};        // the changes that its words ask for, if any
  bool is_length = false;       // it is about the size of the request
  bool is_only_length = false;  // as its status or code says: no other form helps
  bool has_parameters = false;  // the request had options that can be left out
  // "A > B" in a refusal about length: the size of the request and the limit, in the server's
  // units; 0 for a number that it does not name.
  std::int64_t size = 0;
  std::int64_t limit = 0;
};

struct Request {
  std::string model = {};
  std::string system = {};  // "" for none
  std::optional<double> temperature = std::nullopt;
  std::optional<std::int64_t> max_tokens = std::nullopt;
  std::vector<ToolSpec> tools = {};
  std::string previous_response_id =
      {};  // continue from there; `messages` then has new messages only
  // The messages are stored by the provider only, so it should store the answer if it can.
  bool store_response = false;
  bool stream = true;
  RequestOptions options = {};
  std::string conversation = {};  // an id shared by the requests of a conversation; "" for none
  // The next request starts with the same messages, so caching is worthwhile.
  bool grows = true;
  RequestForm form = {};
  // Names of options, and "temperature" and "max_tokens", that the user gave for this very turn:
  // they are never left out.
  std::vector<std::string> given = {};
  RequestMessages& messages;
  // Set by stream() when the server rejected the request for a reason that another form, or less of
  // it, may mend.
  std::optional<Refusal> refusal = std::nullopt;
};

// Events of a streaming answer, in order. A block starts with its first event and ends when another
// block starts.
struct TextDelta {
  std::string_view text;  // valid UTF-8, whole characters
};
struct ThinkingDelta {
  std::string_view text;
};
struct ThinkingSignature {
  std::string_view signature;  // of the preceding thinking block
};
struct ToolUseBegin {
  std::string_view id;
  std::string_view name;
};
struct ToolInputDelta {
  std::string_view json;  // the next piece of the input's text
};
struct RawBlock {
  RawJson json;  // a block that only this provider understands (encrypted reasoning, …)
};
// Members of the preceding call, or of a preceding text, that are unknown here: an object.
struct BlockMembers {
  RawJson json;
  bool of_call = false;
};
struct ReplyStarted {
  std::string_view response_id;  // "" if the provider has none
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
  other,   // not known to be a good end: the answer is incomplete
  paused,  // the provider's own tools take long: repeat the request with this answer
};
struct ReplyEnded {
  StopReason reason;
  std::string_view word = {};  // the server's, for `other` and for a `refused` without an answer
};
// Before the first token: the request is retried after a pause.
struct Retrying {
  Error error;
  std::chrono::milliseconds pause;
  std::string reason = {};  // a few words: "server is busy (429)"
  int next_attempt = 0;     // the number of the next attempt, from 1
  int attempts_max = 0;
};
// Before the first token: the model rejects a parameter of the request, which is removed from it
// and from later requests.
struct ParameterLeftOut {
  std::string parameter;  // its name in the protocol
  Error error;
};
// At the end: the answer repeated a key of its request, which was replaced by "***".
struct KeyMasked {};
using StreamEvent = std::variant<TextDelta, ThinkingDelta, ThinkingSignature, ToolUseBegin,
                                 ToolInputDelta, RawBlock, BlockMembers, ReplyStarted, UsageReport,
                                 ReplyEnded, Retrying, ParameterLeftOut, KeyMasked>;

// Views in the event are valid during the call only. An exception of the sink ends the request and
// propagates to the caller of stream().
using StreamSink = std::function<void(const StreamEvent&)>;

struct ModelInfo {
  std::string id;                   // used in requests
  std::string name;                 // for display; "" if the provider has none
  std::string ends_on;              // "2026-12-11", the day it is withdrawn; "" if unknown
  std::int64_t context_tokens = 0;  // the limit of a request with its answer; 0 if unknown
  friend bool operator==(const ModelInfo&, const ModelInfo&) = default;
};

// Thread-safe: one provider serves any number of threads, each with its own request. The sink is
// called on the thread that called stream().
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;

  // Blocks until the answer has ended (ReplyEnded), failed or was stopped. Errors: unauthorized,
  // rate_limited (after the retries), expired (the previous response is unknown), too_long (for the
  // model), unsupported (the images, as far as the refusal tells: it may not name them),
  // invalid_argument (the provider rejected the request for another reason), timeout, cancelled, io
  // (connection lost, malformed response). Everything received before an error has been passed to
  // the sink.
  virtual Result<> stream(Request& request, const StreamSink& sink, std::stop_token stop) = 0;

  // The exact request as text (method, URL, headers with the key masked, body). Sends nothing.
  virtual Result<std::string> dry_run(Request& request) = 0;

  // The available models, in the provider's order. Errors: those of stream(), timeout when the list
  // has not arrived after `timeout`, and unsupported for a provider without a list.
  // NOLINTBEGIN(performance-unnecessary-value-param): providers with a list keep the token.
  virtual Result<std::vector<ModelInfo>> models(std::chrono::milliseconds /*timeout*/,
                                                std::stop_token /*stop*/) {
    return fail(Code::unsupported, std::string(name()) + " does not list its models");
  }
  // NOLINTEND(performance-unnecessary-value-param)

  // True if a response id of this provider can be continued from.
  virtual bool stores_responses() const { return false; }
  // Whether it does so by default. Otherwise each request has the whole history, and response ids
  // are used only if the messages are not stored elsewhere (Request::store_response).
  virtual bool continues_responses() const { return stores_responses(); }

  // The server that answers. Opaque parts of an answer, such as signed thinking, are sent back only
  // to the provider, server and model that made them.
  virtual std::string_view host() const { return {}; }
  // What this server is known to require.
  virtual RequestForm usual_form() const { return {}; }
};

inline constexpr std::int64_t kAnswerBytesMax = 64 << 20;
inline constexpr std::size_t kAnswerCallsMax = 4096;  // tool calls of one answer

struct ProviderOptions {
  std::string base_url = {};  // "" for the provider's default
  std::string api_key = {};   // "" for none; never stored or displayed
  // Advice for when the server requires a key and there is none; "" names the provider's variable.
  std::string key_advice = {};
  std::string path = {};  // after base_url, such as "/chat/completions"; "" for the protocol's own
  std::string auth = {};  // how the key is sent: "bearer", "x-api-key", "api-key"; "" for default
  // The header that has the key, "" for that of `auth`; the key alone unless that is "bearer".
  std::string auth_header = {};
  // Sent with each request; they override Reprise's own headers. Never stored; values are masked in
  // all output, except for a few names that are not secret.
  std::vector<std::pair<std::string, std::string>> headers = {};
  // An object that is merged into each body and takes precedence: objects are merged, everything
  // else is replaced. `messages`, `input` and `stream` are not allowed. Null for none.
  RawJson extra = {};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{120'000};  // without a byte from the provider
  int retries_max = 4;  // of a request after 408, 429, 5xx or a lost connection
  // The maximum size of an answer: text, thinking, tool inputs and raw blocks together, and
  // anything else that a server sends. A larger answer ends with io and EFBIG.
  std::int64_t answer_bytes_max = kAnswerBytesMax;
  // Reasons that a server gives for the end of a whole answer, besides the known ones: an answer
  // that ends for any other reason is incomplete.
  std::vector<std::string> good_ends = {};
  // openai-responses: whether the provider stores the answers, so that a request has only new
  // messages. If unset, OpenAI does, and others are asked to only if the messages are not stored
  // elsewhere; false: never.
  std::optional<bool> store = std::nullopt;
};

// A kind of provider, and its defaults.
struct ProviderKind {
  std::string_view name;          // "anthropic"
  std::string_view protocol;      // for display
  std::string_view key_variable;  // the environment variable of the key; "" if none is read
  std::string_view url_variable;  // that of the base URL; "" if none is read
  // The variable that makes this kind the default; if those of several are set, the last kind's.
  std::string_view selecting_variable = {};
  std::string_view default_url;    // the provider's own base URL; "" for one without a server
  std::string_view default_model;  // current as of `as_of`; models are withdrawn after some time
  std::string_view dev_model;      // a cheaper one
  std::string_view as_of;          // "2026-11-23"; "" for models that are never withdrawn
  // Creates the codec of its protocol; null for the built-in one.
  std::unique_ptr<provider::Codec> (*codec)(const ProviderOptions& options);

  bool has_server() const { return !default_url.empty(); }
};

// All kinds, in display order. Static storage.
std::span<const ProviderKind> provider_kinds();
const ProviderKind* find_provider_kind(std::string_view name);  // null for an unknown name

// The built-in model: answers with the last user message. `delay` between words.
std::unique_ptr<Provider> make_echo_provider(std::chrono::milliseconds delay = {});

// invalid_argument, listing the known kinds, for an unknown name.
Result<std::unique_ptr<Provider>> make_provider(std::string_view name, ProviderOptions options);

// Starts loading the HTTP library in the background, for a program that will need it. The returned
// thread must be joined before main() returns (its destructor does so): libraries clean up at exit
// even while another thread is inside them.
[[nodiscard]] std::jthread preload_http();

// A model server on its default port of this machine.
struct LocalServer {
  std::string name;      // "Ollama"
  std::string base_url;  // "http://127.0.0.1:11434/v1"
  std::vector<std::string> models;
};

// Ollama, llama.cpp, LM Studio and vLLM.
inline constexpr std::array<std::uint16_t, 4> kLocalPorts = {11434, 8080, 1234, 8000};

// Requests the models from these ports of 127.0.0.1, in parallel.
std::vector<LocalServer> find_local_servers(std::chrono::milliseconds timeout,
                                            std::span<const std::uint16_t> ports = kLocalPorts);

}  // namespace reprise
