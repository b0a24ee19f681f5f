#pragma once

// Deletes a session permanently, at once or, if there is not enough space, in steps. All functions
// run inside the caller's transactions.

#include "reprise/environment.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Deletes the session with everything that belongs to it, including its rows in the original
// program's tables. Its blobs are only released, for collect_blobs().
Result<> delete_session(Connection& connection, const SessionId& id, Clock& clock);

// The same in steps of a few hundred kilobytes of the log, with secure_delete, and with the blobs
// that only this session references and whose pins have expired. In between, the session is in the
// trash without its newest messages, and marked: it can be purged again, but not restored.
class PurgeSteps {
 public:
  PurgeSteps(SessionId id, Clock& clock) : id_(std::move(id)), clock_(clock) {}
  // The first step: moves the session to the trash, marked as partly removed.
  Result<> hide(Connection& connection);
  // True if there are more steps. After the last one, delete_session() needs little space.
  Result<bool> step(Connection& connection);

 private:
  struct Rows {
    std::string table;
    std::string column;     // the column with the large values
    std::string condition;  // a condition; ?1 is the session
  };
  Result<bool> delete_rows(Connection& connection, const Rows& rows);
  Result<bool> delete_small_rows(Connection& connection) const;
  Result<bool> delete_blob_references(Connection& connection);
  static Result<> free_overwritten(Connection& connection, const Rows& rows, std::int64_t row,
                                   std::int64_t bytes);
  static constexpr std::int64_t kNoRow = -1;
  Result<> delete_row(Connection& connection, const Rows& rows, std::int64_t row);
  Result<bool> overwrite(Connection& connection, const Rows& rows, std::int64_t row,
                         std::int64_t bytes);

  SessionId id_;
  Clock& clock_;
  std::int64_t overwritten_row_ = kNoRow;  // in the current table, until it is deleted
  std::int64_t overwritten_ = 0;
};

}  // namespace reprise::sqlite
