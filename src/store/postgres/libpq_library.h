#pragma once

// libpq, loaded with dlopen() when the first PostgreSQL store is opened.

#include <libpq-fe.h>

#include "base/dynamic_library.h"
#include "reprise/error.h"

namespace reprise::postgres {

struct LibpqLibrary : LibraryFunctions {
  LazyFunction<decltype(&PQconninfoParse)> conninfo_parse{*this, "PQconninfoParse"};
  LazyFunction<decltype(&PQconninfoFree)> conninfo_free{*this, "PQconninfoFree"};
  LazyFunction<decltype(&PQfreemem)> freemem{*this, "PQfreemem"};
  LazyFunction<decltype(&PQconnectStartParams)> connect_start{*this, "PQconnectStartParams"};
  LazyFunction<decltype(&PQconnectPoll)> connect_poll{*this, "PQconnectPoll"};
  LazyFunction<decltype(&PQsetErrorVerbosity)> set_error_verbosity{*this, "PQsetErrorVerbosity"};
  LazyFunction<decltype(&PQconnectionNeedsPassword)> needs_password{*this,
                                                                    "PQconnectionNeedsPassword"};
  LazyFunction<decltype(&PQuser)> user{*this, "PQuser"};
  LazyFunction<decltype(&PQfinish)> finish{*this, "PQfinish"};
  LazyFunction<decltype(&PQstatus)> status{*this, "PQstatus"};
  LazyFunction<decltype(&PQsocket)> socket{*this, "PQsocket"};
  LazyFunction<decltype(&PQerrorMessage)> error_message{*this, "PQerrorMessage"};
  LazyFunction<decltype(&PQtransactionStatus)> transaction_status{*this, "PQtransactionStatus"};
  LazyFunction<decltype(&PQsetnonblocking)> set_nonblocking{*this, "PQsetnonblocking"};
  LazyFunction<decltype(&PQsetNoticeReceiver)> set_notice_receiver{*this, "PQsetNoticeReceiver"};
  LazyFunction<decltype(&PQenterPipelineMode)> enter_pipeline{*this, "PQenterPipelineMode"};
  LazyFunction<decltype(&PQpipelineSync)> pipeline_sync{*this, "PQpipelineSync"};
  LazyFunction<decltype(&PQsendPrepare)> send_prepare{*this, "PQsendPrepare"};
  LazyFunction<decltype(&PQsendQueryPrepared)> send_prepared{*this, "PQsendQueryPrepared"};
  LazyFunction<decltype(&PQsendQueryParams)> send_query{*this, "PQsendQueryParams"};
  LazyFunction<decltype(&PQsetSingleRowMode)> single_row_mode{*this, "PQsetSingleRowMode"};
  LazyFunction<decltype(&PQflush)> flush{*this, "PQflush"};
  LazyFunction<decltype(&PQconsumeInput)> consume_input{*this, "PQconsumeInput"};
  LazyFunction<decltype(&PQisBusy)> is_busy{*this, "PQisBusy"};
  LazyFunction<decltype(&PQgetResult)> get_result{*this, "PQgetResult"};
  LazyFunction<decltype(&PQclear)> clear{*this, "PQclear"};
  LazyFunction<decltype(&PQresultStatus)> result_status{*this, "PQresultStatus"};
  LazyFunction<decltype(&PQresultErrorField)> error_field{*this, "PQresultErrorField"};
  LazyFunction<decltype(&PQntuples)> row_count{*this, "PQntuples"};
  LazyFunction<decltype(&PQnfields)> column_count{*this, "PQnfields"};
  LazyFunction<decltype(&PQfname)> column_name{*this, "PQfname"};
  LazyFunction<decltype(&PQgetisnull)> is_null{*this, "PQgetisnull"};
  LazyFunction<decltype(&PQgetvalue)> value{*this, "PQgetvalue"};
  LazyFunction<decltype(&PQgetlength)> length{*this, "PQgetlength"};
};

// Loaded by the first call; other threads wait for it. Remains loaded until the process ends.
// unsupported if it is not installed.
inline Result<const LibpqLibrary*> libpq_library() {
  static const auto loaded = load_library<LibpqLibrary>("libpq (package libpq5)", {"libpq.so.5"});
  return loaded;
}

}  // namespace reprise::postgres
