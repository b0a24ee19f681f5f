#pragma once

// Rows as values. The column lists and the functions that read them belong together.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reprise/capabilities.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/schema.h"

namespace reprise::sqlite {

inline constexpr std::size_t kExcerptMax = 10'000;

inline std::int64_t microseconds_of(Time time) {
  return time.time_since_epoch().count();
}
// Which minute, about.
inline std::int64_t slot_of(Time time) {
  return microseconds_of(time) >> kSlotBits;
}
Time time_of(std::int64_t microseconds);
// nullopt outside the years 0 to 9999.
std::optional<Time> time_of_seconds(std::int64_t seconds);
// "YYYY-MM-DD HH:MM:SS", always as long.
std::string seconds_text(Time time);

// "FILE: TABLE row N"
std::string row_place(std::string_view file, std::string_view table, std::int64_t row);
std::string excerpt_of(std::string_view bytes);

// Of `sessions AS s LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0`.
inline constexpr std::string_view kInfoColumns =
    "s.id, s.title, s.mode, s.state, s.provider, s.model, s.working_dir, s.head, s.created_us,"
    " s.updated_us, s.closed_us, s.forked_from, s.forked_at, s.created_at, s.updated_at, s.rowid,"
    " a.body";
// What of the row is no good: an id that is not safe (there is no value then), times.
struct InfoRow {
  std::optional<SessionInfo> info;
  std::optional<Damage> damage;
};
InfoRow read_info(const Statement& row, std::string_view file);

// Results of tools are stored as the user's, as the original program looks for them; `state` says
// what they are.
std::string_view stored_role(const Message& message);
std::optional<std::string_view> stored_state(const Message& message);

inline constexpr std::string_view kMessageColumns =
    "id, seq, role, content, created_us, created_at, provider, model, response_id, usage, state,"
    " extra";
// Fills an empty message. False when the content cannot be read; there is damage then, and when a
// detail is bad.
bool read_message(const Statement& row, std::string_view file, Message& message,
                  std::optional<Damage>& damage);

}  // namespace reprise::sqlite
