#pragma once

// Converts a provider's error response to an Error.

#include <vector>

#include "base/http.h"
#include "base/json_view.h"
#include "reprise/provider.h"

namespace reprise::provider {

// The destination of a request, for error messages.
struct Endpoint {
  std::string base_url;
  std::string api_key;               // masked in messages
  std::vector<std::string> secrets;  // the same
  std::string key_variable;          // "OPENAI_API_KEY"
  std::string key_advice;            // replaces key_variable if there is no key; "" for none
  bool continued = false;            // a previous response id was sent
};

inline constexpr std::size_t kReasonBytesMax = 300;

// Foreign text on one line: no control characters, the key masked, at most kReasonBytesMax bytes:
// of a longer one the beginning and the end, since the reason is often the last line.
std::string one_line(std::string_view text, std::string_view api_key);

// The body of a provider that a gateway has wrapped in its own as a string; else `body`.
std::string original_answer(std::string_view body);

// The error message in the body of a response, unsanitized; "" for an HTML page or an empty body.
std::string reason_in(std::string_view body);

// The part of a request that a provider rejects, as far as its message tells.
enum class RefusedPart : std::uint8_t {
  unknown,
  length,  // the context window, or the size of the request
  images,  // the model does not support images, or not these
};
// `text` is the body of an error, or its code and message.
RefusedPart refused_part(std::string_view text);

// Whether a request that was refused like this may be accepted in another form, or if it is
// shorter, and what its words ask for; nullopt if the refusal is about the key, the account, the
// model, a policy or anything else that no form mends.
std::optional<Refusal> refusal_of(int status, std::string_view body);

// A response with a status other than 2xx and the start of its body. `pause`: how long the server
// asks to wait before another attempt.
Error error_of_status(const Endpoint& recipient, const http::ResponseHead& head,
                      std::string_view body,
                      std::optional<std::chrono::milliseconds> pause = std::nullopt);

// Whether the response reports that the model does not exist, or no longer.
bool is_model_unknown(int status, std::string_view body);

// Whether an object that is no part of an answer is an error: it has a message or details.
bool is_error_text(JsonView json);

// The error for an event that is not JSON: the text of an error event.
std::unexpected<Error> not_json(std::string_view event, std::string_view data);

// An error object (or text) within an answer, without the host and unsanitized: mid_stream_error()
// completes it.
Error error_of_object(JsonView error);
// The type of an event: a member of its data, or its name. Errors are the provider's, or report
// malformed data.
Result<std::string> type_of_event(std::string_view name, std::string_view data);

// The reader's error for display: with the host, on one line, the key masked. EFBIG means that
// Reprise ended an answer that was too large.
Error mid_stream_error(const Endpoint& recipient, const Error& error);

// The answer ended before it was complete, for no stated reason.
std::unexpected<Error> ended_early();

// Errors of Reprise for an answer that exceeds a limit.
std::unexpected<Error> answer_too_large(std::int64_t bytes_max);
std::unexpected<Error> too_many_calls();

// Whether a retry can help.
bool worth_retrying(const Error& error);
// The same for a status; `body` may tell that a retry is useless.
bool worth_retrying(int status, std::string_view body);
// The reason in a few words; "" if the error is clearer.
std::string reason_to_retry(int status);

}  // namespace reprise::provider
