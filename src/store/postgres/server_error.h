#pragma once

// Maps the server's error codes (SQLSTATE) to ours and to remedies.

#include "reprise/error.h"

namespace reprise::postgres {

// The first line of a message, shortened.
std::string one_line(std::string_view message);

Error server_error(std::string_view sqlstate, std::string_view message);
// Of connecting: libpq has only a message, with the SQLSTATE if its verbosity is PQERRORS_VERBOSE.
// busy, with EAGAIN, if the server has no connection left.
Error connect_error(std::string_view message);
// What a role may need, by an error that names a table of the store; "" for other errors.
std::string missing_grant(std::string_view message, std::string_view role);

enum class Remedy : std::uint8_t {
  none,
  again,      // retry after a pause
  reconnect,  // retry on another connection
  unnamed,    // retry without named statements
};
Remedy remedy_for(std::string_view sqlstate);

// Whether this error leaves the outcome of a commit unknown: a node behind the server may have
// failed meanwhile.
bool is_outcome_unknown(std::string_view sqlstate);
// Whether the server cannot reach a node that it needs.
bool is_node_unavailable(std::string_view sqlstate);

inline constexpr std::string_view kDuplicateKey = "23505";
inline constexpr std::string_view kNoTable = "42P01";
inline constexpr std::string_view kNoFunction = "42883";
inline constexpr std::string_view kNoPrivilege = "42501";
inline constexpr std::string_view kNoSchema = "3F000";
inline constexpr std::string_view kLockTimeout = "55P03";

}  // namespace reprise::postgres
