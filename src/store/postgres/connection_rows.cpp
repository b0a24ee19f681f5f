// Rows that are taken one by one as they come.

#include <libpq-fe.h>

#include <optional>

#include "reprise/error.h"
#include "store/postgres/connection.h"
#include "store/postgres/libpq_library.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

Result<> Connection::begin_rows(const Query& query) {
  failure_ = {};
  error_.reset();
  REPRISE_TRY(send(query));
  if (libpq_.pipeline_sync(connection_) != 1) {
    return lose(Code::io, libpq_.error_message(connection_));
  }
  return flush();
}

Result<std::optional<Rows>> Connection::next_row() {
  while (!sent_.empty()) {
    const Sent sent = sent_.front();
    if (!sent.is_preparation) {
      // It says no once the first row has come, which is how it should be.
      libpq_.single_row_mode(connection_);
    }
    REPRISE_ASSIGN(PGresult* const result, next_result());
    if (result == nullptr) {
      sent_.erase(sent_.begin());
      continue;
    }
    Rows row(libpq_, result);
    const auto status = libpq_.result_status(result);
    if (sent.is_preparation && status == PGRES_COMMAND_OK) {
      prepared_.insert(sent.statement);
    }
    if (status == PGRES_SINGLE_TUPLE) {
      return row;
    }
  }
  REPRISE_ASSIGN(PGresult* const sync, next_result());
  libpq_.clear(sync);
  if (error_) {
    return refused();
  }
  return std::nullopt;
}

}  // namespace reprise::postgres
