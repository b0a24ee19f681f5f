#pragma once

// A turn that is not in its session's file yet. Some formats hold whole turns only, because
// programs that ignore our lock may write between a question and its answer, and a refused question
// must leave no trace. Messages appended while an answer runs are then held beside the file, in the
// first line of the file of the running answer (partial_file.h), and are written to the session's
// file together with the answer:
//
//   {"answer":"NAME","session":"ID","first":SEQ,"turn":[{"operation","messages","end","begin"},…]}
//
// Readers see the turn after the messages of the file. It is as durable as the file. The first turn
// of a new session also contains that session, which is not in the file either: as a document of
// the format with only this session, in a member "begun".

#include "reprise/store.h"
#include "store/stored_session.h"

namespace reprise::store {

// One append.
struct PendingBatch {
  std::vector<Message> messages;
  AppendOptions options;  // operation, end_partial and begin_partial
};

struct PendingTurn {
  SessionId session;
  Seq first;  // of its first message, as acknowledged
  std::vector<PendingBatch> batches;
  std::string unsaved_session =
      {};  // a session that begins with this turn, as JSON; "" if it is in the file

  bool has_content() const;
};

// nullopt if there is no pending turn for this session. corrupt if it cannot be read.
Result<std::optional<PendingTurn>> read_pending_turn(const std::filesystem::path& file,
                                                     const SessionId& session);
// The same for any session.
Result<std::optional<PendingTurn>> read_pending_turn(const std::filesystem::path& file);

// `answer` is the running one; its pieces are preserved unless it has just started. Durable on
// disk.
Result<> write_pending_turn(const std::filesystem::path& file, const PendingTurn& turn,
                            const OperationId& answer, bool is_started);

// Whether the turn is already in the session's file, because its process died before removing it.
bool is_in_file(const StoredSession& stored, const PendingTurn& turn);

// Appends the turn to the messages of the file, unless it is in the file.
Result<> add_pending_turn(StoredSession& stored, const PendingTurn& turn);

}  // namespace reprise::store
