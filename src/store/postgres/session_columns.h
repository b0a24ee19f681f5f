#pragma once

// The columns of a session's fields, which are in two rows: those used by lists in its head, all
// others in its row. Builds the statements that use all of them.

#include <type_traits>

#include "model/fields.h"
#include "reprise/session.h"

namespace reprise::postgres {

enum class Part : std::uint8_t { head, row };

template <class Value>
constexpr Part part_of(const model::Field<SessionInfo, Value>& field) {
  const bool is_in_head = std::is_same_v<Value, SessionState> || std::is_same_v<Value, bool> ||
                          std::is_same_v<Value, Seq> || field.column == "updated_us";
  return is_in_head ? Part::head : Part::row;
}

// The statements that set those columns: $1 is the tenant, $2 the session, followed by the
// statement's own parameters and then by the fields in order.
enum class Change : std::uint8_t { creation, update };
template <class Value>
constexpr bool is_given(const model::Field<SessionInfo, Value>& field, Change change) {
  const bool has_own = field.derived || field.column == "updated_us";
  return !has_own && (change == Change::creation || field.patch != nullptr);
}

struct SessionStatements {
  std::string insert_head;  // 3 the time of its last activity, 4 folder, 5 head, 6 and 7 the copies
  std::string insert_row;   // 3 the title in lower case, 4 the mode
  std::string update_head;  // 3 folder, 4 and 5 the copies of title and mode
  std::string update_row;   // 3 the title in lower case, 4 the mode
  std::string find;         // with the sums
  std::string verify;       // all of a tenant
};
// `flags` is false for tables of versions without flags, which are only read.
const SessionStatements& session_statements(bool flags);

// The columns that read_info() reads from reprise_sessions AS s and reprise_heads AS h; and those
// of h that a subselect of heads must have.
const std::string& info_columns(bool flags);
const std::string& head_columns(bool flags);

}  // namespace reprise::postgres
