#pragma once

// Whether an answer matches the JSON Schema that was asked for: some servers ignore it without a
// word.

#include <string>
#include <string_view>

#include "reprise/types.h"

namespace reprise {

// Why the text is not a JSON value that matches ("$.name is missing"); "" if it matches. Keywords
// other than type, enum, const, properties, required, additionalProperties, items, the limits of
// numbers, texts and lists, anyOf, oneOf, allOf and local $refs are taken as met.
std::string schema_mismatch(std::string_view answer, const RawJson& schema);

}  // namespace reprise
