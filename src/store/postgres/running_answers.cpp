#include "store/postgres/running_answers.h"

#include <algorithm>
#include <chrono>
#include <expected>
#include <iterator>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "reprise/error.h"
#include "store/postgres/connection.h"
#include "store/postgres/sessions.h"
#include "store/postgres/values.h"

namespace reprise::postgres {
namespace {

// A server syncs asynchronous commits after 3 x wal_writer_delay, at most 30 seconds.
constexpr std::chrono::seconds kUnsyncedMax{30};
// Per answer; the newest piece is kept however large it is.
constexpr std::size_t kBytesMax = std::size_t{4} << 20;
// Answers ended by another process are not reported, so they expire.
constexpr std::chrono::minutes kUnusedMax{10};

std::size_t bytes_in(const Piece& piece) {
  std::size_t bytes = 0;
  for (const std::string& body : piece.bodies) {
    bytes += body.size();
  }
  return bytes;
}

// Ids contain no slash.
std::string name_of(const Key& key, std::string_view answer) {
  return cat(key.tenant, "/", key.id.str(), "/", answer);
}

// At most 40 transactions per second.
constexpr std::chrono::milliseconds kGatherPause{25};
constexpr std::size_t kJobsMax = 256;
constexpr std::chrono::seconds kApart{5};

}  // namespace

RunningAnswers::Answer& RunningAnswers::answer_of(const Key& key, std::string_view answer) {
  std::string name = name_of(key, answer);
  const auto now = Clock::now();
  auto at = answers_.find(name);
  if (at == answers_.end()) {
    std::erase_if(answers_,
                  [now](const auto& entry) { return now - entry.second.used > kUnusedMax; });
    at = answers_.emplace(std::move(name), Answer{}).first;
  }
  at->second.used = now;
  return at->second;
}

std::int64_t RunningAnswers::last(const Key& key, std::string_view answer) {
  const std::lock_guard lock(mutex_);
  return answer_of(key, answer).last;
}

void RunningAnswers::add(const Key& key, std::string_view answer, Piece piece) {
  const std::lock_guard lock(mutex_);
  Answer& gathered = answer_of(key, answer);
  gathered.last = std::max(gathered.last, piece.n);
  gathered.bytes += bytes_in(piece);
  const auto now = Clock::now();
  gathered.pieces.push_back({std::move(piece), now});
  while (gathered.pieces.size() > 1 &&
         (gathered.bytes > kBytesMax || now - gathered.pieces.front().at > kUnsyncedMax)) {
    gathered.bytes -= bytes_in(gathered.pieces.front().piece);
    gathered.pieces.pop_front();
  }
}

std::vector<Piece> RunningAnswers::between(const Key& key, std::string_view answer,
                                           std::int64_t after, std::int64_t before) {
  const std::lock_guard lock(mutex_);
  std::vector<Piece> found;
  for (const Stored& stored : answer_of(key, answer).pieces) {
    if (stored.piece.n > after && stored.piece.n < before) {
      found.push_back(stored.piece);
    }
  }
  return found;
}

std::optional<std::string> RunningAnswers::start(const Key& key, std::string_view answer) {
  const std::lock_guard lock(mutex_);
  return answer_of(key, answer).start;
}

void RunningAnswers::set_start(const Key& key, std::string_view answer, std::string start) {
  const std::lock_guard lock(mutex_);
  answer_of(key, answer).start = std::move(start);
}

void RunningAnswers::forget(const Key& key, std::string_view answer) {
  const std::lock_guard lock(mutex_);
  answers_.erase(name_of(key, answer));
}

Result<std::vector<Rows>> GroupCommit::run(std::string_view order, std::vector<Query> queries,
                                           const Run& run_all) {
  if (is_excluded(order)) {
    return run_all(queries, Wait::full);
  }
  Job job{.order = std::string(order), .queries = std::move(queries)};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&job);
  while (!job.is_done) {
    if (is_running_ || waiting_.front() != &job) {
      job.changed.wait(lock);
      continue;
    }
    is_running_ = true;
    const Jobs batch = take_batch(lock);
    lock.unlock();
    run_batch(batch, run_all);
    lock.lock();
    is_running_ = false;
    for (Job* const waiting : batch) {
      waiting->is_done = true;
      waiting->changed.notify_one();
    }
    if (!waiting_.empty()) {
      waiting_.front()->changed.notify_one();
    }
  }
  lock.unlock();
  if (!job.is_undone) {
    return std::move(job.rows);
  }
  auto rows = run_all(job.queries, Wait::brief);
  if (!rows && rows.error().code == Code::busy) {
    exclude(order);
    return run_all(job.queries, Wait::full);
  }
  return rows;
}

bool GroupCommit::is_excluded(std::string_view order) {
  const std::lock_guard lock(mutex_);
  const auto found = excluded_until_.find(order);
  return found != excluded_until_.end() && Clock::now() < found->second;
}

void GroupCommit::exclude(std::string_view order) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(excluded_until_, [now](const auto& entry) { return entry.second <= now; });
  excluded_until_[std::string(order)] = now + kApart;
}

GroupCommit::Jobs GroupCommit::take_batch(std::unique_lock<std::mutex>& lock) {
  const auto next = started_at_ + kGatherPause;
  if (Clock::now() < next) {
    lock.unlock();
    std::this_thread::sleep_until(next);
    lock.lock();
  }
  started_at_ = Clock::now();
  const auto end = waiting_.begin() + std::min(std::ssize(waiting_), std::ptrdiff_t{kJobsMax});
  Jobs batch(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  std::ranges::stable_sort(batch, {}, &Job::order);
  return batch;
}

void GroupCommit::run_batch(const Jobs& batch, const Run& run_all) {
  std::vector<Query> queries;
  for (Job* const job : batch) {
    queries.insert(queries.end(), job->queries.begin(), job->queries.end());
  }
  Result<std::vector<Rows>> rows;
  try {
    rows = run_all(queries, batch.size() > 1 ? Wait::brief : Wait::full);
  } catch (...) {
    // Each writer runs alone, and gets its own exception.
    for (Job* const job : batch) {
      job->is_undone = true;
    }
    return;
  }
  if (!rows) {
    for (Job* const job : batch) {
      job->rows = std::unexpected(rows.error());
      job->is_undone = batch.size() > 1;
    }
    return;
  }
  if (rows->size() != queries.size()) {
    return;  // already done: returns no rows
  }
  auto next = std::make_move_iterator(rows->begin());
  for (Job* const job : batch) {
    const auto end = next + std::ssize(job->queries);
    job->rows->assign(next, end);
    next = end;
  }
}

}  // namespace reprise::postgres
