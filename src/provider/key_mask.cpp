#include "provider/key_mask.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "base/json_write.h"
#include "base/text.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

constexpr std::string_view kMask = "***";

std::string in_json(std::string_view key) {
  const std::string quoted = json::quoted(key);
  return quoted.substr(1, quoted.size() - 2);
}

Secrets in_json(const Secrets& secrets) {
  Secrets out;
  out.reserve(secrets.size());
  for (const std::string& secret : secrets) {
    out.push_back(in_json(secret));
  }
  return out;
}

Secrets long_enough(Secrets secrets) {
  std::erase_if(secrets, [](const std::string& one) { return one.size() < kKeyBytesMin; });
  return secrets;
}

// The length of the longest secret that is a prefix of `text`.
std::size_t secret_at_start(std::string_view text, const Secrets& secrets) {
  std::size_t longest = 0;
  for (const std::string& secret : secrets) {
    longest = text.starts_with(secret) ? std::max(longest, secret.size()) : longest;
  }
  return longest;
}

bool may_become_secret(std::string_view text, const Secrets& secrets) {
  return std::ranges::any_of(secrets, [text](std::string_view secret) {
    return text.size() < secret.size() && secret.starts_with(text);
  });
}

// Masks `text` and removes it, except for a tail that may be the start of a secret if `more`
// follows.
std::string take_masked(std::string& text, const Secrets& secrets, bool more) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (more && may_become_secret(rest, secrets)) {
      break;
    }
    const std::size_t found = secret_at_start(rest, secrets);
    out += found > 0 ? kMask : rest.substr(0, 1);
    at += std::max<std::size_t>(found, 1);
  }
  text.erase(0, at);
  return out;
}

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

std::string masked(std::string_view text, const Secrets& secrets) {
  std::string all(text);
  return take_masked(all, long_enough(secrets), false);
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
    const std::size_t blank =
        ascii_lower(name).ends_with("authorization") ? value.find(' ') : std::string::npos;
    out.emplace_back(blank == std::string::npos ? value : trimmed(value.substr(blank)));
  }
  return out;
}

std::string KeyMask::take(std::string_view piece) {
  waiting_.append(piece);
  return take_masked(waiting_, secrets_, true);
}

std::string KeyMask::rest() {
  return take_masked(waiting_, secrets_, false);
}

MaskedSink::MaskedSink(const StreamSink& sink, Secrets secrets)
    : sink_(sink),
      secrets_(long_enough(std::move(secrets))),
      json_secrets_(in_json(secrets_)),
      texts_(secrets_),
      inputs_(json_secrets_) {}

void MaskedSink::operator()(const StreamEvent& event) {
  if (!masks()) {
    sink_(event);
    return;
  }
  std::visit(
      [this](const auto& one) {
        using Event = std::decay_t<decltype(one)>;
        constexpr bool comes_in_pieces =
            std::is_same_v<Event, TextDelta> || std::is_same_v<Event, ThinkingDelta> ||
            std::is_same_v<Event, ThinkingSignature> || std::is_same_v<Event, ToolInputDelta>;
        if (!comes_in_pieces) {
          finish();
        }
        add(one);
      },
      event);
}

void MaskedSink::finish() {
  if (kind_ != Kind::none) {
    emit((kind_ == Kind::input ? inputs_ : texts_).rest());
    kind_ = Kind::none;
  }
}

void MaskedSink::take(Kind kind, std::string_view piece) {
  if (kind != kind_) {
    finish();
    kind_ = kind;
  }
  emit((kind == Kind::input ? inputs_ : texts_).take(piece));
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

void MaskedSink::add(const ToolUseBegin& one) {
  sink_(ToolUseBegin{whole(one.id), whole(one.name)});
}

void MaskedSink::add(const RawBlock& one) {
  // A key of digits may be part of a number: such a block is invalid JSON after masking, and is
  // dropped.
  if (auto block = RawJson::parse(masked(one.json.text(), json_secrets_)); block) {
    sink_(RawBlock{*std::move(block)});
  }
}

void MaskedSink::add(const ReplyStarted& one) {
  sink_(ReplyStarted{whole(one.response_id), whole(one.model)});
}

void MaskedSink::add(const UsageReport& one) {
  Usage usage = one.usage;
  usage.request_id = whole(usage.request_id);
  sink_(UsageReport{std::move(usage)});
}

}  // namespace reprise::provider
