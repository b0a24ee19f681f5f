#pragma once

// A running answer grows by deltas: what has come since the last one.

#include <span>

#include "reprise/message.h"

namespace reprise::store {

// Adds `delta` to `blocks`. Its first block continues the last one there when both are text or
// thinking (the text and the signature go on), or the same tool use: its input's pieces are JSON
// strings while it is running and are put together into one; an input that is no string is taken
// to be whole and replaces what was there. Extra fields are added to those that are there.
void append_delta(std::vector<Block>& blocks, std::span<const Block> delta);

}  // namespace reprise::store
