#pragma once

// Stores of the sizes that the benchmarks need.

#include <filesystem>
#include <memory>

#include "reprise/store.h"

namespace bench {

std::unique_ptr<reprise::Store> open_grown(const std::filesystem::path& file);

reprise::SessionId add_session(reprise::Store& store);

// A session of `count` messages, short ones unless their length is given.
reprise::SessionId add_long_session(reprise::Store& store, std::int64_t count,
                                    std::size_t bytes = 36);

// A session of 2,000 messages and about 10 MB of text, whose last answer has the response id
// "resp_0" of openai-responses.
reprise::SessionId add_large_session(reprise::Store& store);

// A database with `count` sessions, created with the store's schema by one statement, and cached in
// `folder`.
std::filesystem::path grown_sessions(const std::filesystem::path& folder, std::int64_t count);

}  // namespace bench
