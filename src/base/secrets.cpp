#include "base/secrets.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/json_scan.h"
#include "base/text.h"

namespace reprise {
namespace {

using Words = std::span<const std::string_view>;

bool is_one_of(std::string_view word, Words words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

bool is_letter_or_digit(char c) {
  return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Splits "X-Api-Key", "api_key" and "apiKey" into words, in lower case.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  char before = ' ';
  for (const char c : name) {
    const bool begins = !is_letter_or_digit(before) || (is_upper(c) && !is_upper(before));
    if (is_letter_or_digit(c)) {
      if (begins) {
        words.emplace_back();
      }
      words.back() += ascii_lower(c);
    }
    before = c;
  }
  return words;
}

// Classifies a word by itself and its neighbours.
SecretName classify(const std::vector<std::string>& words, std::size_t at) {
  static constexpr std::string_view kAlways[] = {
      "authorization", "cookie",      "cookies", "password",  "passwd",    "passphrase", "secret",
      "secrets",       "credentials", "apikey",  "authtoken", "accesskey", "secretkey"};
  // Names of models and pages, and of texts that are not secret.
  static constexpr std::string_view kOtherKeys[] = {"cache",  "idempotency", "sort",   "primary",
                                                    "public", "partition",   "foreign"};
  static constexpr std::string_view kOtherTokens[] = {
      "bos",   "decoder", "end",  "eos",   "first",  "image",   "last",     "mask",     "max",
      "min",   "new",     "next", "out",   "pad",    "page",    "per",      "prompt",   "sep",
      "start", "stop",    "unk",  "input", "output", "special", "thinking", "reasoning"};
  static constexpr std::string_view kOfTokens[] = {
      "budget", "cost", "count", "counts", "details", "endpoint", "expires", "expiry",
      "id",     "ids",  "index", "limit",  "limits",  "number",   "price",   "rate",
      "ttl",    "type", "types", "uri",    "url",     "usage"};
  const std::string& word = words[at];
  const std::string_view before = at > 0 ? std::string_view(words[at - 1]) : "";
  const std::string_view after = at + 1 < words.size() ? std::string_view(words[at + 1]) : "";
  if (is_one_of(word, kAlways)) {
    return is_one_of(after, kOfTokens) ? SecretName::no : SecretName::yes;
  }
  if (word == "token") {
    return is_one_of(before, kOtherTokens) || is_one_of(after, kOfTokens) ? SecretName::no
           : words.size() == 1                                            ? SecretName::unclear
                                                                          : SecretName::yes;
  }
  if (word == "key" && (after.empty() || before == "api")) {
    return is_one_of(before, kOtherKeys) || is_one_of(after, kOfTokens) ? SecretName::no
           : words.size() == 1                                          ? SecretName::unclear
                                                                        : SecretName::yes;
  }
  return SecretName::no;
}

constexpr std::string_view kRedacted = R"("[redacted]")";

// Whether the header's value is always removed, whatever it is, also in flat lists of names and
// values.
bool is_secret_header(std::string_view header) {
  const std::string name = ascii_lower(header);
  return name == "set-cookie" || name == "cookie" || name == "authorization" ||
         name == "proxy-authorization" ||
         (name.contains('-') && secret_name(name) == SecretName::yes);
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

SecretName secret_name(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  auto found = SecretName::no;
  for (std::size_t at = 0; at < words.size(); ++at) {
    found = std::max(found, classify(words, at));
  }
  return found;
}

bool is_bearer_value(std::string_view value) {
  constexpr std::string_view kScheme = "bearer ";
  constexpr std::size_t kTokenBytesMin = 8;
  if (!ascii_lower(value.substr(0, kScheme.size())).starts_with(kScheme)) {
    return false;
  }
  const std::string_view token = trimmed(value.substr(kScheme.size()));
  const bool is_token = std::ranges::all_of(token, [](char c) {
    return is_letter_or_digit(c) || std::string_view("-._~+/=").contains(c);
  });
  const bool is_word = std::ranges::all_of(
      token, [](char c) { return is_letter_or_digit(c) && (c < '0' || c > '9'); });
  return token.size() >= kTokenBytesMin && is_token && !is_word;
}

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

}  // namespace reprise
