#pragma once

// What the server's error codes (SQLSTATE) mean here, and what can be done about them.

#include "reprise/error.h"

namespace reprise::postgres {

// The beginning of a message that may have several lines.
std::string one_line(std::string_view message);

Error server_error(std::string_view sqlstate, std::string_view message);
// Connecting gives a message only.
Error connect_error(std::string_view message);

enum class Remedy : std::uint8_t {
  none,
  again,      // the same once more, after a moment
  reconnect,  // once more, with another connection
  unnamed,    // once more, without named statements
};
Remedy remedy_for(std::string_view sqlstate);

// What is said of a commit does not tell whether it has happened: a node behind the server may have
// gone away on the way.
bool is_outcome_unknown(std::string_view sqlstate);
// The server itself cannot reach one that it needs.
bool is_node_away(std::string_view sqlstate);

inline constexpr std::string_view kDuplicateKey = "23505";
inline constexpr std::string_view kNoTable = "42P01";
inline constexpr std::string_view kNoPrivilege = "42501";

}  // namespace reprise::postgres
