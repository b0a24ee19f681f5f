#pragma once

// Constructs a message in one expression.

#include "reprise/message.h"

namespace reprise {

inline Message message_of(std::string_view role, std::vector<Block> blocks, Time created_at = {}) {
  Message message;
  message.role = role;
  message.blocks = std::move(blocks);
  message.created_at = created_at;
  return message;
}

}  // namespace reprise
