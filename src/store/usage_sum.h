#pragma once

// The sums of a session's usage. Whether a request was counted before is the store's to know: it
// keeps the request ids of each session.

#include "reprise/message.h"

namespace reprise::store {

// Adds one request's numbers. The sum has a cost once any request had one; its price_source is
// the one they share, or "mixed". request_id and extra fields are not summed. Numbers too large
// to add stay at the limit.
void add_usage(Usage& sum, const Usage& one);

}  // namespace reprise::store
