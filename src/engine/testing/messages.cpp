#include "engine/testing/messages.h"

#include <type_traits>

#include "base/text.h"
#include "reprise/message.h"

namespace reprise {

std::string spell(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) {
    out += cat(out.empty() ? "" : " | ", message.role, ":");
    for (const Block& block : message.blocks) {
      out += std::visit(
          [](const auto& one) {
            using Kind = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<Kind, ToolUseBlock>) {
              return cat(" call ", one.id, one.input.text());
            } else if constexpr (std::is_same_v<Kind, ToolResultBlock>) {
              return cat(one.is_error ? " error " : " result ", one.tool_use_id, "=", one.text);
            } else if constexpr (std::is_same_v<Kind, ImageBlock>) {
              return cat(" image ", one.url);
            } else if constexpr (std::is_same_v<Kind, UnknownBlock>) {
              return cat(" raw ", one.json.text());
            } else if constexpr (std::is_same_v<Kind, ThinkingBlock>) {
              return cat(" (", one.text, ")");
            } else {
              return cat(" ", one.text);
            }
          },
          block);
    }
  }
  return out;
}

}  // namespace reprise
