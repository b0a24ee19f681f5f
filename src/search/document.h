#pragma once

// A message as it is indexed: its texts by part, and facts that queries filter by.

#include "reprise/capabilities.h"
#include "reprise/search.h"

namespace reprise::search {

inline constexpr std::size_t kParts = 3;  // of SearchPart
// Of one message; what comes after it is not indexed.
inline constexpr std::size_t kTextBytesMax = std::size_t{256} * 1024;

struct Texts {
  std::array<std::string, kParts> parts;  // valid UTF-8
  std::size_t bytes() const { return parts[0].size() + parts[1].size() + parts[2].size(); }
};
Texts texts_of(const Message& message);

// Facts are tokens beside the words of a document. Names stand in them as hashes.
enum class Fact : char { role = 'r', model = 'm', tool = 't', session = 's', folder = 'd' };
std::string fact_token(Fact fact, std::string_view value);
std::string session_token(std::int64_t key);
// Those of the message, as a document begins with them.
std::string facts_of(const Message& message, std::int64_t session, std::string_view folder_token);

// The message for a store that indexes words itself. It knows sessions and folders.
WordEntry entry_of(const Message& message);

// Tells messages apart that stand at the same place: before and after a rewind.
std::int64_t fingerprint(Time created_at, const Texts& texts);

}  // namespace reprise::search
