#pragma once

// The record of a session during a conversation. It isolates the conversation from its store, so
// that a failing store never stops a turn:
//  (1) Messages that cannot be stored are kept in memory, in order, and retried under the same
//      operation id before the next write.
//  (2) The first failure of a turn is reported as a warning; saved() is false from then on while
//      messages are unstored. With an outbox they are saved there meanwhile, which is reported,
//      too.
//  (3) One answer runs at a time: begin() waits for those of other threads and processes, and
//      settles a dead one's. The lease of our answer is renewed; if another process has settled it,
//      it is lost, and nothing more of it is stored. The outbox gets what was not stored by then;
//      without one the error says how much that is.
//  (4) A new session is stored with its first message, or by store_session().
//      If the store holds one session, and another process has begun that one meanwhile, the
//      conversation goes on in it.
//  (5) A store without messages gets the ids of the answers that end turns (ResponseLog),
//      and its session with the first of them, since it could not be continued before.
//  (6) A message that is not stored has no position. So whatever refers to one (retry, rewind,
//      fork) first stores what is pending (store_pending()), and is refused while that fails.

#include <atomic>   // IWYU pragma: export
#include <deque>    // IWYU pragma: export
#include <map>      // IWYU pragma: export
#include <mutex>    // IWYU pragma: export
#include <utility>  // IWYU pragma: export

#include "engine/history.h"        // IWYU pragma: export
#include "engine/lease.h"          // IWYU pragma: export
#include "engine/session_notes.h"  // IWYU pragma: export
#include "engine/turn_queue.h"     // IWYU pragma: export
#include "reprise/capabilities.h"  // IWYU pragma: export
#include "reprise/conversation.h"  // IWYU pragma: export
#include "reprise/store.h"         // IWYU pragma: export
#include "store/usage_sum.h"       // IWYU pragma: export

namespace reprise {

// Writes to a store without messages: the ids of the answers that end turns, in order, each one
// once. Failed writes are retried under the same operation id before the next one.
class ResponseLog {
 public:
  // `responses` must outlive it.
  explicit ResponseLog(Responses& responses) : responses_(responses) {}

  void add(const Message& answer, OperationId operation);
  // Stores pending answers; after an error some are still pending.
  Result<> flush(const Session& session);
  void clear() { pending_.clear(); }
  bool is_empty() const { return pending_.empty(); }

 private:
  Responses& responses_;
  std::deque<std::pair<Message, OperationId>> pending_;
};

// What is stored in one step.
struct RecordEntry {
  std::vector<Message> messages = {};
  bool begin_answer = false;  // starts a running answer afterwards; ends the previous one
  bool end_answer = false;
  std::optional<Seq> replace_from = std::nullopt;
};

class Record {
 public:
  // A null store keeps everything in memory, which is not a failure. All references must outlive
  // the record.
  Record(Store* store, Session session, const ConversationOptions& options,
         std::string_view provider);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // Starts a turn: stores what is pending; warnings go to `observer` until end_turn(). `refresh`
  // reads the current head of the stored session.
  void start_turn(TurnObserver& observer, bool refresh);
  // Suppresses warnings for the rest of this turn.
  void mute() { observer_ = nullptr; }
  // Ends the running answer if the turn did not, because a callback threw.
  void end_turn();

  // Stores the first entry of a turn, after waiting until no other answer is running. busy when the
  // bounded wait is over, cancelled when stopped; then nothing was stored, and nothing may be sent.
  // Other failures are not errors here.
  Result<> begin(RecordEntry entry, const std::stop_token& stop);

  // Stores the entry, or keeps it in memory. Returns the messages, with their seqs if they were
  // stored.
  std::vector<Message> add(RecordEntry entry);

  // Remembers the bytes of a blob that was put for a message of this turn, until that is stored:
  // if the store fails meanwhile, the outbox gets them, too.
  void record_blob(const BlobHash& hash, std::string_view bytes);

  // Drops everything from `to` on.
  void rewind_to(Seq to);

  // The current messages, for a view. Valid until the next add().
  HistorySlice slice() const;
  // Whether only the provider has the messages, and the store the ids of its responses.
  bool is_by_response() const { return responses_ != nullptr; }
  // Whether all messages of this conversation are available here: in a by-response one, those of
  // this run.
  bool has_all_messages() const;
  // Records the answer that ended a turn of a by-response conversation.
  void add_response(const Message& answer);
  // By-response only: moves the session to the trash and starts another one.
  void start_new_session();
  // Ends the turn without an answer. In stores with unanswered questions the session records that
  // the last one was refused; elsewhere the question that begin() stored is removed.
  void end_unanswered(bool refused);

  // Stores a new session that is not stored yet. These two may be called during a turn.
  // A session without a title may get one from `first`, its first message.
  Result<> store_session(const Message* first = nullptr);
  bool is_session_stored() const { return is_stored_; }

  bool saved() const {
    return saved_ && pending_.empty() && (responses_ == nullptr || responses_->is_empty());
  }
  // The messages that are in memory only, in order.
  std::vector<Message> unsaved_messages() const;
  bool has_pending() const { return !pending_.empty(); }
  // Stores what is pending. The store's error while something remains.
  Result<> store_pending();
  // Whether another process has settled the running answer. Reads the store if the lease may have
  // expired.
  bool check_lost() { return lease_ != nullptr && lease_->check_lost(); }
  Error lost_error() const { return lease_->error(lost_outcome_); }  // if check_lost()
  // conflict if it is lost.
  Result<> check_lease() { return check_lost() ? std::unexpected(lost_error()) : Result<>(); }
  std::stop_token lost() const { return lease_ ? lease_->lost() : std::stop_token(); }
  // The store rejected a piece of the running answer.
  void on_refused() { lease_->on_refused(); }
  void warn(std::string_view text);  // only the first one of a turn; that of a loss comes anyway
  const Session& session() const { return session_; }
  Session& session() { return session_; }
  Store* store() const { return store_; }
  // The id of the running answer, if the store supports running answers and has started it.
  std::optional<OperationId> answer() const;
  Rewriting* rewriting() const;

 private:
  struct Batch {
    std::vector<Message> messages;
    OperationId operation;
    std::optional<OperationId> end;
    std::optional<PartialStart> begin;
    std::optional<Seq> replace_from;
    std::size_t memory_at = 0;
    bool in_outbox = false;
  };

  static bool is_empty(const Batch& batch);
  Batch make_batch(RecordEntry entry);
  void add_to_memory(Batch& batch);
  std::size_t unstored_from() const;
  Result<AppendResult> write(const Batch& batch);
  Result<AppendResult> write_as(const Batch& batch, bool end, bool replace);
  void on_stored(const Batch& batch, const AppendResult& appended);
  void flush();
  void forget_stored();
  void begin_lease();
  Result<> take_place(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop);
  Result<> begin_in_store(Batch batch, std::chrono::steady_clock::time_point deadline,
                          const std::stop_token& stop);
  void drop_lost();
  std::string save_lost();
  std::string describe_lost();
  void on_failed(const Error& error);
  void keep_in_memory(Batch batch);
  void move_to_outbox();
  Result<> add_to_outbox(const Batch& batch, Seq after);
  Result<> wait_until_free(std::chrono::steady_clock::time_point deadline,
                           const std::stop_token& stop);
  bool look_again();
  void go_on_in(Session session, bool is_stored);
  bool is_ours(const OperationId& answer) const;
  void count_usage(const std::vector<Message>& messages);
  void withdraw_question();
  void record_refusal();
  void update_extra(std::string_view subject, const std::function<Extra(Extra)>& change);

  Store* store_;
  Store* messages_;  // store of the messages; null: in memory only
  Partials* partials_;
  std::optional<TurnPlace> place_;          // during a turn
  std::unique_ptr<LeaseRenewer> lease_;     // null until the first running answer
  std::unique_ptr<ResponseLog> responses_;  // null in stores with messages, and without a store
  Session session_;
  store::CountedRequests counted_requests_;  // in this process
  const ConversationOptions& options_;
  std::string provider_;
  TurnObserver* observer_ = nullptr;
  // What follows the stored part. Messages that were stored since have their seq; the others, from
  // unstored_from() on, do not.
  std::vector<Message> memory_;
  Seq stored_to_;
  std::mutex creating_;
  Session initial_;      // as it is stored if it is new; guarded by creating_
  bool may_be_another_;  // a new session of which nothing is stored
  std::atomic<bool> is_stored_;
  std::deque<Batch> pending_;
  std::map<BlobHash, std::string> blobs_;  // that messages not stored yet may name
  std::optional<OperationId> answer_;
  std::optional<Error> failure_;  // why something is pending
  std::string lost_outcome_;      // what happened to unstored messages of a lost answer
  bool saved_ = true;
  bool warned_ = false;                       // in this turn
  bool has_warned_of_loss_ = false;           // likewise
  bool uses_outbox_ = false;                  // the outbox has messages that are not in the store
  bool has_used_outbox_ = false;              // messages of this turn went to the outbox
  bool has_reported_outbox_ = false;          // in this turn
  bool has_reported_outbox_failure_ = false;  // likewise
  std::optional<Seq> question_at_;            // of this turn, in the store
};

}  // namespace reprise
