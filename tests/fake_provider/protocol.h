#pragma once

// One of the three protocols: checks requests and formats answers.

#include <memory>
#include <vector>

#include "fake_provider/answer.h"
#include "fake_provider/http.h"
#include "fake_provider/json_value.h"
#include "reprise/error.h"

namespace reprise::fake {

struct Problem {
  int status = 400;
  std::string message;
  std::string code;  // "" for null: "previous_response_not_found", "invalid_api_key"
  std::string param = {};
};
struct SseEvent {
  std::string name;  // "" for none
  std::string data;
  bool is_delta = false;
  bool is_end = false;  // one of the events that end the answer
};

// One thread at a time.
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual std::string_view path() const = 0;

  virtual Result<> check_headers(const HttpRequest& /*request*/) { return {}; }

  // invalid_argument for everything that a real provider would refuse (a violation); expired if the
  // previous response is unknown.
  virtual Result<Turn> check(const Value& body) = 0;

  virtual std::string plain(const Answer& answer) const = 0;
  virtual std::vector<SseEvent> events(const Answer& answer) const = 0;
  virtual std::string error_body(const Problem& problem) const = 0;
  virtual SseEvent error_event(const Problem& problem) const = 0;

  // In OpenAI's words.
  virtual Problem no_such_model(std::string_view model) const;
  virtual Problem no_such_parameter(std::string_view name) const;

  virtual std::string_view id_prefix() const = 0;
  virtual std::string_view call_prefix() const = 0;
  virtual std::string_view request_id_header() const { return "x-request-id"; }
  virtual bool key_is_bearer() const { return true; }  // otherwise x-api-key

  // Called when the answer was sent completely, so that requests can continue it.
  virtual void answered(const Value& /*request*/, const Answer& /*answer*/) {}
};

std::unique_ptr<Protocol> make_openai_chat();
std::unique_ptr<Protocol> make_openai_responses(std::uint64_t seed);
std::unique_ptr<Protocol> make_anthropic(std::uint64_t seed);

// The signature of `thinking` by this server.
std::string sign(std::string_view thinking, std::uint64_t seed);

// The error object of OpenAI: {"error":{"message","type","param","code"}}.
std::string openai_error(const Problem& problem);
std::string_view openai_error_type(int status);

// The checks of tools that the OpenAI protocols share. `names` receives the available tools.
Result<> check_schema(const Value& schema, std::string_view path);
Result<> check_tool_name(const Value& name, std::string_view path);

// JSON text that must be an object: a tool call's arguments.
Result<> check_arguments(const Value& text, std::string_view path);

}  // namespace reprise::fake
