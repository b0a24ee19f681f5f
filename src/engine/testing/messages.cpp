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
          [](const auto& content) {
            using Kind = std::decay_t<decltype(content)>;
            if constexpr (std::is_same_v<Kind, ToolUseBlock>) {
              return cat(" call ", content.id, content.input.text());
            } else if constexpr (std::is_same_v<Kind, ToolResultBlock>) {
              return cat(content.is_error ? " error " : " result ", content.tool_use_id, "=",
                         content.text);
            } else if constexpr (std::is_same_v<Kind, ImageBlock>) {
              return cat(" image ", content.url);
            } else if constexpr (std::is_same_v<Kind, UnknownBlock>) {
              return cat(" raw ", content.json.text());
            } else if constexpr (std::is_same_v<Kind, ThinkingBlock>) {
              return cat(" (", content.text, ")");
            } else {
              return cat(" ", content.text);
            }
          },
          block);
    }
  }
  return out;
}

}  // namespace reprise
