#pragma once

// The indexed form of a message: its texts by part, and attributes for filters.

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "reprise/search.h"        // IWYU pragma: export
#include "reprise/types.h"         // IWYU pragma: export

namespace reprise::search {

inline constexpr std::size_t kParts = 3;  // of SearchPart
// Per message; the text beyond it is not indexed.
inline constexpr std::size_t kTextBytesMax = std::size_t{256} * 1024;

struct Texts {
  std::array<std::string, kParts> parts;  // valid UTF-8
  std::size_t bytes() const { return parts[0].size() + parts[1].size() + parts[2].size(); }
};
Texts texts_of(const Message& message);

// Attributes are tokens in addition to a document's words. Names are hashed.
enum class Attribute : char {
  role = 'r',
  model = 'm',
  author = 'a',
  tool = 't',
  session = 's',
  folder = 'd'
};
std::string attribute_token(Attribute attribute, std::string_view value);
std::string session_token(std::int64_t key);
// The attributes of the message, as the prefix of a document.
std::string attributes_of(const Message& message, std::int64_t session,
                          std::string_view folder_token);

// For stores that index words themselves, and know sessions and folders.
WordEntry entry_of(const Message& message);

// The last indexed messages of a session, from which it is seen that it was rewound or that an
// answer has grown: a tool's results may come between the parts of an answer, so these are the last
// message that is no result, and the results after it.
struct Tail {
  std::optional<Seq> first = std::nullopt;
  std::int64_t fingerprint = 0;

  void add(const Message& message, const Texts& texts);
};

}  // namespace reprise::search
