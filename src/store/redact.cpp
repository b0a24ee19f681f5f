#include "store/redact.h"

#include <cstddef>

#include "base/json_scan.h"
#include "base/secret_name.h"
#include "base/text.h"

namespace reprise::store {
namespace {

constexpr std::string_view kRedacted = R"("[redacted]")";

// Whether the header's value is always removed, whatever it is, also in flat lists of names and
// values.
bool is_secret_header(std::string_view header) {
  const std::string name = ascii_lower(header);
  return name == "set-cookie" || name == "cookie" || name == "authorization" ||
         name == "proxy-authorization" ||
         (name.find('-') != std::string::npos && secret_name(name) == SecretName::yes);
}

// Whether the value after `name` is a secret. A member of that name may also describe one, as in
// schemas; then its value is not a string.
bool is_secret_member(std::string_view name, char separator, char value) {
  return is_secret_header(name) ||
         (separator == ':' && value == '"' && secret_name(name) == SecretName::yes);
}

// The end of the value that begins at `at`; the end of the text if the value cannot be parsed.
std::size_t value_end(std::string_view text, std::size_t at) {
  json::Scanner scanner(text.substr(at), json::Controls::accepted);
  return scanner.skip() ? at + scanner.position() : text.size();
}

constexpr std::string_view kBlanks = " \t\r\n";

// A string that is the value of a member is not a name: {"vary":"cookie","age":1}.
bool is_value(std::string_view text, std::size_t at) {
  const std::size_t before = text.substr(0, at).find_last_not_of(kBlanks);
  return before != std::string_view::npos && text[before] == ':';
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  const std::size_t found = text.find_first_not_of(kBlanks, at);
  return found == std::string_view::npos ? text.size() : found;
}

}  // namespace

std::string redact_headers(std::string_view json) {
  std::string out;
  std::size_t copied = 0;
  const auto replace = [&](std::size_t from) {
    out.append(json.substr(copied, from - copied)).append(kRedacted);
    copied = value_end(json, from);
  };
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    json::Scanner scanner(json.substr(at), json::Controls::accepted);
    std::string text;
    if (!scanner.string(text)) {
      ++at;
      continue;
    }
    if (is_bearer_value(text) && at >= copied) {
      replace(at);
      at = copied;
      continue;
    }
    const bool is_name = !is_value(json, at);
    at += scanner.position();
    const std::size_t separator = skip_blanks(json, at);
    const std::size_t value = skip_blanks(json, separator + 1);
    const char divider = separator < json.size() ? json[separator] : '\0';
    const char first = value < json.size() ? json[value] : '\0';
    if (!is_name || (divider != ':' && divider != ',') || !is_secret_member(text, divider, first)) {
      continue;
    }
    replace(value);
    // In a flat list of names and values, the string taken for a value may itself be the next name.
    at = divider == ',' && first == '"' ? value : copied;
  }
  return out.append(json.substr(copied));
}

}  // namespace reprise::store
