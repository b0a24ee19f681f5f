#include "provider/key_mask.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/json_write.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

constexpr std::string_view kMask = "***";

std::string in_json(std::string_view key) {
  const std::string quoted = json::quoted(key);
  return quoted.substr(1, quoted.size() - 2);
}

// How many bytes at the end of `text` may be the beginning of `key`.
std::size_t begun_at_end(std::string_view text, std::string_view key) {
  for (std::size_t bytes = std::min(text.size(), key.size() - 1); bytes > 0; --bytes) {
    if (text.ends_with(key.substr(0, bytes))) {
      return bytes;
    }
  }
  return 0;
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

std::string KeyMask::take(std::string_view piece) {
  std::string text = masked(std::exchange(waiting_, {}).append(piece), key_);
  const std::size_t begun = begun_at_end(text, key_);
  waiting_ = text.substr(text.size() - begun);
  text.resize(text.size() - begun);
  return text;
}

std::string KeyMask::rest() {
  return std::exchange(waiting_, {});
}

MaskedSink::MaskedSink(const StreamSink& sink, std::string_view key)
    : sink_(sink),
      key_(key.size() < kKeyBytesMin ? std::string_view() : key),
      json_key_(in_json(key_)),
      texts_(key_),
      inputs_(json_key_) {}

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
    hand_on((kind_ == Kind::input ? inputs_ : texts_).rest());
    kind_ = Kind::none;
  }
}

void MaskedSink::take(Kind kind, std::string_view piece) {
  if (kind != kind_) {
    finish();
    kind_ = kind;
  }
  hand_on((kind == Kind::input ? inputs_ : texts_).take(piece));
}

void MaskedSink::hand_on(std::string_view text) {
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
  // A key of digits may have stood in a number: such a block is no JSON any more, and is left out.
  if (auto block = RawJson::parse(masked(one.json.text(), json_key_)); block) {
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
