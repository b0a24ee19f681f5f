#pragma once

// Purges beside other writers, and killed ones.

#include "life.h"
#include "tally.h"

namespace reprise::rel {

inline constexpr int kPurged = 2;  // the session
inline constexpr std::string_view kPurgedWord = "unforgettable";
// The fault; "" if no file of the store contains the word.
std::string files_with_words(const std::filesystem::path& place);

// One process puts blobs and references them later; in between, another one purges sessions with
// the same and other blobs. Afterwards, no referenced blob is missing, and no file of the store
// contains purged text.
Tally purge_beside_others(const Kind& kind);

// On a disk without space, a purge is killed at one of its changes. The session is then whole, or
// gone, or reported as partly removed and never restored; the next purge completes it. Needs root.
Tally die_while_purging(const Kind& kind);

}  // namespace reprise::rel
