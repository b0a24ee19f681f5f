#pragma once

// POST /v1/messages

#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "reprise/error.h"

namespace reprise::fake {

// Thinking must carry the signature of the server with this seed.
namespace anthropic {
Result<Turn> check(const Value& body, std::uint64_t seed);
}

}  // namespace reprise::fake
