#pragma once

// Converts sessions and messages to rows and back. The columns of a session's fields are in two
// rows: those used by lists in its head, all others in its row.

#include <type_traits>

#include "model/fields.h"
#include "reprise/session.h"
#include "reprise/source.h"
#include "store/column_reader.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

// The maximum length of a value; longer ones are divided into several rows.
inline constexpr std::size_t kPieceMax = std::size_t{1} << 18;

using store::microseconds_of;
using store::time_of;

std::int64_t state_number(SessionState state);
SessionState state_of(std::int64_t number);

// `bytes` in pieces of at most kPieceMax; one empty piece if there are none.
std::vector<std::string> pieces_of(std::string_view bytes);

// The text itself, or its hash if it is too long for an index.
Result<std::string> index_key(std::string_view text);

// A row of info_columns().
struct InfoRow {
  std::optional<SessionInfo> info;  // nullopt if the id is invalid
  std::optional<Damage> damage;
};
InfoRow read_info(const RowView& row, std::string_view location);

// The value of `detail`: all of a message except its role, blocks and time. nullopt if that is
// empty.
std::optional<std::string> detail_of(const Message& message);

// Its texts point into the rows from which it was read.
struct MessageRow {
  Seq seq;
  std::int64_t more = 0;  // the number of parts of the content in other rows
  Time created_at;
  std::string_view role;
  std::string_view content;
  std::optional<std::string_view> detail;
  std::size_t bytes() const { return role.size() + content.size() + (detail ? detail->size() : 0); }
};
MessageRow read_row(const RowView& row);

// The bytes of all rows.
std::string joined(const Rows& rows);
// Joins the parts of a long content in `content`. False if one is missing.
bool join_parts(MessageRow& row, const Rows& parts, std::string& content);

// Fills an empty message. False if the position or content cannot be read. `damage` is set then,
// and for invalid details.
bool read_message(const MessageRow& row, std::string_view location, Message& message,
                  std::optional<Damage>& damage);

enum class Part : std::uint8_t { head, row };

template <class Value>
constexpr Part part_of(const model::Field<SessionInfo, Value>& field) {
  const bool is_in_head = std::is_same_v<Value, SessionState> || std::is_same_v<Value, bool> ||
                          std::is_same_v<Value, Seq> || field.column == "updated_us" ||
                          field.column == "ahead_us";
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
  std::string insert_row;   // 3 the folded title
  std::string update_head;  // 3 folder, 4 and 5 the copies of title and mode
  std::string update_row;   // 3 the folded title
  std::string find;         // with the sums
  std::string verify;       // those after 2, up to 3
};
const SessionStatements& session_statements();

// The columns that read_info() reads from reprise_sessions AS s and reprise_heads AS h; and those
// of h that a subselect of heads must have.
const std::string& info_columns();
const std::string& head_columns();

}  // namespace reprise::postgres
