#pragma once

// A turn that is not in its session's file yet. Some formats hold whole turns only, as programs
// that do not know our lock write between a question and its answer, and a refused question must
// leave no trace. What is appended while an answer runs is then held beside the file, in the first
// line of the running answer's (partial_file.h), and goes into the file with the answer, in one
// piece:
//
//   {"answer":"NAME","session":"ID","first":SEQ,"turn":[{"operation","messages","end","begin"},…]}
//
// Readers see it behind what the file has. It is durable like the file. The first turn of a session
// that was begun brings that session along, which is not in the file either: as a file of the
// format that holds nothing else, in a member "begun".

#include "store/stored_session.h"

namespace reprise::store {

// One append.
struct PendingBatch {
  std::vector<Message> messages;
  AppendOptions options;  // operation, end_partial and begin_partial
};

struct PendingTurn {
  SessionId session;
  Seq first;  // of its first message, as it was acknowledged
  std::vector<PendingBatch> batches;
  std::string unsaved_session =
      {};  // the session that begins with it, as JSON; "" for one in the file

  bool says_something() const;
};

// nullopt where no turn is held for this session. corrupt when what is there cannot be read.
Result<std::optional<PendingTurn>> read_pending_turn(const std::filesystem::path& file,
                                                     const SessionId& session);
// The same for whatever session it is.
Result<std::optional<PendingTurn>> read_pending_turn(const std::filesystem::path& file);

// `answer` is the one that runs by now; its pieces stay, unless it has only just begun. Durable on
// disk.
Result<> write_pending_turn(const std::filesystem::path& file, const PendingTurn& turn,
                            const OperationId& answer, bool is_started);

// Its process died after the turn was written into the file, before it was removed.
bool is_in_file(const StoredSession& stored, const PendingTurn& turn);

// Puts the turn behind what the file has, unless it is in the file.
Result<> add_pending_turn(StoredSession& stored, const PendingTurn& turn);

}  // namespace reprise::store
