#include "store/redact.h"

#include <cstddef>

#include "base/json_scan.h"
#include "base/text.h"

namespace reprise::store {
namespace {

constexpr std::string_view kRedacted = R"("[redacted]")";

bool is_secret(std::string_view header) {
  const std::string name = ascii_lower(header);
  return name == "set-cookie" || name == "cookie" || name == "authorization" ||
         name == "proxy-authorization" || name.ends_with("-api-key");
}

// Behind the value that begins here; the end of the text where that cannot be told.
std::size_t value_end(std::string_view text, std::size_t at) {
  json::Scanner scanner(text.substr(at), json::Controls::accepted);
  return scanner.skip() ? at + scanner.position() : text.size();
}

constexpr std::string_view kBlanks = " \t\r\n";

// A string that a member has as its value names nothing: {"vary":"cookie","age":1}.
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
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    json::Scanner scanner(json.substr(at), json::Controls::accepted);
    std::string name;
    if (!scanner.string(name)) {
      ++at;
      continue;
    }
    const bool is_name = is_secret(name) && !is_value(json, at);
    at += scanner.position();
    const std::size_t separator = skip_blanks(json, at);
    const bool has_value =
        separator < json.size() && (json[separator] == ':' || json[separator] == ',');
    if (!is_name || !has_value) {
      continue;
    }
    const std::size_t value = skip_blanks(json, separator + 1);
    out.append(json.substr(copied, value - copied)).append(kRedacted);
    copied = value_end(json, value);
    // In a list of names and values in turn, what was taken for a value may be the next name.
    const bool may_be_name = json[separator] == ',' && json.substr(value).starts_with('"');
    at = may_be_name ? value : copied;
  }
  return out.append(json.substr(copied));
}

}  // namespace reprise::store
