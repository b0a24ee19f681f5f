#pragma once

// A message in one expression.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/message.h"
#include "reprise/types.h"

namespace reprise {

inline Message message_of(std::string_view role, std::vector<Block> blocks, Time created_at = {}) {
  Message message;
  message.role = role;
  message.blocks = std::move(blocks);
  message.created_at = created_at;
  return message;
}

}  // namespace reprise
