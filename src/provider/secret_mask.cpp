#include "provider/secret_mask.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <type_traits>

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/secrets.h"
#include "base/text.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

constexpr std::string_view kMask = "***";

Secrets long_enough(Secrets secrets) {
  std::erase_if(secrets, [](const std::string& secret) { return secret.size() < kKeyBytesMin; });
  return secrets;
}

// Secrets that may be masked in a model's words.
Secrets telling(Secrets secrets) {
  std::erase_if(secrets, [](const std::string& secret) { return !is_telling(secret); });
  return secrets;
}

std::size_t count_distinct(std::string_view text) {
  return std::set<char>(text.begin(), text.end()).size();
}

// A byte of a text, or an escape in JSON.
struct Unit {
  std::size_t bytes;    // 0 if the rest of it has not arrived
  std::string decoded;  // "" for an invalid escape
};

Unit first_unit(std::string_view text, TextForm form) {
  if (form == TextForm::plain || text.front() != '\\') {
    return {1, std::string(text.substr(0, 1))};
  }
  constexpr std::size_t kShort = 2;    // \n
  constexpr std::size_t kNumeric = 6;  // \u000a
  const std::size_t bytes = text.size() > 1 && text[1] == 'u' ? kNumeric : kShort;
  if (text.size() < bytes) {
    return {0, ""};
  }
  return {bytes, json::text_in(cat('"', text.substr(0, bytes), '"')).value_or("")};
}

struct Match {
  std::size_t bytes = 0;    // of the secret at the start of a text; 0 for none
  bool is_partial = false;  // the text ends within a possible secret
};

Match match_secret(std::string_view text, std::string_view secret, TextForm form) {
  std::size_t at = 0;
  while (!secret.empty()) {
    const Unit unit = at < text.size() ? first_unit(text.substr(at), form) : Unit{0, ""};
    if (unit.bytes == 0) {
      return {.is_partial = true};
    }
    if (unit.decoded.empty() || !secret.starts_with(unit.decoded)) {
      return {};
    }
    secret.remove_prefix(unit.decoded.size());
    at += unit.bytes;
  }
  return {.bytes = at};
}

// The longest secret.
Match match_any(std::string_view text, const Secrets& secrets, TextForm form) {
  Match longest;
  for (const std::string& secret : secrets) {
    const Match match = match_secret(text, secret, form);
    longest.bytes = std::max(longest.bytes, match.bytes);
    longest.is_partial = longest.is_partial || match.is_partial;
  }
  return longest;
}

// Masks `text` and removes it, except for a tail that may be the start of a secret if `more`
// follows.
std::string extract_masked(std::string& text, const Secrets& secrets, TextForm form, bool more,
                           bool* has_masked = nullptr) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = std::string_view(text).substr(at);
    const Match match = match_any(rest, secrets, form);
    const std::size_t unit = first_unit(rest, form).bytes;
    if (more && (match.is_partial || unit == 0)) {
      break;
    }
    const std::size_t bytes = match.bytes > 0 ? match.bytes : unit == 0 ? rest.size() : unit;
    out += match.bytes > 0 ? kMask : rest.substr(0, bytes);
    if (match.bytes > 0 && has_masked != nullptr) {
      *has_masked = true;
    }
    at += bytes;
  }
  text.erase(0, at);
  return out;
}

// The value of a header or a member, without the scheme of an authorization.
std::string without_scheme(std::string_view value) {
  const auto blank = value.find(' ');
  return std::string(blank == std::string_view::npos ? value : trimmed(value.substr(blank)));
}

// Copies JSON, and replaces and collects the secrets in it.
class SecretFinder {
 public:
  explicit SecretFinder(std::string_view json) : scanner_(json) { copy(false); }

  std::string masked;
  Secrets secrets;

 private:
  // `is_secret`: below a secret name.
  bool copy(bool is_secret) {
    switch (scanner_.kind()) {
      case json::Kind::object: {
        json::ObjectWriter object(masked);
        const bool is_valid = scanner_.object([&](std::string_view name) {
          object.key(name);
          return copy(is_secret || secret_name(name) != SecretName::no);
        });
        object.close();
        return is_valid;
      }
      case json::Kind::array: {
        json::ArrayWriter items(masked);
        const bool is_valid = scanner_.array([&] {
          items.item();
          return copy(is_secret);
        });
        items.close();
        return is_valid;
      }
      default:
        return copy_plain(is_secret);
    }
  }

  bool copy_plain(bool is_secret) {
    std::string_view raw;
    const bool is_valid = scanner_.raw(raw);
    const std::string text = json::text_in(raw).value_or("");
    const bool hide = !text.empty() && (is_secret || is_bearer_value(text));
    if (hide) {
      secrets.push_back(is_bearer_value(text) ? without_scheme(text) : text);
    }
    masked += hide ? json::quoted(kMask) : std::string(raw);
    return is_valid;
  }

  json::Scanner scanner_;
};

}  // namespace

std::string masked(std::string text, std::string_view key) {
  auto at = key.empty() ? std::string::npos : text.find(key);
  if (at == std::string::npos) {
    return text;
  }
  std::string out;
  std::size_t from = 0;
  for (; at != std::string::npos; at = text.find(key, from)) {
    out.append(text, from, at - from).append(kMask);
    from = at + key.size();
  }
  return out.append(text, from);
}

std::string masked(std::string_view text, const Secrets& secrets, TextForm form) {
  std::string remaining(text);
  return extract_masked(remaining, long_enough(secrets), form, false);
}

bool is_telling(std::string_view secret) {
  static constexpr std::string_view kPrefixes[] = {
      "sk-", "sk_",  "gsk_", "xai-", "AIza", "hf_",         "pplx-", "nvapi-",
      "r8_", "csk-", "fw_",  "tgp_", "ghp_", "github_pat_", "glpat-"};
  // Words of the placeholders that servers without keys and their documentation name.
  static constexpr std::string_view kPlaceholders[] = {
      "no-key", "nokey",       "no-api-key",   "not-needed",   "notneeded", "not-required",
      "unused", "dummy",       "your-api-key", "your_api_key", "your-key",  "change-me",
      "xxxx",   "placeholder", "changeme",     "lm-studio",    "lmstudio",  "ollama"};
  constexpr std::size_t kBytesMin = 20;
  constexpr std::size_t kDistinctMin = 10;
  constexpr std::size_t kDistinctMinWithPrefix = 6;  // after the prefix, and a digit: not "sk-1234"
  const std::string lower = ascii_lower(secret);
  if (std::ranges::any_of(kPlaceholders,
                          [&](std::string_view word) { return lower.contains(word); })) {
    return false;
  }
  for (const std::string_view prefix : kPrefixes) {
    if (secret.starts_with(prefix)) {
      const std::string_view rest = secret.substr(prefix.size());
      return count_distinct(rest) >= kDistinctMinWithPrefix &&
             std::ranges::any_of(rest, is_ascii_digit);
    }
  }
  return secret.size() >= kBytesMin && count_distinct(secret) >= kDistinctMin;
}

bool header_holds_no_secret(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "anthropic-beta", "anthropic-version", "openai-beta", "openai-organization",
      "openai-project", "http-referer",      "x-title",     "user-agent"};
  return std::ranges::find(kNames, ascii_lower(name)) != std::end(kNames);
}

Secrets secrets_in(const std::vector<std::pair<std::string, std::string>>& headers) {
  Secrets out;
  for (const auto& [name, value] : headers) {
    if (header_holds_no_secret(name)) {
      continue;
    }
    out.push_back(ascii_lower(name).ends_with("authorization") ? without_scheme(value) : value);
  }
  return out;
}

Secrets secrets_in(const RawJson& extra) {
  return SecretFinder(extra.text()).secrets;
}

RawJson masked_extra(const RawJson& extra) {
  return json::take(SecretFinder(extra.text()).masked);
}

Secrets secrets_of(const ProviderOptions& options) {
  Secrets out = http::secrets_in_url(options.base_url);
  std::ranges::move(secrets_in(options.headers), std::back_inserter(out));
  std::ranges::move(secrets_in(options.extra), std::back_inserter(out));
  out.push_back(options.api_key);
  std::erase(out, "");
  return out;
}

std::string SecretMask::feed(std::string_view piece) {
  pending_.append(piece);
  return extract_masked(pending_, secrets_, form_, true, &has_masked_);
}

std::string SecretMask::finish() {
  return extract_masked(pending_, secrets_, form_, false, &has_masked_);
}

MaskedSink::MaskedSink(const StreamSink& sink, Secrets secrets)
    : sink_(sink),
      secrets_(telling(std::move(secrets))),
      texts_(secrets_),
      inputs_(secrets_, TextForm::json) {}

void MaskedSink::operator()(const StreamEvent& event) {
  if (!masks()) {
    sink_(event);
    return;
  }
  std::visit(
      [this](const auto& part) {
        using Event = std::decay_t<decltype(part)>;
        constexpr bool kIsPiece =
            std::is_same_v<Event, TextDelta> || std::is_same_v<Event, ThinkingDelta> ||
            std::is_same_v<Event, ThinkingSignature> || std::is_same_v<Event, ToolInputDelta>;
        if (!kIsPiece) {
          finish();
        }
        add(part);
      },
      event);
}

void MaskedSink::finish() {
  if (kind_ != Kind::none) {
    emit((kind_ == Kind::input ? inputs_ : texts_).finish());
    kind_ = Kind::none;
  }
}

void MaskedSink::end() {
  finish();
  if (has_masked_ || texts_.has_masked() || inputs_.has_masked()) {
    sink_(KeyMasked{});
  }
}

std::string MaskedSink::mask(std::string_view text, TextForm form) {
  std::string remaining(text);
  return extract_masked(remaining, secrets_, form, false, &has_masked_);
}

void MaskedSink::feed(Kind kind, std::string_view piece) {
  if (kind != kind_) {
    finish();
    kind_ = kind;
  }
  emit((kind == Kind::input ? inputs_ : texts_).feed(piece));
}

void MaskedSink::emit(std::string_view text) {
  if (text.empty()) {
    return;
  }
  switch (kind_) {
    case Kind::none:
      break;
    case Kind::text:
      sink_(TextDelta{text});
      break;
    case Kind::thinking:
      sink_(ThinkingDelta{text});
      break;
    case Kind::signature:
      sink_(ThinkingSignature{text});
      break;
    case Kind::input:
      sink_(ToolInputDelta{text});
      break;
  }
}

void MaskedSink::add(const ToolUseBegin& event) {
  sink_(ToolUseBegin{mask(event.id), mask(event.name)});
}

void MaskedSink::add(const RawBlock& event) {
  // A key of digits may be part of a number: such a block is invalid JSON after masking, and is
  // dropped.
  if (auto block = RawJson::parse(mask(event.json.text(), TextForm::json)); block) {
    sink_(RawBlock{*std::move(block)});
  }
}

void MaskedSink::add(const BlockMembers& event) {
  if (auto json = RawJson::parse(mask(event.json.text(), TextForm::json)); json) {
    sink_(BlockMembers{*std::move(json), event.of_call});
  }
}

void MaskedSink::add(const ReplyEnded& event) {
  const std::string word = mask(event.word);
  sink_(ReplyEnded{event.reason, word});
}

void MaskedSink::add(const ReplyStarted& event) {
  sink_(ReplyStarted{mask(event.response_id), mask(event.model)});
}

void MaskedSink::add(const UsageReport& event) {
  Usage usage = event.usage;
  usage.request_id = mask(usage.request_id);
  sink_(UsageReport{std::move(usage)});
}

}  // namespace reprise::provider
