#pragma once

// Reads the answers of OpenAI's Responses.

#include <memory>

#include "provider/codec.h"
#include "provider/reply_out.h"

namespace reprise::provider {

// `out` must outlive it.
std::unique_ptr<ReplyReader> make_responses_reader(ReplyOut& out);

}  // namespace reprise::provider
