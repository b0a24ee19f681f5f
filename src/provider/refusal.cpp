#include "provider/refusal.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"
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

bool out_of_quota(std::string_view body) {
  return body.contains("insufficient_quota");
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

// Servers refuse images in many words, or in none: it is worth a try without them.
bool may_be_images(const Endpoint& recipient, int status) {
  return recipient.has_images && !recipient.continued &&
         (status == 400 || status == 415 || status == 422);
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
    return message_in(JsonView(original));
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
    line = line.substr(0, kReasonBytesMax - 3);
    line.remove_suffix(utf8::incomplete_tail(line));
    return cat(line, "...");
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
            join(cat(host, " is limiting requests (429)"), reason,
                 out_of_quota(body) ? "check the account's plan" : retry_advice(pause))};
  }
  if (status == 408) {
    return {Code::timeout, join(cat(host, " timed out (408)"), reason, "try again")};
  }
  if (status >= 500 || status == 409 || status == 425) {
    return {Code::io, join(cat(host, " failed (", status, ")"), reason, retry_advice(pause)),
            ECONNRESET};
  }
  std::string_view advice = status == 404 ? "check the model and the base URL" : "";
  const bool is_unknown = is_model_unknown(status, body);
  if (is_unknown) {
    advice = "`reprise models` lists the ones available";
  }
  return {
      !is_unknown && may_be_images(recipient, status) ? Code::unsupported : Code::invalid_argument,
      join(cat(host, " refused the request (", status, ")"), reason, advice)};
}

// "model_not_found" (OpenAI), a not_found_error with "model: NAME" (Anthropic), or phrases ("model
// 'x' not found, try pulling it first", "The model `x` does not exist").
bool is_model_unknown(int status, std::string_view body) {
  if (status != 404 && status != 400 && status != 410) {
    return false;
  }
  const std::string text = ascii_lower(body);
  if (text.contains("model_not_found")) {
    return true;
  }
  const std::string reason = ascii_lower(reason_in(body));
  if (text.contains("not_found_error") && reason.starts_with("model:")) {
    return true;
  }
  if (!reason.contains("model")) {
    return false;
  }
  for (const std::string_view words :
       {"does not exist", "not found", "no such model", "unknown model", "invalid model",
        "not a valid model", "has been deprecated", "has been retired", "no longer available"}) {
    if (reason.contains(words)) {
      return true;
    }
  }
  return false;
}

Result<std::string> type_of_event(std::string_view name, std::string_view data) {
  if (!is_json_object(data)) {
    return fail(Code::io, "an event is not valid JSON");
  }
  const JsonView json(data);
  std::string type = json["type"].text();
  if (type.empty()) {
    type = name;
  }
  if (type == "error" || (type.empty() && json["error"])) {
    return std::unexpected(error_of_object(json["error"] ? json["error"] : json));
  }
  return type;
}

Error error_of_object(JsonView error) {
  const std::string code = error["code"].text();
  const std::int64_t status = error["code"].count();
  const std::string type = error["type"].text();
  std::string message = message_in(error);
  if (message.empty()) {
    message = code.empty() ? type : code;
  }
  const auto is = [&](std::string_view name) { return code.contains(name) || type.contains(name); };
  if (is("previous_response_not_found")) {
    return {Code::expired, message};
  }
  const RefusedPart refused = refused_part(cat(code, " ", type, " ", message));
  if (status == 413 || refused == RefusedPart::length) {
    return {Code::too_long, message};
  }
  if (refused == RefusedPart::images) {
    return {Code::unsupported, message};
  }
  if (is("rate_limit") || is("insufficient_quota") || status == 429) {
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
    return true;
  }
  return error.code == Code::io && error.os_errno != ECONNREFUSED &&
         error.os_errno != EHOSTUNREACH && error.os_errno != EPROTO && error.os_errno != EFBIG;
}

bool worth_retrying(int status, std::string_view body) {
  if (refused_part(body) != RefusedPart::unknown) {
    return false;
  }
  if (status == 429) {
    return !out_of_quota(body);
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
