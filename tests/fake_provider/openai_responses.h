#pragma once

// POST /v1/responses

#include <set>

#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "reprise/error.h"

namespace reprise::fake {

// The stored state of a response and its predecessors.
struct Chain {
  Turn turn;                   // question, rounds, results, messages so far
  std::set<std::string> open;  // calls without a result
  std::set<std::string> seen;  // all calls
};

// The values issued by this server.
struct Issued {
  std::uint64_t seed = 0;
  std::set<std::string> reasoning;  // ids of the reasoning items of stored responses
};

// Checks a request that continues `chain`, and adds what the model has seen.
namespace openai_responses {
Result<> check(const Value& body, const Issued& issued, Chain& chain);
}

}  // namespace reprise::fake
