#pragma once

// Reads the answers of OpenAI's Responses.

#include "provider/codec.h"

namespace reprise::provider {

// `out` must outlive it. Items that go back to the server are marked with `host`; "" for none.
std::unique_ptr<ReplyReader> make_responses_reader(ReplyOut& out, std::string_view host);

}  // namespace reprise::provider
