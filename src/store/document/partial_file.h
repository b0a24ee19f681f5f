#pragma once

// The text of a running answer, in a file beside that of its session. It is appended in pieces,
// because rewriting the whole session for each one would cost too much. The session's own file
// records that the answer is running; pieces of other answers are left over from earlier ones.
//
// One JSON object per line: {"answer":"NAME","blocks":[…]}, or {"answer":"NAME","lease":{…}} when
// the answer's process has renewed its lease; the last lease counts. An incomplete line is ignored.
//
// Some formats hold whole turns only, because programs that ignore our lock may write between a
// question and its answer, and a refused question must leave no trace. Messages appended while an
// answer runs are then a pending turn: they are held in the first line of this file, and are
// written to the session's file together with the answer:
//
//   {"answer":"NAME","session":"ID","first":SEQ,"turn":[{"operation","messages","end","begin"},…]}
//
// Readers see the turn after the messages of the session's file. It is as durable as the file. The
// first turn of a new session also contains that session, which is not in its file either: as a
// document of the format with only this session, in a member "begun".

#include <filesystem>
#include <span>

#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "store/stored_session.h"

namespace reprise::store {

// Appends a piece, with Durability::os. Removes pieces of other answers.
Result<> add_partial(const std::filesystem::path& file, const OperationId& answer,
                     std::span<const Block> delta);

// The same for the lease of this answer.
Result<> add_lease(const std::filesystem::path& file, const OperationId& answer,
                   const Lease& lease);

// The latest renewal; nullopt if there was none.
Result<std::optional<Lease>> read_lease(const std::filesystem::path& file,
                                        const OperationId& answer);

// The text so far; empty if the file does not exist.
Result<std::vector<Block>> read_partial(const std::filesystem::path& file,
                                        const OperationId& answer);

// One append of a pending turn.
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
