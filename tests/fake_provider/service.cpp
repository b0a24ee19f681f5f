#include "fake_provider/service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/behaviour.h"
#include "fake_provider/delivery.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/http.h"
#include "fake_provider/json_value.h"
#include "fake_provider/protocol.h"

namespace reprise::fake {
namespace {

// Most requests use "fake-large".
constexpr std::array<std::string_view, 4> kModels = {"fake-large", "fake-small", "fake-tiny",
                                                     "fake-old"};

// Like OpenAI: all models, and the date when one is withdrawn.
std::string openai_models() {
  std::string data;
  for (const std::string_view id : kModels) {
    data += cat(data.empty() ? "" : ",", R"({"id":")", id,
                R"(","object":"model","created":1700000000,"owned_by":"fake","shutdown_date":)",
                id == "fake-old" ? R"("2027-01-14")" : "null", "}");
  }
  return cat(R"({"object":"list","data":[)", data, "]}");
}

// Like Anthropic: in pages of two; `after_id` is the last one of the previous page.
std::string anthropic_models(std::string_view path) {
  constexpr std::string_view kAfter = "after_id=";
  const auto at = path.find(kAfter);
  const std::string_view after =
      at == std::string_view::npos ? std::string_view() : path.substr(at + kAfter.size());
  const auto* const last = std::ranges::find(kModels, after);
  const auto* const begin = last == kModels.end() ? kModels.begin() : last + 1;
  const auto* const end = begin + std::min<std::ptrdiff_t>(2, kModels.end() - begin);
  std::string data;
  for (const auto* id = begin; id != end; ++id) {
    data += cat(data.empty() ? "" : ",", R"({"type":"model","id":")", *id,
                R"(","display_name":"The )", *id, R"(","created_at":"2026-01-01T00:00:00Z"})");
  }
  return cat(R"({"data":[)", data, R"(],"has_more":)", end == kModels.end() ? "false" : "true",
             R"(,"first_id":null,"last_id":)",
             begin == end ? std::string("null") : json::quoted(*(end - 1)), "}");
}

constexpr std::string_view kHtmlPage =
    "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n"
    "<body><h1>502 Bad Gateway</h1><script>alert(1)</script></body></html>\n";

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

std::int64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::int64_t tokens_of(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

std::string_view without_query(std::string_view path) {
  return path.substr(0, path.find('?'));
}

std::string problem_text(int status) {
  switch (status) {
    case 429:
      return "Rate limit reached for requests";
    case 529:
      return "Overloaded";
    default:
      return cat("The server had an error (", status, ")");
  }
}

// Requests that other servers of the Responses protocol refuse; not a violation of the protocol
// itself.
Result<> check_as_vendor(const Behaviour& behaviour, const Value& body) {
  const auto refusal = [](std::string_view message) {
    return fail(Code::not_found, std::string(message));
  };
  if (behaviour.no_previous && body.has("previous_response_id")) {
    return refusal("this server does not support 'previous_response_id'");
  }
  if (behaviour.no_store && body.find("store").is_true()) {
    return refusal("store: only false is supported");
  }
  if (behaviour.no_include && body.has("include")) {
    return refusal("unknown field: include");
  }
  for (const Value& message : body.find("messages").items) {
    if (behaviour.wants_reasoning && message.has("tool_calls") &&
        !message.has("reasoning_content")) {
      return refusal("reasoning_content is missing in an assistant message with tool calls");
    }
  }
  std::string before;
  for (const Value& message : body.find("messages").items) {
    const std::string role = message.find("role").text;
    if (behaviour.no_user_after_tool && role == "user" && before == "tool") {
      return refusal("Unexpected role 'user' after role 'tool'");
    }
    before = role;
    if (behaviour.no_marks && (message.has("reasoning_content") || message.has("reasoning"))) {
      return refusal("invalid request");
    }
    for (const Value& call : message.find("tool_calls").items) {
      const std::string& id = call.find("id").text;
      if (behaviour.nine_letters && (id.size() != 9 || !std::ranges::all_of(id, is_ascii_alnum))) {
        return refusal(
            cat("Tool call id was ", id, " but must be a-z, A-Z, 0-9, with a length of 9."));
      }
    }
  }
  for (const Value& item : body.find("input").items) {
    if (!behaviour.typed_items) {
      break;
    }
    const bool answer = item.find("role").text == "assistant";
    if (!item.has("type") || (answer && !(item.has("id") && item.has("status")))) {
      return refusal("cannot determine the type of an item");
    }
  }
  return {};
}

// In the words of the servers of each protocol.
Problem too_long(bool is_anthropic, std::size_t messages) {
  return is_anthropic
             ? Problem{400, cat("prompt is too long: ", messages, " messages > maximum"), ""}
             : Problem{400,
                       cat("This model's maximum context length is exceeded by ", messages,
                           " messages"),
                       "context_length_exceeded"};
}

Problem no_images(bool is_anthropic) {
  return {400,
          is_anthropic ? "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"
                       : "Invalid content type. image_url is only supported by certain models.",
          ""};
}

bool has_image(const HttpRequest& request) {
  return std::ranges::any_of(
      std::array<std::string_view, 3>{R"("type":"image")", R"("type":"image_url")",
                                      R"("type":"input_image")"},
      [&request](std::string_view mark) { return request.body.find(mark) != std::string::npos; });
}

void shorten_inputs(Answer& answer) {
  for (Call& call : answer.calls) {
    call.input.resize(call.input.size() / 2);
  }
}

}  // namespace

Service::Service(const FakeOptions& options)
    : key_(options.key),
      seed_(options.seed ? *options.seed : fresh_seed()),
      script_(seed_),
      protocols_{make_openai_chat(), make_openai_responses(seed_), make_anthropic(seed_)} {}

Result<> Service::add_rule(std::string_view line) {
  REPRISE_ASSIGN(auto rule, parse_rule(line));
  if (rule) {
    const std::scoped_lock lock(mutex_);
    script_.add(*std::move(rule));
  }
  return {};
}

bool Service::serve(Connection& connection, const HttpRequest& request) {
  const std::string_view path = without_query(request.path);
  if (path.starts_with("/_")) {
    return control(connection, request);
  }
  const auto protocol = std::ranges::find(protocols_, path, &Protocol::path);
  if (protocol != protocols_.end()) {
    return conversation(connection, request, **protocol);
  }
  const std::int64_t number = record_.begin(request);
  HttpResponse response;
  if (path == "/v1/models" && request.method == "GET") {
    const bool anthropic = !request.header("anthropic-version").empty();
    response.body = anthropic ? anthropic_models(request.path) : openai_models();
  } else {
    response.status = 404;
    response.body = openai_error({404, cat("Invalid URL (", request.method, " ", path, ")"), ""});
  }
  const bool sent = connection.send(response).has_value();
  record_.answered(number, response.status, sent);
  return sent;
}

bool Service::control(Connection& connection, const HttpRequest& request) {
  HttpResponse response;
  if (request.path == "/_violations") {
    response.body = record_.violations_json();
  } else if (request.path == "/_requests") {
    response.body = record_.requests_json();
  } else if (request.path == "/_script" && request.method == "POST") {
    response.body = "{}";
    if (const auto added = add_rule(request.body); !added) {
      response.status = 400;
      response.body = openai_error({400, added.error().message, ""});
    }
  } else {
    response.status = 404;
    response.body = openai_error({404, "only /_violations, /_requests and /_script", ""});
  }
  return connection.send(response).has_value();
}

std::string_view Service::key_of(const HttpRequest& request, const Protocol& protocol) const {
  constexpr std::string_view kBearer = "Bearer ";
  std::string_view key = request.header(protocol.key_is_bearer() ? "authorization" : "x-api-key");
  if (protocol.key_is_bearer()) {
    if (!key.starts_with(kBearer)) {
      return {};
    }
    key.remove_prefix(kBearer.size());
  }
  return key;
}

bool Service::conversation(Connection& connection, const HttpRequest& request, Protocol& protocol) {
  Exchange exchange{connection, request, record_.begin(request), protocol};
  if (const auto checked = check(exchange); !checked) {
    return refuse(exchange, checked.error());
  }
  bool handled = false;
  const bool reusable = answer_wrongly(exchange, handled);
  return handled ? reusable : answer_rightly(exchange);
}

// All decisions about a request before the first byte of the answer.
Result<> Service::check(Exchange& exchange) {
  const HttpRequest& request = exchange.request;
  if (request.method != "POST") {
    return fail(Code::unsupported, cat("Not allowed: ", request.method));
  }
  if (!key_.empty() && key_of(request, exchange.protocol) != key_) {
    return fail(Code::unauthorized, "Incorrect API key provided");
  }
  if (!ascii_lower(request.header("content-type")).starts_with("application/json")) {
    return fail(Code::invalid_argument, "the content-type is not application/json");
  }
  REPRISE_TRY(exchange.protocol.check_headers(request));
  REPRISE_ASSIGN(exchange.body, parse_value(request.body));
  const std::scoped_lock lock(mutex_);
  REPRISE_ASSIGN(Turn turn, understand(exchange));
  turn.bytes = static_cast<std::int64_t>(request.body.size());
  REPRISE_TRY(check_as_vendor(exchange.choice.behaviour, exchange.body));
  if (exchange.choice.behaviour.expired && exchange.body.has("previous_response_id")) {
    return fail(Code::expired,
                cat("Previous response with id '", exchange.body.find("previous_response_id").text,
                    "' not found."));
  }
  exchange.answer = make_answer(exchange, turn);
  return {};
}

// A server that ignores unknown fields does so before any lookup.
Result<Turn> Service::understand(Exchange& exchange) {
  constexpr std::string_view kPrevious = "previous_response_id";
  const auto choose = [&](const Turn& turn) -> Result<> {
    REPRISE_ASSIGN(exchange.choice, script_.choose({exchange.number, exchange.protocol.path(),
                                                    turn.question, turn.model}));
    return {};
  };
  const bool by_name =
      exchange.body.find("model").text.find("ignore_previous") != std::string::npos;
  if (by_name) {
    std::erase_if(exchange.body.members,
                  [&](const Member& member) { return member.name == kPrevious; });
  }
  REPRISE_ASSIGN(Turn turn, exchange.protocol.check(exchange.body));
  REPRISE_TRY(choose(turn));
  return turn;
}

Answer Service::make_answer(const Exchange& exchange, const Turn& turn) {
  const Behaviour& behaviour = exchange.choice.behaviour;
  Answer out = answer_to(turn);
  if (exchange.choice.reply && out.calls.empty()) {
    out.text = *exchange.choice.reply;
  }
  if (behaviour.say_key) {
    out.text = cat("the key is ", key_of(exchange.request, exchange.protocol), ", is it not?");
  }
  if (behaviour.huge > 0) {
    out.text = std::string(behaviour.huge, 'x');
    out.piece_characters = behaviour.huge;
  }
  const std::string base = cat(hex_of(fnv1a(cat("id ", seed_))), "-", ++ids_);
  out.id = cat(exchange.protocol.id_prefix(), base);
  out.created = seconds_now();
  std::size_t bytes = out.text.size();
  int index = 0;
  for (Call& call : out.calls) {
    call.id = cat(exchange.protocol.call_prefix(), base, "-", index++);
    bytes += call.name.size() + call.input.size();
  }
  if (!out.thinking.empty() && turn.shows_proof) {
    out.signature = sign(out.thinking, seed_);
  }
  out.input_tokens = tokens_of(static_cast<std::size_t>(turn.bytes));
  out.cache_written_tokens = turn.caches ? out.input_tokens / 2 : 0;
  out.thinking_tokens = tokens_of(out.thinking.size());
  out.output_tokens = tokens_of(bytes) + out.thinking_tokens;
  out.ends = behaviour.ends;
  if (behaviour.bad_input) {
    shorten_inputs(out);
  }
  return out;
}

bool Service::refuse(const Exchange& exchange, const Error& error) {
  switch (error.code) {
    case Code::unauthorized:
      return send_problem(exchange, {401, error.message, "invalid_api_key"});
    case Code::unsupported:
      return send_problem(exchange, {405, error.message, ""});
    case Code::not_found:  // a fault of this server only
      return send_problem(exchange, {400, error.message, ""});
    case Code::expired:
      return send_problem(exchange, {400, error.message, "previous_response_not_found"});
    default:
      record_.violated(exchange.number, error.message);
      return send_problem(exchange, {400, error.message, ""});
  }
}

bool Service::send_problem(const Exchange& exchange, const Problem& problem) {
  HttpResponse response;
  response.status = problem.status;
  response.body = exchange.protocol.error_body(problem);
  response.headers = request_id(exchange);
  if (const auto& seconds = exchange.choice.behaviour.retry_after) {
    response.headers.emplace_back("retry-after", std::to_string(*seconds));
  }
  const bool sent = exchange.connection.send(response).has_value();
  record_.answered(exchange.number, problem.status, sent);
  return sent;
}

Headers Service::request_id(const Exchange& exchange) const {
  return {{std::string(exchange.protocol.request_id_header()),
           cat("req_", hex_of(fnv1a(cat("id ", seed_))), "-", exchange.number)}};
}

// A recorded answer: lines about it, among them "status: NUMBER", then a blank line and the body.
bool Service::replay(const Exchange& exchange) {
  constexpr std::int64_t kFileBytesMax = 1 << 20;
  constexpr std::string_view kStatus = "\nstatus: ";
  const auto file = read_file(exchange.choice.behaviour.replay, kFileBytesMax);
  const std::size_t blank = file ? file->find("\n\n") : std::string::npos;
  if (blank == std::string::npos) {
    return refuse(exchange, {Code::invalid_argument, "there is no such recorded answer"});
  }
  HttpResponse response;
  const std::string head = cat("\n", file->substr(0, blank), "\n");
  if (const std::size_t at = head.find(kStatus); at != std::string::npos) {
    const std::string_view rest = std::string_view(head).substr(at + kStatus.size());
    response.status = parse_number<int>(rest.substr(0, rest.find('\n'))).value_or(0);
  }
  response.body = file->substr(blank + 2);
  response.content_type = response.body.starts_with('{') || response.body.starts_with('[')
                              ? "application/json"
                              : "text/event-stream";
  const bool sent = exchange.connection.send(response).has_value();
  record_.answered(exchange.number, response.status, sent);
  return sent;
}

bool Service::answer_wrongly(const Exchange& exchange, bool& handled) {
  const Behaviour& behaviour = exchange.choice.behaviour;
  handled = true;
  if (!behaviour.replay.empty()) {
    return replay(exchange);
  }
  if (behaviour.silent || behaviour.drop) {
    if (behaviour.silent) {
      (void)exchange.connection.wait_ms(-1);  // until the client closes
    }
    return false;
  }
  if (behaviour.echo_key) {
    const std::string_view key = key_of(exchange.request, exchange.protocol);
    return send_problem(exchange,
                        {401, cat("Incorrect API key provided: ", key), "invalid_api_key"});
  }
  if (behaviour.html) {
    const bool sent =
        exchange.connection
            .send(HttpResponse{502, "text/html; charset=utf-8", std::string(kHtmlPage)})
            .has_value();
    record_.answered(exchange.number, 502, sent);
    return sent;
  }
  const bool is_anthropic = !exchange.protocol.key_is_bearer();
  const std::size_t messages =
      exchange.body.find("messages").items.size() + exchange.body.find("input").items.size();
  if (behaviour.too_long && messages > static_cast<std::size_t>(*behaviour.too_long)) {
    return send_problem(exchange, too_long(is_anthropic, messages));
  }
  if (behaviour.no_images && has_image(exchange.request)) {
    return send_problem(exchange, no_images(is_anthropic));
  }
  if (behaviour.status != 0) {
    return send_problem(exchange, {behaviour.status, problem_text(behaviour.status), ""});
  }
  if (behaviour.gone) {
    return send_problem(exchange,
                        exchange.protocol.no_such_model(exchange.body.find("model").text));
  }
  if (exchange.body.has(behaviour.refuse)) {
    return send_problem(exchange, exchange.protocol.no_such_parameter(behaviour.refuse));
  }
  if (behaviour.garbage) {
    const bool sent = deliver_garbage(exchange.connection).has_value();
    record_.answered(exchange.number, 200, false);
    return sent;
  }
  handled = false;
  return true;
}

bool Service::send_plain(Exchange& exchange) {
  HttpResponse response;
  response.body = exchange.protocol.plain(exchange.answer);
  response.headers = request_id(exchange);
  const int slow_ms = exchange.choice.behaviour.slow_ms;
  const bool sent = (slow_ms <= 0 || exchange.connection.wait_ms(slow_ms)) &&
                    exchange.connection.send(response).has_value();
  record_.answered(exchange.number, 200, sent);
  return sent;
}

bool Service::answer_rightly(Exchange& exchange) {
  // Recorded before the last bytes are sent, because the client's next request may arrive at once.
  const auto before_end = [&] {
    const std::scoped_lock lock(mutex_);
    exchange.protocol.answered(exchange.body, exchange.answer);
  };
  if (exchange.choice.behaviour.plain || !exchange.body.find("stream").is_true()) {
    before_end();
    return send_plain(exchange);
  }
  const Stream stream{request_id(exchange), exchange.protocol.events(exchange.answer),
                      exchange.protocol.error_event({529, "Overloaded", ""}), before_end};
  const auto sent = deliver(exchange.connection, exchange.choice.behaviour, stream);
  record_.answered(exchange.number, 200, sent && *sent != Sent::cut);
  return sent && *sent == Sent::whole;
}

}  // namespace reprise::fake
