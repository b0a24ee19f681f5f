#pragma once

// A running answer grows by deltas, each with the blocks received since the previous one.

#include <span>

#include "reprise/message.h"

namespace reprise::store {

// Appends `delta` to `blocks`. Its first block continues the last one of `blocks` if both are text
// or both are thinking (text and signature are appended), or if both are the same tool use. The
// input of a running tool use arrives as JSON strings, which are joined into one; an input that is
// not a string is complete and replaces the earlier ones. Extra fields are added to the existing
// ones.
void append_delta(std::vector<Block>& blocks, std::span<const Block> delta);

}  // namespace reprise::store
