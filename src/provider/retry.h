#pragma once

// When a request is tried again, and after which pause.

#include <stop_token>
#include <vector>

#include "base/http.h"
#include "reprise/environment.h"

namespace reprise::provider {

// A provider that asks for a longer pause than this is not waited for.
inline constexpr std::chrono::milliseconds kPauseMax{60'000};

// The pause asked for by retry-after-ms or retry-after (seconds or an HTTP date); never negative.
std::optional<std::chrono::milliseconds> retry_after(const std::vector<http::Header>& headers,
                                                     Time now);

// Before the retry number `retry` (from 0): doubling from half a second to 8 s, of which a random
// quarter is taken off, so that many who were refused together do not come back together.
std::chrono::milliseconds backoff(int retry, Entropy& entropy);

// Returns false when `stop` came first.
using Sleeper = std::function<bool(std::chrono::milliseconds pause, std::stop_token stop)>;
bool sleep_for(std::chrono::milliseconds pause, const std::stop_token& stop);

}  // namespace reprise::provider
