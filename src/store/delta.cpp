#include "store/delta.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>

#include "base/json_scan.h"
#include "reprise/message.h"

namespace reprise::store {
namespace {

void add_extra(Extra& extra, const Extra& more) {
  if (more.empty()) {
    return;
  }
  std::map<std::string, std::size_t, std::less<>> places;
  for (std::size_t i = 0; i < extra.size(); ++i) {
    places.try_emplace(extra[i].name, i);
  }
  for (const ExtraField& field : more) {
    const auto [place, is_new] = places.try_emplace(field.name, extra.size());
    if (is_new) {
      extra.push_back(field);
    } else {
      extra[place->second].value = field.value;
    }
  }
}

void add_input(RawJson& input, const RawJson& piece) {
  if (piece.is_null()) {
    return;
  }
  if (!json::join_strings(input, piece)) {
    input = piece;
  }
}

bool continue_block(TextBlock& block, const TextBlock& delta) {
  block.text += delta.text;
  add_extra(block.extra, delta.extra);
  return true;
}

bool continue_block(ThinkingBlock& block, const ThinkingBlock& delta) {
  block.text += delta.text;
  block.signature += delta.signature;
  add_extra(block.extra, delta.extra);
  return true;
}

bool continue_block(ToolUseBlock& block, const ToolUseBlock& delta) {
  if (block.id != delta.id) {
    return false;
  }
  if (block.name.empty()) {
    block.name = delta.name;
  }
  add_input(block.input, delta.input);
  add_extra(block.extra, delta.extra);
  return true;
}

// All other pairs remain separate blocks.
template <class Last, class First>
bool continue_block(Last& /*last*/, const First& /*first*/) {
  return false;
}

}  // namespace

void append_delta(std::vector<Block>& blocks, std::span<const Block> delta) {
  if (delta.empty()) {
    return;
  }
  if (!blocks.empty() &&
      std::visit([](auto& last, const auto& first) { return continue_block(last, first); },
                 blocks.back(), delta.front())) {
    delta = delta.subspan(1);
  }
  blocks.insert(blocks.end(), delta.begin(), delta.end());
}

}  // namespace reprise::store
