#pragma once

// Reads the answers of OpenAI's Responses.

#include <memory>
#include <string_view>

#include "provider/codec.h"
#include "provider/reply_out.h"

namespace reprise::provider {

// `out` must outlive it. Items that go back to the server are marked with `host`; "" for none.
std::unique_ptr<ReplyReader> make_responses_reader(ReplyOut& out, std::string_view host);

}  // namespace reprise::provider
