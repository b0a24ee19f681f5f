#pragma once

// Reads the answers of Anthropic's Messages.

#include "provider/codec.h"

namespace reprise::provider {

// `out` must outlive it.
std::unique_ptr<ReplyReader> make_anthropic_reader(ReplyOut& out);

}  // namespace reprise::provider
