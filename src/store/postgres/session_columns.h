#pragma once

// The columns of a session's fields, which stand in two rows: what lists are found by in its head,
// all else in its row. The statements that have them all are put together here.

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

// What a statement gives those columns: $1 is the tenant, $2 the session, and after the parameters
// that each has of its own come the fields, in their order.
enum class Change : std::uint8_t { creation, update };
template <class Value>
constexpr bool is_given(const model::Field<SessionInfo, Value>& field, Change change) {
  const bool has_own = field.derived || field.column == "updated_us";
  return !has_own && (change == Change::creation || field.patch != nullptr);
}

struct SessionStatements {
  std::string insert_head;  // 3 the time of its last activity, 4 folder, 5 head
  std::string insert_row;   // 3 the title in lower case
  std::string update_head;  // 3 folder
  std::string update_row;   // 3 the title in lower case
  std::string find;         // with the sums
  std::string verify;       // all of a tenant
};
// Without flags: for tables of before there were any, which are read only.
const SessionStatements& session_statements(bool flags);

// What read_info() reads, of reprise_sessions AS s and reprise_heads AS h; and what of it h needs
// where it stands for some of the heads.
const std::string& info_columns(bool flags);
const std::string& head_columns(bool flags);

}  // namespace reprise::postgres
