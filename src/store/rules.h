#pragma once

// Limits, checks and errors that all stores share.

#include "reprise/store.h"

namespace reprise::store {

// The maximum number of damaged parts in a report.
inline constexpr std::size_t kDamageMax = 1000;
// The maximum length of damaged bytes in a report.
inline constexpr std::size_t kExcerptMax = 10'000;
inline std::string excerpt_of(std::string_view bytes) {
  return std::string(bytes.substr(0, kExcerptMax));
}

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

// invalid_argument for a new session in the state "trashed": only Trash moves sessions there.
Result<> check_new_session(const Session& session);

// conflict, naming the sharing sessions, if there are any.
Result<> check_unshared(const SessionId& id, const std::vector<std::string>& sharing);

// invalid_argument for a position beyond the parent's head.
Result<> check_fork(const SessionId& parent, Seq head, Seq at);

// Assigns the fields that are set in the patch. invalid_argument, with nothing changed, for a state
// that update() cannot set, or for any change of state of a session in the trash.
Result<> apply_patch(Session& session, const SessionPatch& patch);

// For Archives in stores where archived is a state. Whether there is anything to do: false for a
// session that is already archived. invalid_argument for one in the trash, busy while an answer is
// running.
Result<bool> check_archive(const SessionInfo& info);
// The state after unarchiving: closed if closed_at is set. invalid_argument if the session is not
// archived.
Result<SessionState> state_unarchived(const SessionInfo& info);

// invalid_argument unless `name` is a relative path of at most 4,000 bytes, with components of 1 to
// 255 bytes that are not "." or ".." and contain no NUL, and the step is not negative.
Result<> check_artefact(Step step, std::string_view name);

// The blobs referenced by the blocks, in order.
std::vector<BlobHash> blobs_in(const std::vector<Block>& blocks);

// Whether this can be a head: 0 to kSeqMax.
constexpr bool is_valid_head(Seq head) {
  return head.value >= 0 && head <= kSeqMax;
}
// Whether this can be the position of a message, after which the head is valid.
constexpr bool is_valid_position(Seq seq) {
  return seq.value >= 0 && seq < kSeqMax;
}
// "the head N is out of range", of damage.
std::string head_out_of_range(Seq head);
// "the position N is out of range", of damage.
std::string position_out_of_range(Seq seq);

// The existing part of a range: 0 <= from <= to <= head. An invalid head counts as the nearest
// valid one.
struct Span {
  std::int64_t from;
  std::int64_t to;
};
Span clamp(const ReadRange& range, Seq head);

}  // namespace reprise::store
