#pragma once

// libpq, loaded with dlopen() when the first PostgreSQL store is opened.

#include <libpq-fe.h>

#include "base/late_library.h"
#include "reprise/error.h"

namespace reprise::postgres {

struct LibpqLibrary : LateFunctions {
  Late<decltype(&PQconninfoParse)> conninfo_parse{*this, "PQconninfoParse"};
  Late<decltype(&PQconninfoFree)> conninfo_free{*this, "PQconninfoFree"};
  Late<decltype(&PQfreemem)> freemem{*this, "PQfreemem"};
  Late<decltype(&PQconnectStartParams)> connect_start{*this, "PQconnectStartParams"};
  Late<decltype(&PQconnectPoll)> connect_poll{*this, "PQconnectPoll"};
  Late<decltype(&PQsetErrorVerbosity)> set_error_verbosity{*this, "PQsetErrorVerbosity"};
  Late<decltype(&PQconnectionNeedsPassword)> needs_password{*this, "PQconnectionNeedsPassword"};
  Late<decltype(&PQuser)> user{*this, "PQuser"};
  Late<decltype(&PQfinish)> finish{*this, "PQfinish"};
  Late<decltype(&PQstatus)> status{*this, "PQstatus"};
  Late<decltype(&PQsocket)> socket{*this, "PQsocket"};
  Late<decltype(&PQerrorMessage)> error_message{*this, "PQerrorMessage"};
  Late<decltype(&PQtransactionStatus)> transaction_status{*this, "PQtransactionStatus"};
  Late<decltype(&PQsetnonblocking)> set_nonblocking{*this, "PQsetnonblocking"};
  Late<decltype(&PQsetNoticeReceiver)> set_notice_receiver{*this, "PQsetNoticeReceiver"};
  Late<decltype(&PQenterPipelineMode)> enter_pipeline{*this, "PQenterPipelineMode"};
  Late<decltype(&PQpipelineSync)> pipeline_sync{*this, "PQpipelineSync"};
  Late<decltype(&PQsendPrepare)> send_prepare{*this, "PQsendPrepare"};
  Late<decltype(&PQsendQueryPrepared)> send_prepared{*this, "PQsendQueryPrepared"};
  Late<decltype(&PQsendQueryParams)> send_query{*this, "PQsendQueryParams"};
  Late<decltype(&PQsetSingleRowMode)> single_row_mode{*this, "PQsetSingleRowMode"};
  Late<decltype(&PQflush)> flush{*this, "PQflush"};
  Late<decltype(&PQconsumeInput)> consume_input{*this, "PQconsumeInput"};
  Late<decltype(&PQisBusy)> is_busy{*this, "PQisBusy"};
  Late<decltype(&PQgetResult)> get_result{*this, "PQgetResult"};
  Late<decltype(&PQclear)> clear{*this, "PQclear"};
  Late<decltype(&PQresultStatus)> result_status{*this, "PQresultStatus"};
  Late<decltype(&PQresultErrorField)> error_field{*this, "PQresultErrorField"};
  Late<decltype(&PQntuples)> row_count{*this, "PQntuples"};
  Late<decltype(&PQnfields)> column_count{*this, "PQnfields"};
  Late<decltype(&PQfname)> column_name{*this, "PQfname"};
  Late<decltype(&PQgetisnull)> is_null{*this, "PQgetisnull"};
  Late<decltype(&PQgetvalue)> value{*this, "PQgetvalue"};
  Late<decltype(&PQgetlength)> length{*this, "PQgetlength"};
};

// Loaded by the first call; other threads wait for it. Remains loaded until the process ends.
// unsupported if it is not installed.
inline Result<const LibpqLibrary*> libpq_library() {
  static const auto loaded = load_late<LibpqLibrary>("libpq (package libpq5)", {"libpq.so.5"});
  return loaded;
}

}  // namespace reprise::postgres
