#include "messages.h"

#include <cstddef>

#include "reprise/environment.h"
#include "reprise/message.h"

namespace bench {

std::string text_of(std::size_t bytes) {
  std::string text =
      "It is the text of an ordinary answer, with a \"quoted\" word here and there and a new line "
      "after a sentence, as they come from models: most of it needs no escaping at all.\n";
  while (text.size() < bytes) {
    text += text;
  }
  text.resize(bytes);
  return text;
}

reprise::Message message_of(std::string_view role, std::size_t bytes) {
  reprise::Message message;
  message.role = role;
  message.blocks.emplace_back(reprise::TextBlock{.text = text_of(bytes), .extra = {}});
  message.created_at = reprise::system_clock().now();
  return message;
}

}  // namespace bench
