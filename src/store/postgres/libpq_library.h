#pragma once

// libpq, loaded when the first PostgreSQL store is opened: nobody else pays for it.

#include <libpq-fe.h>

#include "reprise/error.h"

namespace reprise::postgres {

struct LibpqLibrary {
  decltype(&PQconninfoParse) conninfo_parse = nullptr;
  decltype(&PQconninfoFree) conninfo_free = nullptr;
  decltype(&PQfreemem) freemem = nullptr;
  decltype(&PQconnectStartParams) connect_start = nullptr;
  decltype(&PQconnectPoll) connect_poll = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQsocket) socket = nullptr;
  decltype(&PQerrorMessage) error_message = nullptr;
  decltype(&PQtransactionStatus) transaction_status = nullptr;
  decltype(&PQsetnonblocking) set_nonblocking = nullptr;
  decltype(&PQsetNoticeReceiver) set_notice_receiver = nullptr;
  decltype(&PQenterPipelineMode) enter_pipeline = nullptr;
  decltype(&PQpipelineSync) pipeline_sync = nullptr;
  decltype(&PQsendPrepare) send_prepare = nullptr;
  decltype(&PQsendQueryPrepared) send_prepared = nullptr;
  decltype(&PQsendQueryParams) send_query = nullptr;
  decltype(&PQsetSingleRowMode) single_row_mode = nullptr;
  decltype(&PQflush) flush = nullptr;
  decltype(&PQconsumeInput) consume_input = nullptr;
  decltype(&PQisBusy) is_busy = nullptr;
  decltype(&PQgetResult) get_result = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQresultErrorField) error_field = nullptr;
  decltype(&PQntuples) row_count = nullptr;
  decltype(&PQnfields) column_count = nullptr;
  decltype(&PQfname) column_name = nullptr;
  decltype(&PQgetisnull) is_null = nullptr;
  decltype(&PQgetvalue) value = nullptr;
  decltype(&PQgetlength) length = nullptr;
};

// Loaded by the first call, in whichever thread; others wait for it. Stays until the process ends.
// unsupported when it is not installed.
Result<const LibpqLibrary*> libpq_library();

}  // namespace reprise::postgres
