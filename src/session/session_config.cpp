#include "session/session_config.h"

#include <charconv>
#include <system_error>

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/session.h"

namespace reprise {
namespace {

template <class Number>
std::optional<Number> number_of(const Session& session, std::string_view name) {
  std::string_view value = json::find_member(session.config.text(), name);
  if (value.size() > 2 && value.starts_with('"')) {
    value = value.substr(1, value.size() - 2);
  }
  Number number{};
  const char* const last = value.data() + value.size();
  const auto [end, code] = std::from_chars(value.data(), last, number);
  return code == std::errc{} && end == last && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

RawJson session_config(std::string_view base_url) {
  if (base_url.empty()) {
    return {};
  }
  std::string out;
  json::ObjectWriter object(out);
  object.field("base_url", http::masked_url(base_url)).close();
  return RawJson::parse(out).value_or(RawJson());
}

std::optional<double> stored_temperature(const Session& session) {
  return number_of<double>(session, "temperature");
}

std::optional<std::int64_t> stored_max_tokens(const Session& session) {
  const auto stored = number_of<std::int64_t>(session, "max_tokens");
  return stored == 0 ? std::nullopt : stored;
}

}  // namespace reprise
