// Statements in progress and their results.

#include <libpq-fe.h>

#include <optional>
#include <vector>

#include "base/assert.h"
#include "reprise/error.h"
#include "store/postgres/connection.h"
#include "store/postgres/libpq_library.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

Result<> Connection::begin(const Query& query) {
  if (sent_.empty()) {
    failure_ = {};
    error_.reset();
    not_replicated_ = false;
  }
  REPRISE_TRY(send_tenant());
  REPRISE_TRY(send(query));
  return begin_collecting();
}

Result<Rows> Connection::take() {
  std::vector<Rows> rows;
  for (bool goes_on = true; goes_on;) {
    REPRISE_ASSERT(!sent_.empty());  // begin() was called
    const Sent sent = sent_.front();
    goes_on = sent.is_preparation || sent.is_silent;
    REPRISE_TRY(collect(sent, rows));
    sent_.erase(sent_.begin());
  }
  REPRISE_TRY(end_round_trip());
  return std::move(rows.front());
}

Result<std::optional<Rows>> Connection::take_row() {
  while (!sent_.empty()) {
    const Sent sent = sent_.front();
    if (sent.is_preparation || sent.is_silent) {
      std::vector<Rows> none;
      REPRISE_TRY(collect(sent, none));
      sent_.erase(sent_.begin());
      continue;
    }
    // Fails after the first row has arrived, which is expected.
    libpq_.single_row_mode(connection_);
    REPRISE_ASSIGN(PGresult* const result, next_result());
    if (result == nullptr) {
      sent_.erase(sent_.begin());
      continue;
    }
    Rows row(libpq_, result);
    if (libpq_.result_status(result) == PGRES_SINGLE_TUPLE) {
      return row;
    }
  }
  REPRISE_TRY(end_round_trip());
  return std::nullopt;
}

}  // namespace reprise::postgres
