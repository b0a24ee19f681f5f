#pragma once

// Prints our values for failed comparisons of GoogleTest. Include it where they are compared.

#include <iosfwd>

#include "reprise/store.h"

namespace reprise {

// NOLINTBEGIN(readability-identifier-naming): GoogleTest finds them by this name.
void PrintTo(const SessionId& id, std::ostream* out);
void PrintTo(Seq seq, std::ostream* out);
void PrintTo(const RawJson& json, std::ostream* out);
void PrintTo(const Message& message, std::ostream* out);
void PrintTo(const SessionInfo& info, std::ostream* out);
void PrintTo(const Session& session, std::ostream* out);
void PrintTo(const Usage& usage, std::ostream* out);
void PrintTo(const Todo& todo, std::ostream* out);
// NOLINTEND(readability-identifier-naming)

}  // namespace reprise
