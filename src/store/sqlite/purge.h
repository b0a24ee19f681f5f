#pragma once

// Removing a session for good, all at once or, where there is no room for that, a part at a time.
// All inside the caller's transactions.

#include "reprise/environment.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// With all that is its own: messages, blobs that nobody else names, what the original program has
// beside it.
Result<> delete_session(Connection& connection, const SessionId& id, Clock& clock);

// The same in steps of a few hundred kilobytes of the log, with secure_delete on. In between the
// session is in the trash and has lost its newest messages; it can be purged again.
class PurgeSteps {
 public:
  explicit PurgeSteps(SessionId id) : id_(std::move(id)) {}
  // First: to the trash.
  Result<> hide(Connection& connection, Clock& clock) const;
  // True while there is more; then delete_session() needs little room.
  Result<bool> step(Connection& connection);

 private:
  struct Rows {
    std::string table;
    std::string column;  // where it is large
    std::string which;   // ?1 is the session
  };
  Result<bool> delete_rows(Connection& connection, const Rows& rows);
  static constexpr std::int64_t kNoRow = -1;
  Result<> delete_row(Connection& connection, const Rows& rows, std::int64_t row);
  Result<bool> overwrite(Connection& connection, const Rows& rows, std::int64_t row,
                         std::int64_t bytes);

  SessionId id_;
  std::int64_t overwritten_row_ = kNoRow;  // of the table at hand, until it is deleted
  std::int64_t overwritten_ = 0;
};

}  // namespace reprise::sqlite
