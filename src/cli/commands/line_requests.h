#pragma once

// The long-running form of `append`: requests, one per line, and their results. docs/append.md
// describes them.

#include <map>
#include <memory>

#include "cli/commands/line_request.h"  // IWYU pragma: export
#include "cli/program/context.h"
#include "reprise/search.h"
#include "reprise/store.h"

namespace reprise::cli {

class LineRequests {
 public:
  // Both must outlive it.
  LineRequests(Context& context, Store& store, std::stop_token stop)
      : context_(context), store_(store), stop_(std::move(stop)) {}

  // Carries out the request of a line. Returns a JSON document; what was changed is on disk.
  Result<std::string> answer(std::string_view line);

 private:
  struct Kind;
  static std::span<const Kind> kinds();

  Result<SessionInfo> selected(const LineRequest& request, bool changes);
  Result<std::string> session_result(const SessionId& id);

  Result<std::string> open(const LineRequest& request);
  Result<std::string> create(const LineRequest& request);
  Result<std::string> append(const LineRequest& request);
  Result<std::string> read(const LineRequest& request);
  Result<std::string> list(const LineRequest& request);
  Result<std::string> fork(const LineRequest& request);
  Result<std::string> rewind(const LineRequest& request);
  Result<std::string> search(const LineRequest& request);
  Result<std::string> todo(const LineRequest& request);

  Result<SearchQuery> search_query(const LineRequest& request);

  Context& context_;
  Store& store_;
  std::stop_token stop_;
  std::unique_ptr<SearchIndex> index_;  // opened by the first search
};

// Reads requests from standard input until its end or a stop, and prints the result of each line
// when it is done. Exit::failed if one of them failed.
Result<Exit> run_line_requests(Context& context);

}  // namespace reprise::cli
