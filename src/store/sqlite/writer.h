#pragma once

// All writes of one store: one connection, one transaction at a time, under the lock file. Writers
// that arrive while a commit is being synced share the next one (group commit): the first of them
// leads, runs the work of all, commits once and wakes the others.
//
//  (1) run() returns success only after the commit of its work has returned.
//  (2) Work that fails is undone alone; a commit that fails, fails for the whole group.
//  (3) Checkpoints are made only here, under the same lock, never beside a writer.

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "base/lock_file.h"
#include "reprise/store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Runs inside a transaction, possibly on the thread of another writer. An exception undoes the work
// like an error, and is rethrown by run() on the calling thread.
using Work = std::function<Result<>(Connection& connection)>;

// The lock file of the writers of the database `file`.
std::filesystem::path lock_path(const std::filesystem::path& file);

// Thread-safe.
class Writer {
 public:
  Writer(std::filesystem::path file, std::chrono::milliseconds busy_timeout);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Result<> run(Durability durability, const Work& work);
  // Runs `work` under the lock, outside of any transaction (to change the schema or the journal).
  Result<> run_exclusively(const Work& work);

  // Like Database::truncate_wal().
  Result<bool> truncate_wal(std::chrono::milliseconds timeout);

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    const Work* work;
    Durability durability;
    Clock::time_point deadline;
    bool alone;
    Result<> result = {};
    std::exception_ptr thrown = nullptr;
    bool done = false;
    bool leads = false;
    std::shared_ptr<std::condition_variable> wake = wake_of_this_thread();
  };
  using Group = std::vector<Job*>;

  static const std::shared_ptr<std::condition_variable>& wake_of_this_thread();
  Result<> submit(Job& job);
  void gather(std::unique_lock<std::mutex>& guard);
  void lead(Job& leader, std::unique_lock<std::mutex>& guard);
  void commit(const Group& group, const Job& leader, std::unique_lock<std::mutex>& guard);
  Group next_group();
  void fail_expired(const Group& group, const Job& leader, const Error& error);
  static void run_job(Job& job, Connection& connection);
  Result<> process(const Group& group);
  Result<> process_in_transaction(const Group& group);
  Result<Transaction> begin(Clock::time_point deadline);
  Result<> run_jobs(const Group& group);
  Result<Connection*> connection();
  Result<> connect();
  Result<> recover_wal();
  Result<> sync_wal_name();
  Result<LockFile::Hold> lock(Clock::time_point deadline);
  Result<> set_durability(Durability durability);
  bool log_is_of_large() const;
  void checkpoint_if_long();
  void begin_wal_sync();
  void disconnect();
  int checkpoint(int mode, std::chrono::milliseconds timeout = std::chrono::milliseconds(0));

  const std::filesystem::path file_;
  const std::chrono::milliseconds busy_timeout_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job*> queue_;         // guarded by mutex_
  bool has_leader_ = false;        // guarded by mutex_
  std::size_t expected_ = 1;       // guarded by mutex_: the estimated number of active writers
  Clock::duration last_commit_{};  // guarded by mutex_

  // Used only by the leader.
  std::unique_ptr<LockFile> lock_file_;
  std::unique_ptr<Connection> connection_;
  Fd log_;  // of that connection, open once it is needed
  Durability durability_ = Durability::disk;
  Clock::time_point impatient_until_{};  // waiting for another program's lock has failed
  bool wal_is_doubtful_ = false;
  bool log_has_name_ = false;  // the log's name is durable
  bool keeps_log_ = false;     // the file may be longer than its contents
  int large_pages_ = 0;        // pages in the log that large transactions added
  int longest_log_ = 0;        // in pages, since the file was truncated
  int checkpoint_at_;
};

}  // namespace reprise::sqlite
