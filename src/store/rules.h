#pragma once

// Small rules about what may be stored, the same in every store.

#include "reprise/store.h"

namespace reprise::store {

// "no session ID", not_found.
Error no_session(const SessionId& id);
// "session ID exists already", conflict.
Error session_exists(const SessionId& id);
// "the answer NAME is not running in session ID", conflict.
Error answer_not_running(const SessionId& id, const OperationId& answer);

// invalid_argument.
Error not_in_trash(const SessionId& id);
// "NAME is open for reading only", unsupported.
Error read_only(std::string_view name);

// invalid_argument for a session that is created in the trash: only Trash puts one there.
Result<> check_new_session(const Session& session);

// conflict, naming them, for a session whose messages others share.
Result<> check_unshared(const SessionId& id, const std::vector<std::string>& sharing);

// invalid_argument for a place that is not in a session with this head.
Result<> check_fork(const SessionId& parent, Seq head, Seq at);

// Changes the fields that are set. invalid_argument, and nothing changed, for a state that update()
// cannot give, or a new state for a session in the trash.
Result<> apply_patch(Session& session, const SessionPatch& patch);

// For Archives where an archived session is a state. Whether there is anything to do: false for one
// that is archived already. invalid_argument for one in the trash, busy while an answer is running.
Result<bool> check_archive(const SessionInfo& info);
// The state it comes back to: closed when closed_at is known. invalid_argument when it is not
// archived.
Result<SessionState> state_unarchived(const SessionInfo& info);

// A relative path of at most 4,000 bytes: components of 1 to 255 bytes that are not "." or "..",
// with no NUL; the step not negative.
Result<> check_artefact(Step step, std::string_view name);

// The blobs that the blocks name, in their order.
std::vector<BlobHash> blobs_in(const std::vector<Block>& blocks);

// The part of the range that exists: 0 <= from <= to <= head.
struct Span {
  std::int64_t from;
  std::int64_t to;
};
Span clamp(const ReadRange& range, Seq head);

}  // namespace reprise::store
