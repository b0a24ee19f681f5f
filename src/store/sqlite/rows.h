#pragma once

// Converts rows to values. The column lists and the functions that read them must match.

#include "reprise/capabilities.h"
#include "store/column_reader.h"  // IWYU pragma: export
#include "store/sqlite/connection.h"
#include "store/sqlite/schema.h"

namespace reprise::sqlite {

using store::excerpt_of;
using store::microseconds_of;
using store::time_of;

// The slot of a time, about a minute.
inline std::int64_t slot_of(Time time) {
  return microseconds_of(time) >> kSlotBits;
}
// nullopt outside the years 0 to 9999.
std::optional<Time> time_of_seconds(std::int64_t seconds);
// Input and output tokens, which the original program counts as one number.
std::int64_t tokens_of(const Usage& usage);
// "YYYY-MM-DD HH:MM:SS" with a fixed length, of the first time that is known, else of now: the
// original program requires one. Our own columns say that it is unknown.
std::string seconds_text(std::initializer_list<Time> times);

// "FILE: TABLE row N"
std::string row_location(std::string_view file, std::string_view table, std::int64_t row);

// The columns that read_info() reads from `sessions AS s LEFT JOIN reprise_answers AS a ON
// a.session_id = s.id AND a.n = 0`.
const std::string& info_select();
// A session row. `damage` is set for an unsafe id (then there is no `info`) and for invalid times.
struct InfoRow {
  std::optional<SessionInfo> info;
  std::optional<Damage> damage;
};
InfoRow read_info(const Statement& row, std::string_view file);

// The columns of a session's usage sums, each followed by `after` and separated by ", "; and the
// function that binds their values.
std::string usage_columns(std::string_view after = "");
void bind_usage(Statement& statement, const Usage& usage);

// Tool results are stored with the role of the user, as the original program expects; `state`
// identifies them.
std::string_view stored_role(const Message& message);
std::optional<std::string_view> stored_state(const Message& message);

// The columns that read_message() reads from `messages`.
const std::string& message_select();
// Fills an empty message. False if the position or content cannot be read. `damage` is set then,
// and for invalid details.
bool read_message(const Statement& row, std::string_view file, Message& message,
                  std::optional<Damage>& damage);

}  // namespace reprise::sqlite
