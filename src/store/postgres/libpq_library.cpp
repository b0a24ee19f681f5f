#include "store/postgres/libpq_library.h"

#include <memory>

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise::postgres {
namespace {

void bind_connecting(LateBinder& bind, LibpqLibrary& libpq) {
  bind(libpq.conninfo_parse, "PQconninfoParse");
  bind(libpq.conninfo_free, "PQconninfoFree");
  bind(libpq.freemem, "PQfreemem");
  bind(libpq.connect_start, "PQconnectStartParams");
  bind(libpq.connect_poll, "PQconnectPoll");
  bind(libpq.finish, "PQfinish");
  bind(libpq.status, "PQstatus");
  bind(libpq.socket, "PQsocket");
  bind(libpq.error_message, "PQerrorMessage");
  bind(libpq.transaction_status, "PQtransactionStatus");
  bind(libpq.set_nonblocking, "PQsetnonblocking");
  bind(libpq.set_notice_receiver, "PQsetNoticeReceiver");
  bind(libpq.enter_pipeline, "PQenterPipelineMode");
}

void bind_running(LateBinder& bind, LibpqLibrary& libpq) {
  bind(libpq.pipeline_sync, "PQpipelineSync");
  bind(libpq.send_prepare, "PQsendPrepare");
  bind(libpq.send_prepared, "PQsendQueryPrepared");
  bind(libpq.send_query, "PQsendQueryParams");
  bind(libpq.single_row_mode, "PQsetSingleRowMode");
  bind(libpq.flush, "PQflush");
  bind(libpq.consume_input, "PQconsumeInput");
  bind(libpq.is_busy, "PQisBusy");
  bind(libpq.get_result, "PQgetResult");
  bind(libpq.clear, "PQclear");
  bind(libpq.result_status, "PQresultStatus");
  bind(libpq.error_field, "PQresultErrorField");
  bind(libpq.row_count, "PQntuples");
  bind(libpq.column_count, "PQnfields");
  bind(libpq.column_name, "PQfname");
  bind(libpq.is_null, "PQgetisnull");
  bind(libpq.value, "PQgetvalue");
  bind(libpq.length, "PQgetlength");
}

Result<std::unique_ptr<LibpqLibrary>> load() {
  REPRISE_ASSIGN(const LateLibrary library,
                 LateLibrary::load("libpq (package libpq5)", {"libpq.so.5"}));
  auto libpq = std::make_unique<LibpqLibrary>();
  LateBinder bind(library);
  bind_connecting(bind, *libpq);
  bind_running(bind, *libpq);
  REPRISE_TRY(bind.outcome());
  return libpq;
}

}  // namespace

Result<const LibpqLibrary*> libpq_library() {
  // Never destroyed: a thread may still use it while the process ends.
  static const auto* const loaded = new Result<std::unique_ptr<LibpqLibrary>>(load());
  if (!*loaded) {
    return std::unexpected(loaded->error());
  }
  return loaded->value().get();
}

}  // namespace reprise::postgres
