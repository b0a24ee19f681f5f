#pragma once

// When to retry a request, and after which pause.

#include <stop_token>
#include <vector>

#include "base/http.h"
#include "reprise/environment.h"

namespace reprise::provider {

// Longer pauses requested by a provider are not waited for.
inline constexpr std::chrono::milliseconds kPauseMax{60'000};

// The pause requested by retry-after-ms or retry-after (seconds or an HTTP date); never negative.
std::optional<std::chrono::milliseconds> retry_after(const std::vector<http::Header>& headers,
                                                     Time now);

// The pause that the body of a response asks for: Google's {"retryDelay":"34.4s"}.
std::optional<std::chrono::milliseconds> retry_delay(std::string_view body);

// The pause before retry number `retry` (from 0): doubling from half a second to 8 s, minus a
// random part of up to a quarter, so that concurrent clients do not retry at the same time.
std::chrono::milliseconds backoff(int retry, Entropy& entropy);

// Returns false if `stop` was requested first.
using Sleeper = std::function<bool(std::chrono::milliseconds pause, std::stop_token stop)>;
bool sleep_for(std::chrono::milliseconds pause, const std::stop_token& stop);

}  // namespace reprise::provider
