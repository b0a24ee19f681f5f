#include "store/sqlite/writer.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/assert.h"
#include "base/file.h"
#include "base/lock_file.h"
#include "base/reserve.h"
#include "base/text.h"
#include "reprise/store.h"
#include "store/call.h"
#include "store/paths.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/library.h"

namespace reprise::sqlite {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Like FULL with a log; without one, it also syncs the removal of the journal, so that an
// acknowledged commit cannot be rolled back.
constexpr const char* kSyncedCommits = "PRAGMA synchronous=EXTRA";
constexpr std::size_t kGroupMax = 512;
constexpr microseconds kGatherMax{200};
constexpr int kLogPagesMax = 1000;       // 4 MB: then the log is checkpointed
constexpr int kLogPagesRetained = 2000;  // a longer log file is truncated then
constexpr int kLogPagesLarge = 4000;     // the same if most of the log is of large transactions
constexpr int kLogPagesLargeRetained = kLogPagesLarge + kLogPagesMax;
constexpr int kLargePages = 64;      // of a large transaction, at least
constexpr int kLogPagesAtEnd = 256;  // what the last writer may leave in the log
constexpr std::uintmax_t kLogHeaderBytes = 32;
constexpr int kLogPagesToRetry = 500;  // after readers blocked a checkpoint

constexpr std::int64_t kReserve = std::int64_t{1} << 20;

// The process that created the log has also synced its folder.
bool has_commits(const std::filesystem::path& log) {
  std::error_code error;
  const auto size = std::filesystem::file_size(log, error);
  return !error && size > kLogHeaderBytes;
}

}  // namespace

std::filesystem::path lock_path(const std::filesystem::path& file) {
  std::filesystem::path path = file;
  path += "-lock";
  return path;
}

Writer::Writer(std::filesystem::path file, milliseconds busy_timeout)
    : file_(std::move(file)), busy_timeout_(busy_timeout), checkpoint_at_(kLogPagesMax) {}

Writer::~Writer() {
  if (connection_ && (keeps_log_ || connection_->wal_pages() >= kLogPagesAtEnd)) {
    if (const auto hold = lock(Clock::now()); hold) {
      checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
    }
  }
}

Result<> Writer::run(Durability durability, const Work& work) {
  Job job{&work, durability, Clock::now() + busy_timeout_, false};
  return submit(job);
}

Result<> Writer::run_exclusively(const Work& work) {
  Job job{&work, Durability::disk, Clock::now() + busy_timeout_, true};
  return submit(job);
}

Result<bool> Writer::truncate_wal(milliseconds timeout) {
  bool is_empty = false;
  const auto work = [&](Connection& connection) -> Result<> {
    const int code = checkpoint(SQLITE_CHECKPOINT_TRUNCATE, timeout);
    is_empty = code == SQLITE_OK;
    if (!is_empty) {
      // NOLINTNEXTLINE(hicpp-signed-bitwise): as SQLite defines its codes.
      return (code & 0xff) == SQLITE_BUSY ? Result<>() : std::unexpected(connection.error(code));
    }
    // SQLite does not sync after truncating the log: a power cut would restore its contents.
    REPRISE_ASSIGN(const auto log, if_exists(open_file(store::beside(file_, "-wal"), O_RDWR)));
    return log ? sync_file(log->get(), file_) : Result<>();
  };
  REPRISE_TRY(run_exclusively(work));
  return is_empty;
}

// Shared, so that it can be notified after its job is known to be done.
const std::shared_ptr<std::condition_variable>& Writer::wake_of_this_thread() {
  static thread_local const auto wake = std::make_shared<std::condition_variable>();
  return wake;
}

Result<> Writer::submit(Job& job) {
  std::unique_lock guard(mutex_);
  queue_.push_back(&job);
  if (queue_.size() >= expected_) {
    arrived_.notify_one();
  }
  if (has_leader_) {
    job.wake->wait(guard, [&job] { return job.done || job.leads; });
  }
  has_leader_ = has_leader_ || !job.done;
  while (!job.done) {
    gather(guard);
    lead(job, guard);
  }
  REPRISE_ASSERT(job.done);  // invariant (1)
  if (job.thrown) {
    std::rethrow_exception(job.thrown);
  }
  return std::move(job.result);
}

// Work may call code of others. An exception must not reach the other writers of the group, on one
// of whose threads it may run.
void Writer::run_job(Job& job, Connection& connection) {
  try {
    job.result = (*job.work)(connection);
  } catch (...) {
    job.thrown = std::current_exception();
    job.result = fail(Code::cancelled, "the work threw an exception");
  }
}

// The writers of the last group are likely to have the next work soon: a wait that is short
// compared with a commit makes one group of them instead of two.
void Writer::gather(std::unique_lock<std::mutex>& guard) {
  const auto timeout = std::min<Clock::duration>(kGatherMax, last_commit_ / 4);
  if (expected_ > 1 && timeout > Clock::duration::zero()) {
    arrived_.wait_for(guard, timeout, [this] { return queue_.size() >= expected_; });
  }
}

// Runs one group, from the lock to the commit. The mutex is held on entry and exit.
void Writer::lead(Job& leader, std::unique_lock<std::mutex>& guard) {
  REPRISE_ASSERT(has_leader_);  // it is this thread: no other uses the connection
  guard.unlock();
  auto hold = lock(leader.deadline);
  guard.lock();
  const Group group = next_group();
  if (!hold) {
    fail_expired(group, leader, hold.error());
  } else {
    commit(group, leader, guard);
  }
  if (!leader.done) {
    return;
  }
  has_leader_ = !queue_.empty();
  if (has_leader_) {
    queue_.front()->leads = true;
    queue_.front()->wake->notify_one();
  }
}

// The mutex is held on entry and exit, and the lock meanwhile.
void Writer::commit(const Group& group, const Job& leader, std::unique_lock<std::mutex>& guard) {
  guard.unlock();
  std::vector<std::shared_ptr<std::condition_variable>> wakes;
  for (const Job* job : group) {
    if (job != &leader) {
      wakes.push_back(job->wake);
    }
  }
  const auto begin = Clock::now();
  REPRISE_ASSERT(!group.empty());
  auto outcome = process(group);
  const auto end = Clock::now();
  guard.lock();
  for (Job* job : group) {
    if (!outcome && job->result) {
      job->result = std::unexpected(outcome.error());
    }
    job->done = true;
  }
  last_commit_ = end - begin;
  expected_ = std::min(group.size() + queue_.size(), kGroupMax);
  guard.unlock();
  for (const auto& wake : wakes) {  // woken threads need the mutex
    wake->notify_one();
  }
  if (connection_) {
    checkpoint_if_long();
    begin_wal_sync();
  }
  guard.lock();
}

// All waiting jobs, or one that runs alone.
Writer::Group Writer::next_group() {
  Group group;
  const bool is_large = log_is_of_large();
  while (!queue_.empty() && group.size() < kGroupMax) {
    Job* const next = queue_.front();
    // Without a sync to share, a group of large jobs costs more: each savepoint copies the pages
    // that its statements change.
    const bool runs_alone = next->alone || (is_large && next->durability == Durability::os);
    if (runs_alone && !group.empty()) {
      break;
    }
    queue_.pop_front();
    group.push_back(next);
    if (runs_alone) {
      break;
    }
  }
  return group;
}

// Called if the lock could not be taken: jobs past their deadline fail, the others continue to
// wait.
void Writer::fail_expired(const Group& group, const Job& leader, const Error& error) {
  const auto now = Clock::now();
  for (auto job = group.rbegin(); job != group.rend(); ++job) {
    if (*job == &leader || (*job)->deadline <= now || error.code != Code::busy) {
      (*job)->result = std::unexpected(error);
      (*job)->done = true;
      (*job)->wake->notify_one();
    } else {
      queue_.push_front(*job);
    }
  }
}

Result<LockFile::Hold> Writer::lock(Clock::time_point deadline) {
  const bool is_first = !lock_file_;
  if (is_first) {
    REPRISE_ASSIGN(lock_file_, LockFile::open(lock_path(file_)));
    allocate_reserve(lock_path(file_), kReserve);
  }
  auto hold = store::take_lock(*lock_file_, deadline);
  if (hold && is_first) {
    // Removes unfinished copies of the database left by processes that died.
    sweep_temporary_files(folder_of(file_), [name = file_.filename().native()](auto target) {
      return target == name || (target.starts_with(name + ".v") && target.ends_with(".bak"));
    });
  }
  return hold;
}

Result<Connection*> Writer::connection() {
  const bool is_new = !connection_ || connection_->has_moved();
  if (is_new) {
    disconnect();  // commits to a file that was removed or replaced would be lost
    REPRISE_ASSIGN(const bool exists, file_exists(file_));
    if (!exists) {
      return fail(Code::not_found,
                  cat(file_.string(), " was moved or removed while it was in use"));
    }
    REPRISE_TRY(connect());
    durability_ = Durability::disk;
    // Overwrites deleted content. Not the default in every build of SQLite.
    REPRISE_TRY(connection_->script("PRAGMA secure_delete=ON"));
  }
  REPRISE_TRY(recover_wal());
  if (is_new) {
    log_has_name_ = has_commits(store::beside(file_, "-wal"));
  }
  return connection_.get();
}

// The log is indexed in shared memory, unless a connection has the database for itself. So where
// there is none, the database leaves its log.
Result<> Writer::connect() {
  REPRISE_ASSIGN(connection_, Connection::open(file_, OpenMode::write, busy_timeout_));
  auto configured = connection_->script(kSyncedCommits);
  if (configured || !connection_->has_failed_to_map() || can_map(lock_path(file_))) {
    return configured;
  }
  connection_.reset();
  {
    REPRISE_ASSIGN(const auto alone,
                   Connection::open(file_, OpenMode::read_exclusive, busy_timeout_));
    REPRISE_TRY(alone->script("PRAGMA journal_mode=DELETE"));
  }
  REPRISE_ASSIGN(connection_, Connection::open(file_, OpenMode::write, busy_timeout_));
  return connection_->script(kSyncedCommits);
}

// SQLite syncs the folder when it creates a log, but ignores errors: then a commit could be lost
// after a power cut. In that case, the log is checkpointed into the database, whose name is
// durable.
Result<> Writer::sync_wal_name() {
  log_has_name_ = log_has_name_ || sync_folder(folder_of(file_));
  wal_is_doubtful_ |= !log_has_name_;
  return recover_wal();
}

// A commit whose sync failed may be in the log as if it had succeeded, but need not be on disk, and
// what is appended after it may be unreadable then: the log is checkpointed into the database,
// which is synced, before anything else is acknowledged.
Result<> Writer::recover_wal() {
  if (!wal_is_doubtful_) {
    return {};
  }
  const int code = sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr,
                                             SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return std::unexpected(connection_->error(code));
  }
  connection_->set_log_pages(0);
  wal_is_doubtful_ = false;
  return {};
}

Result<> Writer::process(const Group& group) {
  auto opened = connection();
  if (!opened) {
    disconnect();
    return std::unexpected(std::move(opened).error());
  }
  Result<> outcome;
  if (group.front()->alone) {
    run_job(*group.front(), **opened);
  } else {
    outcome = process_in_transaction(group);
  }
  const auto is_io = [](const Result<>& result) {
    return !result && result.error().code == Code::io;
  };
  if (is_io(outcome) || std::ranges::any_of(group, is_io, &Job::result)) {
    // This connection does not know the state of the file, and SQLite may have opened it for
    // reading only: open it again.
    disconnect();
  }
  return outcome;
}

// One connection serves both durabilities (its cache remains valid); switched between transactions.
Result<> Writer::set_durability(Durability durability) {
  if (durability == durability_) {
    return {};
  }
  REPRISE_TRY(connection_->script(durability == Durability::disk ? kSyncedCommits
                                                                 : "PRAGMA synchronous=NORMAL"));
  durability_ = durability;
  return {};
}

// Another program may hold a lock for long. One wait for it is enough: writes that follow one that
// has waited in vain fail at once.
Result<Transaction> Writer::begin(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
  const bool is_patient = Clock::now() >= impatient_until_;
  const bool waits = is_patient && left >= busy_timeout_ / 2;
  connection_->set_busy_timeout(is_patient ? std::max(left, milliseconds(0)) : milliseconds(0));
  auto transaction = Transaction::begin(*connection_);
  connection_->set_busy_timeout(busy_timeout_);
  if (transaction) {
    impatient_until_ = {};
  } else if (waits && transaction.error().code == Code::busy) {
    impatient_until_ = Clock::now() + busy_timeout_;
  }
  return transaction;
}

Result<> Writer::process_in_transaction(const Group& group) {
  REPRISE_ASSERT(std::ranges::none_of(group, &Job::alone));
  const bool to_disk = std::ranges::any_of(
      group, [](const Job* job) { return job->durability == Durability::disk; });
  REPRISE_TRY(set_durability(to_disk ? Durability::disk : Durability::os));
  REPRISE_ASSIGN(Transaction transaction,
                 begin(std::ranges::max(group, {}, &Job::deadline)->deadline));
  REPRISE_TRY(run_jobs(group));
  if (std::ranges::none_of(group, [](const Job* job) { return job->result.has_value(); })) {
    return {};
  }
  auto committed = transaction.commit();
  wal_is_doubtful_ |=
      !committed && sqlite3_extended_errcode(connection_->handle()) == SQLITE_IOERR_FSYNC;
  return committed && to_disk ? sync_wal_name() : committed;
}

Result<> Writer::run_jobs(const Group& group) {
  const bool alone = group.size() == 1;
  for (Job* job : group) {
    if (!alone) {
      REPRISE_TRY(connection_->run("SAVEPOINT one"));
    }
    run_job(*job, *connection_);
    if (!connection_->in_transaction()) {
      // SQLite rolled back the whole transaction, including the work of the others.
      return job->result ? fail(Code::io, "the transaction ended by itself")
                         : std::unexpected(job->result.error());
    }
    if (!alone) {
      if (!job->result) {
        REPRISE_TRY(connection_->run("ROLLBACK TO one"));
      }
      REPRISE_TRY(connection_->run("RELEASE one"));
    }
  }
  return {};
}

// Whether most of the log was added by large transactions, as in an import or a copy.
bool Writer::log_is_of_large() const {
  return connection_ && large_pages_ > connection_->wal_pages() / 2;
}

// Called after a group. A checkpoint syncs twice, so large transactions, which follow each other,
// share one.
void Writer::checkpoint_if_long() {
  int written = 0;
  int highest = 0;
  sqlite3_db_status(connection_->handle(), SQLITE_DBSTATUS_CACHE_WRITE, &written, &highest, 1);
  large_pages_ += written >= kLargePages && written < kLogPagesMax ? written : 0;
  const int pages = connection_->wal_pages();
  const bool is_large = log_is_of_large();
  if (pages < std::max(is_large ? kLogPagesLarge : kLogPagesMax, checkpoint_at_)) {
    return;
  }
  longest_log_ = std::max(longest_log_, pages);
  checkpoint(longest_log_ <= (is_large ? kLogPagesLargeRetained : kLogPagesRetained)
                 ? SQLITE_CHECKPOINT_RESTART
                 : SQLITE_CHECKPOINT_TRUNCATE);
}

// A checkpoint syncs the log first, and all writers wait for it.
void Writer::begin_wal_sync() {
  if (!log_is_of_large()) {
    return;
  }
  if (!log_.is_open()) {
    log_ = open_file(store::beside(file_, "-wal"), O_RDWR).value_or(Fd());
  }
  begin_sync(log_.get());
}

void Writer::disconnect() {
  connection_.reset();
  log_ = Fd();
}

// The lock is held. Readers only postpone a checkpoint. A log restarted in the same file
// (SQLITE_CHECKPOINT_RESTART) is written and synced faster than one that has to grow again. Returns
// SQLite's code.
int Writer::checkpoint(int mode, milliseconds timeout) {
  connection_->set_busy_timeout(timeout);
  const int code =
      sqlite3_wal_checkpoint_v2(connection_->handle(), nullptr, mode, nullptr, nullptr);
  connection_->set_busy_timeout(busy_timeout_);
  if (code == SQLITE_OK) {
    connection_->set_log_pages(0);
    large_pages_ = 0;
    keeps_log_ = mode == SQLITE_CHECKPOINT_RESTART;
    longest_log_ = keeps_log_ ? longest_log_ : 0;
    checkpoint_at_ = kLogPagesMax;
  } else {
    checkpoint_at_ = connection_->wal_pages() + kLogPagesToRetry;
  }
  return code;
}

}  // namespace reprise::sqlite
