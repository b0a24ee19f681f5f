#pragma once

// Converts sessions and messages to rows and back.

#include "reprise/store.h"
#include "store/column_reader.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

// The maximum length of a value; longer ones are divided into several rows.
inline constexpr std::size_t kPieceMax = std::size_t{1} << 18;

inline std::int64_t microseconds_of(Time time) {
  return time.time_since_epoch().count();
}
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
InfoRow read_info(const RowView& row, std::string_view place);

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

// Fills an empty message. False if the position or content cannot be read. `damage` is set then,
// and for invalid details.
bool read_message(const MessageRow& row, std::string_view place, Message& message,
                  std::optional<Damage>& damage);

}  // namespace reprise::postgres
