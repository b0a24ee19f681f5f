#pragma once

// What a provider said instead of an answer, as our Error.

#include "base/http.h"
#include "base/json_view.h"
#include "reprise/error.h"

namespace reprise::provider {

// Where the request went, for the words of an error.
struct Recipient {
  std::string base_url;
  std::string api_key;       // masked wherever it shows
  std::string key_variable;  // "OPENAI_API_KEY"
  std::string key_advice;    // instead, where there is no key; "" for none
  bool continued = false;    // a previous response id was sent
};

inline constexpr std::size_t kReasonBytesMax = 300;

// `text` from outside on one line: no control characters, the key masked, at most kReasonBytesMax
// bytes.
std::string one_line(std::string_view text, std::string_view api_key);

// What the body of such an answer says, in words; "" when it is a page or nothing. It may hold
// anything.
std::string reason_in(std::string_view body);

// What of a request a provider does not take, as far as its words tell.
enum class RefusedPart : std::uint8_t {
  something,
  length,  // the context window, or the size of the request
  images,  // the model has no eyes, or not for these
};
// `text` is the body of an error, or its code and message.
RefusedPart what_is_refused(std::string_view text);

// An answer with a status other than 2xx and the beginning of its body.
Error error_of_status(const Recipient& recipient, const http::ResponseHead& head,
                      std::string_view body);

// Whether such an answer says that there is no such model, or no longer.
bool is_model_unknown(int status, std::string_view body);

// An error object (or text) in the middle of an answer, as it stands there; without the host. The
// message may still hold anything: it is made presentable by mid_stream_error().
Error error_of_object(JsonView error);
// Of an event whose type stands in it, or is its name. An Error: the provider's own, or garbage.
Result<std::string> type_of_event(std::string_view name, std::string_view data);

// The reader's error as a person may see it: with the host, on one line, the key masked. EFBIG is
// our own end of an answer that is too large.
Error mid_stream_error(const Recipient& recipient, const Error& error);

// Our own end of an answer that goes over a limit.
std::unexpected<Error> answer_too_large(std::int64_t bytes_max);
std::unexpected<Error> too_many_calls();

// True when another try can help.
bool worth_retrying(const Error& error);
// The same for a status; `body` may say that waiting is in vain.
bool worth_retrying(int status, std::string_view body);
// Why, in a few words; "" where the error says it best.
std::string reason_to_retry(int status);

}  // namespace reprise::provider
