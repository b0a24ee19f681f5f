#pragma once

// What all stores share: limits, checks and errors; the rules of Store::append() and
// Rewriting::replace_suffix(); and blobs that are divided into pieces.

#include <cstdint>  // IWYU pragma: export
#include <utility>  // IWYU pragma: export

#include "reprise/capabilities.h"
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

// The artefact with a provider's raw response to a turn, including its headers.
inline constexpr std::string_view kResponseFile = "response.json";

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

// The rules of appending: whether it is allowed in the session's current state, the positions that
// a batch gets, and the keys of a database's table of completed operations.

// The state of the session before the batch.
struct AppendState {
  const SessionId& id;
  Seq head;
  std::optional<std::string_view> answer;  // the id of the running one; "" if it is unreadable
};

// conflict if the head is not the expected one, or if the answer to be ended is not running; busy
// if an answer would begin while another is running; invalid_argument for a position beyond the
// head; unsupported if the head would exceed kSeqMax; corrupt if it already does.
Result<> check_append(const AppendState& state, Seq from, std::size_t messages,
                      const AppendOptions& options);

// The positions of a batch of `messages` messages that begins at `first`.
AppendResult appended_at(Seq first, std::size_t messages);

// Keys in the table of completed operations: an operation, and a request whose usage was counted.
std::string once_name(const OperationId& operation);
std::string once_name_of_request(std::string_view request_id);

// The number of blobs with expired pins that one purge or put examines.
inline constexpr std::int64_t kBlobsCollectedMax = 64;

// The report about `count` unreferenced blobs in the store named `where`.
Remnant unreferenced_blobs(std::string where, std::int64_t count);

// Like Blobs::read_blob(). `find` returns the piece with the given number, from 0; nullopt after
// the last one.
using FindPiece = std::function<Result<std::optional<std::string>>(std::int64_t number)>;
Result<> read_blob(const BlobHash& hash, const FindPiece& find,
                   const std::function<Flow(std::string_view)>& sink);

}  // namespace reprise::store
