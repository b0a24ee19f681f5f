#pragma once

// The sums of a session's usage.

#include <set>

#include "reprise/message.h"

namespace reprise::store {

// Adds one request's numbers. The sum has a cost once any request had one; its price_source is
// the one they share, or "mixed". request_id and extra fields are not summed. Numbers too large
// to add stay at the limit.
void add_usage(Usage& sum, const Usage& one);

// The requests that were counted, by their ids.
using CountedRequests = std::set<std::string, std::less<>>;
// Adds what a message's request used: of the same request only once, however often it is stored.
void count_usage(Usage& sum, CountedRequests& counted, const Message& message);

}  // namespace reprise::store
