#pragma once

// Sessions and messages as values: how they go into rows and come out of them.

#include "reprise/store.h"
#include "store/column_reader.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

// No value is longer: what is goes into several rows.
inline constexpr std::size_t kPieceMax = std::size_t{1} << 18;

inline std::int64_t microseconds_of(Time time) {
  return time.time_since_epoch().count();
}
using store::time_of;

std::int64_t state_number(SessionState state);
SessionState state_of(std::int64_t number);

// `bytes` in pieces of at most kPieceMax; one empty piece for none.
std::vector<std::string> pieces_of(std::string_view bytes);

// The text itself, or a hash of it when it is too long for an index.
Result<std::string> index_key(std::string_view text);

// Of info_columns().
struct InfoRow {
  std::optional<SessionInfo> info;  // none when the id is no good
  std::optional<Damage> damage;
};
InfoRow read_info(const RowView& row, std::string_view place);

// What of a message stands in `detail`: all but its role, blocks and time. nullopt when that is
// nothing.
std::optional<std::string> detail_of(const Message& message);

// Its texts lie in the rows that it was read from.
struct MessageRow {
  Seq seq;
  std::int64_t more = 0;  // parts of the content that stand elsewhere
  Time created_at;
  std::string_view role;
  std::string_view content;
  std::optional<std::string_view> detail;
  std::size_t bytes() const { return role.size() + content.size() + (detail ? detail->size() : 0); }
};
MessageRow read_row(const RowView& row);

// Fills an empty message. False when the content cannot be read; there is damage then, and when a
// detail is bad.
bool read_message(const MessageRow& row, std::string_view place, Message& message,
                  std::optional<Damage>& damage);

}  // namespace reprise::postgres
