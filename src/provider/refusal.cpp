#include "provider/refusal.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/curl_transport.h"
#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"
#include "provider/request_parts.h"
#include "provider/retry.h"
#include "provider/secret_mask.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

bool is_json(std::string_view text) {
  json::Scanner scanner(text);
  return scanner.skip() && scanner.end();
}

// {"error":{"message":…}} (OpenAI, Anthropic), {"error":"…"} (Ollama), {"message":…}, {"detail":…}
// (vLLM behind a gateway), [{"error":…}] (Google), or words.
std::string message_in(JsonView body) {
  if (body.is(json::Kind::array)) {
    std::string first;
    body.each([&](JsonView element) {
      if (first.empty()) {
        first = message_in(element);
      }
    });
    return first;
  }
  if (body.is(json::Kind::string)) {
    return body.text();
  }
  for (const std::string_view name : {"error", "message", "detail", "msg"}) {
    if (const JsonView member = body[name]; member) {
      return message_in(member);
    }
  }
  return {};
}

// Servers put the code into error.code, error.type, code or only the text.
bool previous_response_unknown(std::string_view body) {
  const std::string text = ascii_lower(body);
  if (text.contains("previous_response_not_found")) {
    return true;
  }
  const bool is_named = text.contains("previous response") || text.contains("previous_response");
  return is_named && text.contains("not found");
}

bool contains_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view word) { return text.contains(word); });
}

// Codes and types first, then phrases, in lower case.
constexpr std::array kNoMoney = std::to_array<std::string_view>({"insufficient_quota",
                                                                 "exceeded_current_quota",
                                                                 "insufficient_balance",
                                                                 "insufficient_credit",
                                                                 "billing_",
                                                                 "payment_required",
                                                                 "arrearage",
                                                                 "quota_exhausted",
                                                                 "no_balance",
                                                                 "insufficient balance",
                                                                 "insufficient credit",
                                                                 "insufficient funds",
                                                                 "credit balance",
                                                                 "billing details",
                                                                 "recharge",
                                                                 "account is in arrears",
                                                                 "out of credits",
                                                                 "no credits",
                                                                 "plan and billing",
                                                                 "requires more credits",
                                                                 "exceeded your current quota"});

// What no other form of the request mends: the key, a policy, the rate, the place. The codes are
// looked for in codes and types only, since a message may repeat parts of the request.
constexpr std::array kNoFormCodes = std::to_array<std::string_view>(
    {"api_key", "authentication", "permission", "unauthorized", "access_denied", "forbidden",
     "content_policy", "content_filter", "policy_violation", "moderation", "data_inspection",
     "datainspection", "content_blocked", "rate_limit", "overloaded", "too_many_requests",
     "unsupported_country", "unsupported_region", "failed_precondition"});
constexpr std::array kNoFormWords = std::to_array<std::string_view>(
    {"api key not valid", "incorrect api key", "usage policy", "usage policies", "content policy",
     "content management policy", "location is not supported", "country, region"});

// What the model wrote did not fit: it may write something else if it is asked again.
constexpr std::string_view kBadAnswerCodes[] = {"tool_use_failed", "output_parse_failed",
                                                "json_validate_failed"};

std::string codes_in(std::string_view body) {
  const std::string original = original_answer(body);
  if (!is_json(original)) {
    return {};
  }
  std::string out;
  const auto add = [&out](JsonView object) {
    for (const std::string_view name : {"code", "type", "status"}) {
      out += cat(" ", object[name].text());
    }
  };
  const JsonView json(original);
  add(json);
  add(json["error"]);
  json.each([&add](JsonView element) { add(element["error"]); });
  return ascii_lower(out);
}

// Google uses the same words for a limit per minute, and says when to try again.
bool is_for_a_minute(std::string_view body) {
  return body.contains("retryDelay") && !body.contains("PerDay");
}

// Not in the whole body, which may repeat parts of the request.
bool out_of_quota(std::string_view body) {
  return !is_for_a_minute(body) &&
         contains_any(cat(codes_in(body), " ", ascii_lower(reason_in(body))), kNoMoney);
}

bool is_bad_answer(std::string_view body) {
  return contains_any(codes_in(body), kBadAnswerCodes);
}

// The words of a refusal that ask for a form of the request: all of a row must occur, in lower
// case.
struct Hint {
  std::string_view words[2];
  bool RequestForm::* form;
};
constexpr Hint kHints[] = {
    {{"reasoning_content", "missing"}, &RequestForm::fills_reasoning},
    {{"reasoning_content", "passed back"}, &RequestForm::fills_reasoning},
    {{"reasoning_content", "required"}, &RequestForm::fills_reasoning},
    {{"thought_signature", "missing"}, &RequestForm::fills_signatures},
    {{"thought signature", "missing"}, &RequestForm::fills_signatures},
    {{"`thinking` is enabled", ""}, &RequestForm::omits_parameters},
    {{"not support effort", ""}, &RequestForm::omits_parameters},
    {{"signature", "thinking"}, &RequestForm::omits_opaque},
    {{"encrypted", "content"}, &RequestForm::omits_opaque},
    {{"reasoning", "item"}, &RequestForm::omits_opaque},
    {{"'reasoning", "unsupported"}, &RequestForm::omits_opaque},
    {{"reasoning_details", ""}, &RequestForm::omits_opaque},
    {{"server_tool_use", ""}, &RequestForm::omits_opaque},
    {{"srvtoolu", ""}, &RequestForm::omits_opaque},
    {{"after role 'tool'", ""}, &RequestForm::answers_results},
    {{"tool call id", "length"}, &RequestForm::strict_ids},
    {{"tool_calls[", ".id'"}, &RequestForm::strict_ids},
    {{"call_id'", ""}, &RequestForm::strict_ids},
    {{"tool_use.id", ""}, &RequestForm::strict_ids},
    {{"tool_use_id", "pattern"}, &RequestForm::strict_ids},
    {{"single tool", "at once"}, &RequestForm::single_calls},
    {{"system role", "not supported"}, &RequestForm::prompt_in_question},
    {{"not support 'system'", ""}, &RequestForm::prompt_in_question},
    {{"not support tools", ""}, &RequestForm::tools_as_text},
};

RequestForm hinted_form(std::string_view words) {
  RequestForm form;
  for (const Hint& hint : kHints) {
    if (words.contains(hint.words[0]) && words.contains(hint.words[1])) {
      form.*hint.form = true;
      return form;  // the first that matches
    }
  }
  return form;
}

// All numbers in the text, in order.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  constexpr std::size_t kDigitsMax = 15;
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    std::string digits;
    for (; end < text.size() && (is_ascii_digit(text[end]) ||
                                 (text[end] == ',' && end > at && end + 3 < text.size() &&
                                  is_ascii_digit(text[end + 1]) && is_ascii_digit(text[end + 3])));
         ++end) {
      digits += text[end] == ',' ? "" : std::string(1, text[end]);
    }
    if (!digits.empty() && digits.size() <= kDigitsMax) {
      out.push_back(parse_number<std::int64_t>(digits).value_or(0));
    }
    at = std::max(end, at + 1);
  }
  return out;
}

// "A > B", or two large numbers, in a text about tokens or of a request that is too long: the
// larger is the request's size. A single number of one that is too long is the limit.
void read_sizes(std::string_view reason, Refusal& refusal) {
  constexpr std::int64_t kTokensMin = 256;
  constexpr std::string_view kAbout[] = {"token", "context", "length"};
  if (!refusal.is_length && !contains_any(reason, kAbout)) {
    return;
  }
  if (const auto more = reason.find(" > "); more != std::string_view::npos) {
    const auto before = numbers_in(reason.substr(0, more));
    const auto after = numbers_in(reason.substr(more));
    if (!before.empty() && !after.empty() && before.back() > after.front() &&
        before.back() >= kTokensMin) {
      refusal.size = before.back();
      refusal.limit = after.front();
      refusal.is_length = true;
    }
    return;
  }
  std::vector<std::int64_t> large = numbers_in(reason);
  std::erase_if(large, [](std::int64_t number) { return number < kTokensMin; });
  if (refusal.is_length && large.size() == 1) {
    refusal.limit = large.front();
  }
  if (large.size() < 2) {
    return;
  }
  const auto [least, most] = std::ranges::minmax(large);
  if (least < most) {
    refusal.size = most;
    refusal.limit = least;
    refusal.is_length = true;
  }
}

bool is_path_unknown(std::string_view body) {
  const std::string reason = ascii_lower(reason_in(body));
  constexpr std::string_view kPath[] = {"path", "url", "route", "endpoint", "page", "model"};
  return reason.empty() || reason == "not found" || contains_any(reason, kPath);
}

// Codes first, then phrases, in lower case: of OpenAI, Anthropic, llama.cpp, Ollama, vLLM, LM
// Studio, Google and Mistral in this order, without duplicates.
constexpr std::array kTooLong = std::to_array<std::string_view>({
    "context_length_exceeded",
    "exceed_context_size",
    "context_exceeded",
    "request_too_large",
    "request too large",
    "maximum context length",
    "context window",
    "prompt is too long",
    "exceed context limit",
    "exceeds the available context size",
    "exceeds context size",
    "prompt is too big",
    "prompt too long",
    "input length exceeds",
    "longer than the maximum model length",
    "too long to fit into the model",
    "context length of only",
    "input token count",
    "maximum context",
    "maximum prompt length",
    "model token limit",
    "prompt token count",
    "input length",
    "context length (",
    "reduce the length",
    "exceeds max length",
    "tokens_limit_reached",
    "too many tokens",
    "input is too long",
    "too many input tokens",
});
constexpr std::array kNoImages = std::to_array<std::string_view>({
    "image_url",
    "input_image",
    "image_parse_error",
    "invalid_image",
    "unsupported image",
    "invalid image",
    "image.source",
    "image exceeds",
    "process image",
    "image dimensions",
    "image input",
    "support image",
    "image data",
    "mmproj",
    "not a multimodal model",
    "image(s) may be provided",
    "content must be a string",
});

std::string join(std::string_view subject, std::string_view reason, std::string_view advice) {
  std::string out(subject);
  if (!reason.empty()) {
    out += cat(": ", reason);
  }
  if (!advice.empty()) {
    out += cat("; ", advice);
  }
  return out;
}

// Shorter pauses have been waited for.
std::string retry_advice(std::optional<std::chrono::milliseconds> pause) {
  return pause && *pause > kPauseMax ? cat("try again in ", http::duration_words(*pause))
                                     : "try again later";
}

std::string one_line_for(const Endpoint& recipient, std::string_view text) {
  return one_line(masked(text, recipient.secrets), recipient.api_key);
}

std::string key_advice(const Endpoint& recipient) {
  if (!recipient.key_advice.empty()) {
    return recipient.key_advice;
  }
  return cat(recipient.api_key.empty() ? "set " : "check the key in ", recipient.key_variable);
}

}  // namespace

// {"error":{"metadata":{"raw":"{…}"}}} (OpenRouter), {"message":"{…}"} (Mistral).
std::string original_answer(std::string_view body) {
  if (is_json_object(body)) {
    const JsonView json(body);
    for (const JsonView member : {json["error"]["metadata"]["raw"], json["message"]}) {
      if (std::string inner = member.text(); is_json_object(inner)) {
        return inner;
      }
    }
  }
  return std::string(body);
}

std::string reason_in(std::string_view body) {
  const std::string original = original_answer(body);
  if (is_json(original)) {
    const JsonView json(original);
    const std::string message = message_in(json);
    const std::string raw = json["error"]["metadata"]["raw"].text();  // of OpenRouter's provider
    return raw.empty() || raw.starts_with('<') ? message : cat(message, ": ", raw);
  }
  const std::string_view text = trimmed(original);
  return text.starts_with('<') ? std::string() : std::string(text);
}

std::string one_line(std::string_view text, std::string_view api_key) {
  std::string out = masked(utf8::sanitize(text), api_key);
  for (std::size_t at = 0; at < out.size();) {
    const auto [code_point, bytes] = utf8::decode(std::string_view(out).substr(at));
    // C0, DEL, C1, line and paragraph separators, and bidi controls.
    const bool control = code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
                         (code_point >= 0x2028 && code_point <= 0x202E) ||
                         (code_point >= 0x2066 && code_point <= 0x2069);
    if (control) {
      out.replace(at, bytes, " ");
    }
    at += control ? 1 : bytes;
  }
  std::string_view line = trimmed(out);
  if (line.size() > kReasonBytesMax) {
    constexpr std::string_view kGap = " ... ";
    constexpr std::size_t kHalf = (kReasonBytesMax - kGap.size()) / 2;
    std::string_view head = line.substr(0, kHalf);
    head.remove_suffix(utf8::incomplete_tail(head));
    std::string_view tail = line.substr(line.size() - kHalf);
    while (!tail.empty() && utf8::is_continuation(tail.front())) {
      tail.remove_prefix(1);
    }
    return cat(trimmed(head), kGap, trimmed(tail));
  }
  while (line.ends_with('.')) {
    line.remove_suffix(1);
  }
  return std::string(line);
}

RefusedPart refused_part(std::string_view text) {
  const std::string words = ascii_lower(text);
  const auto occurs = [&words](std::string_view phrase) { return words.contains(phrase); };
  if (std::ranges::any_of(kNoImages, occurs)) {
    return RefusedPart::images;
  }
  return std::ranges::any_of(kTooLong, occurs) ? RefusedPart::length : RefusedPart::unknown;
}

std::optional<Refusal> refusal_of(int status, std::string_view body) {
  // Not the error page of a gateway, which has templates of its own.
  const std::string reason = ascii_lower(reason_in(body));
  const bool is_template =
      status == 500 && (reason.contains("template") || reason.contains("jinja"));
  const bool is_lookup = status == 404 || status == 424;
  if (!is_template && !is_lookup && status != 400 && status != 413 && status != 415 &&
      status != 422) {
    return std::nullopt;
  }
  if ((is_lookup && is_path_unknown(body)) || is_model_unknown(status, body) ||
      is_bad_answer(body) || out_of_quota(body) || contains_any(codes_in(body), kNoFormCodes) ||
      contains_any(reason, kNoFormWords)) {
    return std::nullopt;
  }
  // Not the whole body, which may repeat parts of the request.
  Refusal refusal{.hint = hinted_form(reason)};
  const RefusedPart part = refused_part(body);
  if (refusal.hint == RequestForm() && part == RefusedPart::images) {
    refusal.hint.omits_media = true;
  }
  if (refusal.hint == RequestForm()) {
    refusal.is_only_length = status == 413 || refused_part(codes_in(body)) == RefusedPart::length;
    refusal.is_length = refusal.is_only_length || part == RefusedPart::length;
    read_sizes(reason, refusal);
  }
  return refusal;
}

Error error_of_status(const Endpoint& recipient, const http::ResponseHead& head,
                      std::string_view body, std::optional<std::chrono::milliseconds> pause) {
  const std::string host = http::host_of(recipient.base_url);
  const std::string reason = one_line_for(recipient, reason_in(body));
  const int status = head.status;
  if (status >= 300 && status < 400) {
    const std::string target = http::host_of(http::find_header(head.headers, "location"));
    return {Code::invalid_argument,
            cat(host, " redirects (", status, ") to ", one_line_for(recipient, target),
                "; set the base URL to where the provider answers")};
  }
  if (status == 407) {
    return {Code::unauthorized, join("the proxy requires a password (407)", reason,
                                     http::proxy_password_advice(recipient.base_url))};
  }
  if (status == 402 || ((status == 429 || status == 403 || status == 400) && out_of_quota(body))) {
    return {Code::rate_limited,
            join(cat(host, " says that the account is empty (", status, ")"), reason,
                 "check the account's plan"),
            EDQUOT};
  }
  if (status == 401 || status == 403) {
    return {Code::unauthorized,
            join(cat(host,
                     recipient.api_key.empty() ? " requires a key, and none was sent ("
                                               : " rejected the API key (",
                     status, ")"),
                 reason, key_advice(recipient))};
  }
  if (recipient.continued && (status == 400 || status == 404) && previous_response_unknown(body)) {
    return {Code::expired, join(cat(host, " no longer has the previous response"), reason, "")};
  }
  const RefusedPart refused = refused_part(body);
  if (status == 413 || refused == RefusedPart::length) {
    return {Code::too_long,
            join(cat(host, " rejected the request as too long (", status, ")"), reason, "")};
  }
  if (refused == RefusedPart::images && status != 429) {
    return {Code::unsupported, join(cat(host, " refused an image (", status, ")"), reason, "")};
  }
  if (status == 429) {
    return {Code::rate_limited,
            join(cat(host, " is limiting requests (429)"), reason, retry_advice(pause))};
  }
  if (status == 408) {
    return {Code::timeout, join(cat(host, " timed out (408)"), reason, "try again")};
  }
  if (status >= 500 || status == 409 || status == 425 || is_bad_answer(body)) {
    return {Code::io, join(cat(host, " failed (", status, ")"), reason, retry_advice(pause)),
            ECONNRESET};
  }
  std::string_view advice = status == 404 ? "check the model and the base URL" : "";
  const bool is_unknown = is_model_unknown(status, body);
  if (is_unknown) {
    advice = "`reprise models` lists the ones available";
  }
  return {Code::invalid_argument,
          join(cat(host, " refused the request (", status, ")"), reason, advice)};
}

// A code of the model ("model_not_found", "model_decommissioned", "ModelNotFound"), a
// not_found_error with "model: NAME" (Anthropic), or a sentence that says so of the model.
bool is_model_unknown(int status, std::string_view body) {
  if (status != 404 && status != 400 && status != 410 && status != 422) {
    return false;
  }
  constexpr std::string_view kCodes[] = {
      "model_not_found",     "model_not_exist",   "model_decommissioned", "model_deprecated",
      "model_retired",       "modelnotfound",     "invalid_model",        "unknown_model",
      "model_not_available", "model_unavailable", "no_such_model",        "unsupported_model",
      "model_not_supported"};
  const std::string codes = codes_in(body);
  const std::string reason = ascii_lower(reason_in(body));
  if (contains_any(cat(codes, " ", reason), kCodes)) {
    return true;
  }
  if (codes.contains("not_found_error") && reason.starts_with("model:")) {
    return true;
  }
  const auto at = reason.find("model");
  if (at == std::string::npos) {
    return false;
  }
  if (status == 404) {
    return true;
  }
  constexpr std::string_view kBefore[] = {"no such model", "unknown model", "invalid model",
                                          "unrecognized model", "not a valid model"};
  constexpr std::string_view kAfter[] = {
      "not exist",    "not found", "deprecated",    "retired",     "decommission",
      "discontinued", "no longer", "not available", "unavailable", "sunset",
      "shut down",    "withdrawn", "removed",       "not recogni"};
  constexpr std::size_t kNear = 80;  // "the model NAME was …"
  return contains_any(reason, kBefore) || contains_any(reason.substr(at, kNear), kAfter);
}

bool is_error_text(JsonView json) {
  return std::ranges::any_of(std::array<std::string_view, 3>{"detail", "message", "msg"},
                             [json](std::string_view name) { return has_value(json[name]); });
}

std::unexpected<Error> not_json(std::string_view event, std::string_view data) {
  const bool is_error = event == "error" && !trimmed(data).empty();
  return is_error ? fail(Code::io, std::string(trimmed(data)), ECONNRESET)
                  : fail(Code::io, "an event is not valid JSON");
}

Result<std::string> type_of_event(std::string_view name, std::string_view data) {
  if (!is_json_object(data)) {
    return not_json(name, data);
  }
  const JsonView json(data);
  std::string type = json["type"].text();
  if (type.empty()) {
    type = name;
  }
  if (type == "error" || (type.empty() && (json["error"] || is_error_text(json)))) {
    return std::unexpected(error_of_object(json["error"] ? json["error"] : json));
  }
  return type;
}

Error error_of_object(JsonView error) {
  const std::string body = cat(R"({"error":)", error.raw(), "}");
  const std::string code = error["code"].text();
  const std::int64_t status = error["code"].count();
  const std::string type = error["type"].text();
  std::string message = reason_in(body);
  if (message.empty()) {
    message = code.empty() ? type : code;
  }
  const auto is = [&](std::string_view name) { return code.contains(name) || type.contains(name); };
  if (is("previous_response_not_found")) {
    return {Code::expired, message};
  }
  const std::string words = cat(code, " ", type, " ", message);
  if (out_of_quota(body)) {
    return {Code::rate_limited, message, EDQUOT};
  }
  if (is_bad_answer(body)) {
    return {Code::io, message, ECONNRESET};
  }
  const RefusedPart refused = refused_part(words);
  if (status == 413 || refused == RefusedPart::length) {
    return {Code::too_long, message};
  }
  if (refused == RefusedPart::images) {
    return {Code::unsupported, message};
  }
  if (is("rate_limit") || status == 429) {
    return {Code::rate_limited, message};
  }
  if (is("authentication") || is("permission") || is("invalid_api_key") || status == 401 ||
      status == 403) {
    return {Code::unauthorized, message};
  }
  if (is("timeout") || status == 408) {
    return {Code::timeout, message};
  }
  if (is("invalid") || is("not_found") || is("request_too_large") || is("context_length") ||
      (status >= 400 && status < 500)) {
    return {Code::invalid_argument, message};
  }
  return {Code::io, message, ECONNRESET};
}

Error mid_stream_error(const Endpoint& recipient, const Error& error) {
  Error out = error;
  const std::string_view subject = error.os_errno == EFBIG ? " "
                                   : error.message.empty() ? " ended the answer early"
                                                           : " ended the answer early: ";
  out.message =
      cat(http::host_of(recipient.base_url), subject, one_line_for(recipient, error.message));
  return out;
}

std::unexpected<Error> ended_early() {
  return fail(Code::io, "", ECONNRESET);  // mid_stream_error() says it
}

std::unexpected<Error> answer_too_large(std::int64_t bytes_max) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  const bool is_mebibytes = bytes_max % kMebibyte == 0;
  return fail(
      Code::io,
      cat("sent more than ", is_mebibytes ? bytes_max / kMebibyte : bytes_max,
          is_mebibytes ? " MiB" : " bytes", " in one answer; max_answer_bytes is the limit"),
      EFBIG);
}

std::unexpected<Error> too_many_calls() {
  return fail(Code::io, cat("made more than ", kAnswerCallsMax, " tool calls in one answer"),
              EFBIG);
}

bool worth_retrying(const Error& error) {
  if (error.code == Code::rate_limited) {
    return error.os_errno != EDQUOT;
  }
  return error.code == Code::io && error.os_errno != ECONNREFUSED &&
         error.os_errno != EHOSTUNREACH && error.os_errno != EPROTO && error.os_errno != EFBIG;
}

bool worth_retrying(int status, std::string_view body) {
  if (is_bad_answer(body)) {
    return true;
  }
  if (refused_part(body) != RefusedPart::unknown) {
    return false;
  }
  if (status == 429) {
    return !out_of_quota(body);
  }
  if (refusal_of(status, body)) {
    return false;
  }
  return status >= 500 || status == 408 || status == 409 || status == 425;
}

std::string reason_to_retry(int status) {
  constexpr int kTimeout = 408;
  constexpr int kBusy = 429;
  constexpr int kUnavailable = 503;
  constexpr int kOverloaded = 529;
  if (status == kBusy || status == kOverloaded || status == kUnavailable) {
    return cat("server is busy (", status, ")");
  }
  if (status == kTimeout) {
    return "server timed out (408)";
  }
  return status >= 500 ? cat("server error (", status, ")") : "";
}

}  // namespace reprise::provider
