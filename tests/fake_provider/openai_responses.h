#pragma once

// POST /v1/responses

#include <set>

#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "reprise/error.h"

namespace reprise::fake {

// What is remembered of a response and all that came before it.
struct Chain {
  Turn turn;                   // question, rounds, results, messages so far
  std::set<std::string> open;  // calls without a result
  std::set<std::string> seen;  // all calls
};

// What this server has given out.
struct Issued {
  std::uint64_t seed = 0;
  std::set<std::string> reasoning;  // ids of the reasoning items of stored responses
};

// Checks a request that continues `chain` and leaves in it what the model has seen now.
Result<> check_responses(const Value& body, const Issued& issued, Chain& chain);

}  // namespace reprise::fake
