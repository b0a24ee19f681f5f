#pragma once

// Updates the index to the current state of a source.

#include <memory>  // IWYU pragma: export
#include <optional>
#include <set>

#include "reprise/search.h"       // IWYU pragma: export
#include "reprise/source.h"       // IWYU pragma: export
#include "search/document.h"      // IWYU pragma: export
#include "search/session_list.h"  // IWYU pragma: export

namespace reprise::search {

class Batch;

// The row of a source; 0 if there is none.
Result<std::int64_t> find_source(sqlite::Connection& db, std::string_view url);

// Whether more than the newest messages of the source is missing: the index was rebuilt, or a part
// with words of a purged session was dropped, and it has not been updated completely since.
Result<bool> lacks_parts(sqlite::Connection& db, std::string_view url);

// Whether the source is unchanged since it was completely indexed, as far as it can tell.
Result<bool> is_unchanged(sqlite::Connection& db, const SearchSource& source);

class IndexUpdate {
 public:
  // All must outlive this; the caller holds the lock.
  IndexUpdate(IndexFile& index, const SearchSource& source, const SearchIndexOptions& options);
  ~IndexUpdate();
  IndexUpdate(const IndexUpdate&) = delete;
  IndexUpdate& operator=(const IndexUpdate&) = delete;

  // False if it was stopped.
  Result<bool> run();

 private:
  struct Task {
    const Listed* session;
    Row row;
  };

  Batch& batch();
  SessionList& sessions();
  Result<> find_or_add_source();
  Result<SessionChanges> changes();
  Result<> load_all();
  Result<bool> has_pending();
  Result<> plan();
  Result<> plan_session(const Listed& session);
  Result<> index_pending();
  Result<> index_dropped(bool is_partial_list);
  Result<> index_sessions();
  Result<> index_session(Task& task);
  // False: the messages before `row.next` have changed.
  Result<bool> read_messages(const Task& task);
  Result<> add_session(const Listed& session, std::int64_t first);
  Result<> restart_session(Task& task);
  Flow take(const Task& task, Message&& message);
  bool report_progress();
  Result<> skip_unreadable(const SessionId& id, const Result<ReadReport>& read);
  void report(const Damage& damage);

  IndexFile& index_;
  Source& source_;
  std::string url_;
  const SearchIndexOptions& options_;
  std::int64_t source_row_ = 0;
  std::string position_;                 // see ChangeReader
  std::unique_ptr<Batch> batch_;         // set when the source has a row
  std::optional<SessionList> sessions_;  // likewise
  std::vector<Task> tasks_;
  Time last_time_ = {};
  Tail tail_;  // of the session that is being indexed
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  bool stopped_ = false;
  bool is_whole_ = true;            // nothing was unreadable
  std::set<std::string> reported_;  // each once, although it may be read for several reasons
  int failures_ = 0;                // that may have one cause
  Result<> failure_;                // of writing a batch while reading a session
};

}  // namespace reprise::search
