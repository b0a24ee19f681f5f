#include "fake_provider/protocol.h"

#include <algorithm>

#include "base/encode.h"
#include "base/json_write.h"
#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"

namespace reprise::fake {

std::string sign(std::string_view thinking, std::uint64_t seed) {
  return base64_encode(cat("signed ", hex_of(fnv1a(cat(seed, "/", thinking)))));
}

Problem Protocol::no_such_model(std::string_view model) const {
  return {404, cat("The model `", model, "` does not exist or you do not have access to it."),
          "model_not_found"};
}

Problem Protocol::no_such_parameter(std::string_view name) const {
  return {400, cat("Unsupported parameter: '", name, "' is not supported with this model."),
          "unsupported_parameter", std::string(name)};
}

std::string_view openai_error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string openai_error(const Problem& problem) {
  std::string inner;
  json::ObjectWriter error(inner);
  error.field("message", problem.message).field("type", openai_error_type(problem.status));
  if (problem.param.empty()) {
    error.null("param");
  } else {
    error.field("param", problem.param);
  }
  if (problem.code.empty()) {
    error.null("code");
  } else {
    error.field("code", problem.code);
  }
  error.close();
  std::string out;
  json::ObjectWriter object(out);
  object.raw("error", inner).close();
  return out;
}

Result<> check_tool_name(const Value& name, std::string_view path) {
  const bool good =
      !name.text.empty() && name.text.size() <= 64 && std::ranges::all_of(name.text, [](char c) {
        return is_ascii_alnum(c) || c == '_' || c == '-';
      });
  if (!good) {
    return refuse(cat(path, ": a tool's name must match ^[a-zA-Z0-9_-]{1,64}$"));
  }
  return {};
}

Result<> check_schema(const Value& schema, std::string_view path) {
  if (schema.find("type").text != "object") {
    return refuse(cat(path, ": the schema's type must be object"));
  }
  return {};
}

Result<> check_arguments(const Value& text, std::string_view path) {
  const auto arguments = parse_value(text.text);
  if (!arguments || !arguments->is(Kind::object)) {
    return refuse(cat(path, ": the arguments are not a JSON object"));
  }
  return {};
}

}  // namespace reprise::fake
