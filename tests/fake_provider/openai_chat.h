#pragma once

// POST /v1/chat/completions

#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "reprise/error.h"

namespace reprise::fake {

// As strict as the strictest of the compatible servers: roles alternate, one system message.
namespace openai_chat {
Result<Turn> check(const Value& body);
}

}  // namespace reprise::fake
