#pragma once

// The record of one session while it is talked in. It stands between the conversation and its
// store so that a store that fails never stops a turn:
//  (1) What cannot be stored stays in memory, in order, and is tried again, under the same
//      operation id, before the next thing is stored.
//  (2) The first failure of a turn is said as a warning; saved() is false from then on while
//      something is not stored. With an outbox it is kept there meanwhile, which is said, too.
//  (3) One answer runs at a time: begin() waits for another process's, and settles a dead one's.
//      While ours runs its lease is renewed; one that another process has settled is lost, and
//      nothing more of it is stored. The outbox takes what was not stored by then; without one the
//      error says how much that is.
//  (4) A store without messages gets the ids of the answers that end turns (record_responses.h),
//  and
//      its session with the first of them: until then nothing could be gone on with.

#include <deque>  // IWYU pragma: export

#include "engine/history.h"           // IWYU pragma: export
#include "engine/lease.h"             // IWYU pragma: export
#include "engine/record_responses.h"  // IWYU pragma: export
#include "engine/request_start.h"     // IWYU pragma: export
#include "reprise/capabilities.h"     // IWYU pragma: export
#include "reprise/conversation.h"     // IWYU pragma: export
#include "store/usage_sum.h"          // IWYU pragma: export

namespace reprise {

// What is stored in one step.
struct RecordEntry {
  std::vector<Message> messages = {};
  bool begin_answer = false;  // a running answer begins after it; the one before it ends
  bool end_answer = false;
  std::optional<Seq> replace_from = std::nullopt;
};

class Record {
 public:
  // A null store keeps everything in memory, and that is no failure. What is borrowed must outlive
  // the record.
  Record(Store* store, Session session, const ConversationOptions& options,
         std::string_view provider);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // A turn begins: warnings go to `observer` until end_turn(). `refresh` looks up how far the
  // stored record goes by now.
  void start_turn(TurnObserver& observer, bool refresh);
  // Nobody is warned any more in this turn.
  void mute() { observer_ = nullptr; }
  // Ends the running answer where the turn did not, which a callback's exception left.
  void end_turn();

  // The first entry of a turn: waits until no other answer is running. busy when it still is after
  // the bounded wait, cancelled when stopped; then nothing was stored. All else is no error here.
  Result<> begin(RecordEntry entry, const std::stop_token& stop);

  // Stores, or keeps in memory. Returns the messages, with their seqs when they were stored.
  std::vector<Message> add(RecordEntry entry);

  // The stored part before `to` alone counts from now on.
  void rewind_to(Seq to);

  // Everything that counts, for a view. Valid until the next add().
  HistorySlice slice() const;
  // Whether the provider alone has the messages, and the store the ids of its responses.
  bool is_by_response() const { return responses_ != nullptr; }
  // Whether all messages of this conversation are at hand: of one by response those of this run.
  bool has_all_messages() const;
  // The answer that ended a turn, for a conversation by response.
  void add_response(const Message& answer);
  // Of one by response: its session goes to the trash, and another one takes its place.
  void begin_anew();
  // The turn ends without an answer. Where unanswered questions are kept, the session notes that
  // the last one was refused; elsewhere the one that begin() stored is taken back.
  void end_unanswered(bool refused);

  // A request that begins there fitted where a longer one did not: the next turn begins there.
  void note_start(const RequestStart& start);

  bool saved() const {
    return saved_ && pending_.empty() && (responses_ == nullptr || responses_->is_empty());
  }
  bool has_pending() const { return !pending_.empty(); }
  // Another process has settled the running answer. Looked up when the lease may have run out.
  bool is_lost() { return lease_ != nullptr && lease_->is_lost(); }
  Error lost_error() const { return lease_->error(lost_outcome_); }  // only then
  // conflict when it is lost.
  Result<> check_lease() { return is_lost() ? std::unexpected(lost_error()) : Result<>(); }
  std::stop_token lost() const { return lease_ ? lease_->lost() : std::stop_token(); }
  // The store has refused a piece of the running answer.
  void refused() { lease_->refused(); }
  void warn(std::string_view text);  // the first one of a turn only
  const Session& session() const { return session_; }
  Session& session() { return session_; }
  Store* store() const { return store_; }
  // The running answer's name, when the store keeps running answers and has begun it.
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

  static bool is_nothing(const Batch& batch);
  Batch make_batch(RecordEntry entry);
  void remember(Batch& batch);
  Result<Appended> write(const Batch& batch);
  Result<Appended> write_as(const Batch& batch, bool end, bool replace);
  void done(const Batch& batch, const Appended& appended);
  void flush();
  void begin_lease();
  void drop_lost();
  std::string keep_lost();
  std::string describe_lost();
  void failed(const Error& error);
  void keep_without_store(Batch batch);
  void move_to_outbox();
  Result<> put_in_outbox(const Batch& batch, Seq after);
  Result<> wait_until_free(std::chrono::steady_clock::time_point deadline,
                           const std::stop_token& stop);
  bool is_ours(const OperationId& answer) const;
  std::optional<Partial> answer_of_another() const;
  void count_usage(const std::vector<Message>& messages);
  void take_back_question();
  void note_refusal();
  void note(std::string_view what, const std::function<Extra(Extra)>& change);

  Store* store_;
  Store* messages_;  // where they are stored; null: in memory only
  Partials* partials_;
  std::unique_ptr<LeaseKeeper> lease_;      // where running answers are kept, from the first one on
  std::unique_ptr<ResponseLog> responses_;  // null where messages are stored, and without a store
  Session session_;
  store::CountedRequests counted_requests_;  // in this process
  const ConversationOptions& options_;
  std::string provider_;
  TurnObserver* observer_ = nullptr;
  std::vector<Message> memory_;  // what follows the stored part, stored meanwhile or not
  Seq stored_to_;
  std::deque<Batch> pending_;
  std::optional<OperationId> answer_;
  std::string lost_outcome_;  // of what was not stored when the running answer was lost
  bool saved_ = true;
  bool warned_ = false;
  bool uses_outbox_ = false;                  // the outbox holds something that is not in the store
  bool has_spilled_ = false;                  // something of this turn went to the outbox
  bool has_reported_outbox_ = false;          // it is kept, in this turn
  bool has_reported_outbox_failure_ = false;  // likewise
  std::optional<Seq> question_at_;            // of this turn, in the store
};

}  // namespace reprise
