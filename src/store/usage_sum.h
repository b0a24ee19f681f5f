#pragma once

// The sums of a session's usage.

#include <cstdint>  // IWYU pragma: export
#include <set>

#include "reprise/types.h"

namespace reprise {
struct Message;
}

namespace reprise::store {

// Adds the usage of one request. The sum has a cost if any request had one; its price_source is the
// common one, or "mixed". request_id and extra fields are not summed. Sums saturate instead of
// overflowing.
void add_usage(Usage& sum, const Usage& usage);

// What a total has beyond a sum; nullopt if nothing.
std::optional<Usage> usage_beyond(const Usage& total, const Usage& sum);

// The ids of the requests already counted.
using CountedRequests = std::set<std::string, std::less<>>;
// Adds the usage of a message's request, only once per request however many messages name it.
void count_usage(Usage& sum, CountedRequests& counted, const Message& message);
void count_usage(Usage& sum, CountedRequests& counted, const Usage& usage);

}  // namespace reprise::store
