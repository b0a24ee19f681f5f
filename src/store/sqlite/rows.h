#pragma once

// Rows as values. The column lists and the functions that read them belong together.

#include "reprise/capabilities.h"
#include "store/column_reader.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/schema.h"

namespace reprise::sqlite {

using store::excerpt_of;
using store::time_of;

inline std::int64_t microseconds_of(Time time) {
  return time.time_since_epoch().count();
}
// Which minute, about.
inline std::int64_t slot_of(Time time) {
  return microseconds_of(time) >> kSlotBits;
}
// nullopt outside the years 0 to 9999.
std::optional<Time> time_of_seconds(std::int64_t seconds);
// "YYYY-MM-DD HH:MM:SS", always as long.
std::string seconds_text(Time time);

// "FILE: TABLE row N"
std::string row_place(std::string_view file, std::string_view table, std::int64_t row);

// What read_info() reads of `sessions AS s LEFT JOIN reprise_answers AS a ON a.session_id = s.id
// AND a.n = 0`.
const std::string& info_select();
// What of the row is no good: an id that is not safe (there is no value then), times.
struct InfoRow {
  std::optional<SessionInfo> info;
  std::optional<Damage> damage;
};
InfoRow read_info(const Statement& row, std::string_view file);

// The columns of a session's sums, each with `after`, ", " between them; and what binds their
// values.
std::string usage_columns(std::string_view after = "");
void bind_usage(Statement& statement, const Usage& usage);

// Results of tools are stored as the user's, as the original program looks for them; `state` says
// what they are.
std::string_view stored_role(const Message& message);
std::optional<std::string_view> stored_state(const Message& message);

// What read_message() reads of `messages`.
const std::string& message_select();
// Fills an empty message. False when the content cannot be read; there is damage then, and when a
// detail is bad.
bool read_message(const Statement& row, std::string_view file, Message& message,
                  std::optional<Damage>& damage);

}  // namespace reprise::sqlite
