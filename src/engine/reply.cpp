#include "engine/reply.h"

#include <optional>
#include <ranges>
#include <type_traits>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/provider.h"

namespace reprise {
namespace {

template <class Kind>
Kind& last_or_new(std::vector<Block>& blocks) {
  if (blocks.empty() || !std::holds_alternative<Kind>(blocks.back())) {
    blocks.emplace_back(Kind{});
  }
  return std::get<Kind>(blocks.back());
}

void append_clean(std::string& to, std::string_view piece) {
  if (utf8::is_valid(piece)) {
    to += piece;
  } else {
    to += utf8::sanitize(piece);
  }
}

std::string type_of(const RawJson& block) {
  return json::text_in(json::find_member(block.text(), "type")).value_or("");
}

}  // namespace

void GrowingBlocks::text(std::string_view piece) {
  append_clean(last_or_new<TextBlock>(blocks_).text, piece);
}

void GrowingBlocks::thinking(std::string_view piece) {
  append_clean(last_or_new<ThinkingBlock>(blocks_).text, piece);
}

void GrowingBlocks::signature(std::string_view piece) {
  append_clean(last_or_new<ThinkingBlock>(blocks_).signature, piece);
}

void GrowingBlocks::tool_use(std::string_view id, std::string_view name) {
  id_ = utf8::sanitize(id);
  name_ = utf8::sanitize(name);
  blocks_.emplace_back(ToolUseBlock{id_, name_, {}, {}});
  inputs_.emplace_back();
}

void GrowingBlocks::tool_input(std::string_view piece) {
  if (blocks_.empty() || !std::holds_alternative<ToolUseBlock>(blocks_.back())) {
    blocks_.emplace_back(ToolUseBlock{id_, name_, {}, {}});
    inputs_.emplace_back();
  }
  inputs_.back() += piece;
}

void GrowingBlocks::raw(const RawJson& block) {
  blocks_.emplace_back(UnknownBlock{type_of(block), block});
}

void GrowingBlocks::members(const RawJson& json, bool of_call) {
  for (Block& block : blocks_ | std::views::reverse) {
    auto* const call = std::get_if<ToolUseBlock>(&block);
    auto* const text = std::get_if<TextBlock>(&block);
    if (of_call ? call != nullptr : text != nullptr) {
      Extra& extra = of_call ? call->extra : text->extra;
      JsonView(json.text()).each_member([&extra](std::string_view name, JsonView value) {
        json::set_field(extra, name, json::take(value.raw()));
      });
      return;
    }
  }
}

std::vector<Block> GrowingBlocks::take(RawJson (*input_json)(std::string_view text)) {
  std::size_t call = 0;
  for (Block& block : blocks_) {
    if (auto* use = std::get_if<ToolUseBlock>(&block); use != nullptr) {
      use->input = input_json(inputs_.at(call++));
    }
  }
  inputs_.clear();
  return std::exchange(blocks_, {});
}

void grow(GrowingBlocks& blocks, const StreamEvent& event) {
  std::visit(
      [&blocks](const auto& piece) {
        using Kind = std::decay_t<decltype(piece)>;
        if constexpr (std::is_same_v<Kind, TextDelta>) {
          if (!piece.text.empty()) {
            blocks.text(piece.text);
          }
        } else if constexpr (std::is_same_v<Kind, ThinkingDelta>) {
          if (!piece.text.empty()) {
            blocks.thinking(piece.text);
          }
        } else if constexpr (std::is_same_v<Kind, ThinkingSignature>) {
          blocks.signature(piece.signature);
        } else if constexpr (std::is_same_v<Kind, ToolUseBegin>) {
          blocks.tool_use(piece.id, piece.name);
        } else if constexpr (std::is_same_v<Kind, ToolInputDelta>) {
          blocks.tool_input(piece.json);
        } else if constexpr (std::is_same_v<Kind, RawBlock>) {
          blocks.raw(piece.json);
        } else if constexpr (std::is_same_v<Kind, BlockMembers>) {
          blocks.members(piece.json, piece.of_call);
        }
      },
      event);
}

void Reply::on(const StreamEvent& event) {
  if (const auto* started = std::get_if<ReplyStarted>(&event); started != nullptr) {
    response_id_ = utf8::sanitize(started->response_id);
    model_ = utf8::sanitize(started->model);
  } else if (const auto* report = std::get_if<UsageReport>(&event); report != nullptr) {
    usage_ = report->usage;
  } else if (const auto* end = std::get_if<ReplyEnded>(&event); end != nullptr) {
    reason_ = end->reason;
    word_ = utf8::sanitize(end->word);
  } else {
    grow(blocks_, event);
  }
}

Message Reply::take_message() {
  Message message;
  message.role = role::kAssistant;
  message.blocks = blocks_.take_complete();
  message.model = std::move(model_);
  message.response_id = std::move(response_id_);
  message.usage = std::move(usage_);
  return message;
}

bool is_object(const RawJson& input) {
  return json::Scanner(input.text()).kind() == json::Kind::object;
}

RawJson input_from_text(std::string_view text) {
  if (trimmed(text).empty()) {
    return json::take("{}");
  }
  auto parsed = RawJson::parse(std::string(text));
  return parsed ? *std::move(parsed) : RawJson::string(text);
}

std::optional<RawJson> runnable_input(const RawJson& input) {
  if (is_object(input)) {
    return input;
  }
  if (input.is_null()) {
    return json::take("{}");
  }
  if (auto text = json::text_in(input.text())) {
    if (auto inner = RawJson::parse(*std::move(text)); inner && is_object(*inner)) {
      return *std::move(inner);
    }
  }
  return std::nullopt;
}

RawJson input_object(const RawJson& input) {
  auto object = runnable_input(input);
  return object ? *std::move(object) : json::take(cat(R"({"_raw":)", input.text(), "}"));
}

}  // namespace reprise
