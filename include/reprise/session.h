#pragma once

// A session: a stored conversation, what changes it and what finds it. Messages are not part of the
// value; they are read from the store in ranges, because a session may be larger than memory.

#include <cstddef>  // IWYU pragma: export

#include "reprise/message.h"  // IWYU pragma: export

namespace reprise {

enum class SessionState : std::uint8_t { active, closed, archived, trashed };
std::string_view to_string(SessionState state);
std::optional<SessionState> parse_session_state(std::string_view text);

// How long an answer belongs to its process after the last sign of life.
inline constexpr std::chrono::milliseconds kAnswerLease{30'000};

// When a process renewed its claim on a session last. It does so every tenth of `length`.
struct Lease {
  Time renewed_at = {};                 // by the clock of its host
  std::chrono::microseconds uptime{0};  // of its host then (CLOCK_MONOTONIC)
  std::chrono::milliseconds length{0};  // 0: it came before leases; renewed_at is when it began
  friend bool operator==(const Lease&, const Lease&) = default;
};
// From now on.
Lease new_lease(std::chrono::milliseconds length = kAnswerLease);

// The process that is working on a session, told apart from a later one with the same pid and from
// one of another container.
struct Owner {
  std::string host;  // host name and boot id
  std::int64_t pid = 0;
  std::int64_t started = 0;        // clock ticks after boot, /proc/<pid>/stat field 22
  std::int64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0 when it is not known
  Lease lease = {};
  friend bool operator==(const Owner&, const Owner&) = default;
};

Owner this_process(std::chrono::milliseconds lease = kAnswerLease);

enum class OwnerState : std::uint8_t {
  alive,
  // Its lease has run out, by a clock that may not be ours. It is given up when it is not renewed
  // for patience_for() either while somebody watches; settle_interrupted() does so.
  silent,
  gone,  // it was a process of this boot and PID namespace, and has ended
};
// What is known of an owner now. Within one boot leases are compared by the time since it booted,
// else by the clocks of the hosts; a lease from the future says that these differ: silent.
OwnerState state_of(const Owner& owner);
OwnerState state_of(const Owner& owner, const Lease& now);  // the same with these clocks
// A quarter of the lease's length, in which an owner that lives renews it more than once.
std::chrono::milliseconds patience_for(const Lease& lease);

// The short id of a UUID: its first digits from the random end on, which is the last group, then
// the ones before it. Other ids are short ids as they are.
inline constexpr std::size_t kShortIdDigits = 8;
std::string short_id(const SessionId& id, std::size_t digits = kShortIdDigits);
// Of each of them, lengthened where two would be equal.
std::vector<std::string> short_ids(const std::vector<SessionId>& ids);
// What UUIDs look like whose short ids begin so, with `any` for the digits that do not matter.
// nullopt when no short id does.
std::optional<std::string> short_id_pattern(std::string_view beginning, char any);

struct ForkOrigin {
  SessionId session;
  Seq at;  // the fork shares the messages before this one
  friend bool operator==(const ForkOrigin&, const ForkOrigin&) = default;
};

// What a list shows.
struct SessionInfo {
  SessionId id;
  std::string title = {};
  std::string mode = {};
  SessionState state = SessionState::active;
  bool pinned = false;  // listed before the others
  std::string provider = {};
  std::string model = {};
  std::string working_dir = {};
  Seq head = {};  // the seq the next message will get: the number of messages
  // False in a list of a source that has looked at the ends of a large file only: there are `head`
  // messages at least. find() counts them.
  bool is_head_known = true;
  Time created_at = {};
  Time updated_at = {};  // the last append
  std::optional<Time> closed_at = {};
  std::optional<ForkOrigin> forked_from = {};
  std::optional<Owner> answering = {};  // whose answer is running now, or was when its process died
  // The last answer is incomplete or missing, and none is running. No store tells it: get_now()
  // (conversation.h) and note_cut_answers() (sessions.h) do.
  bool cut = false;
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};

// Active, but the last answer was cut: it is `cut`, or the process that was answering is gone, or
// its lease has run out.
bool is_interrupted(const SessionInfo& info);

// Response ids that stand beside the messages, not in them (a store without words has only these).
struct ResponseLink {
  std::string provider = {};
  std::string response_id = {};
  friend bool operator==(const ResponseLink&, const ResponseLink&) = default;
};

// `usage` holds the sums over all requests, each counted once: no request_id, and a price_source of
// "mixed" when the costs came from several.
struct Session {
  SessionInfo info;
  std::string system_prompt = {};
  RawJson config = {};  // an object of settings kept for this session, or null
  Usage usage = {};
  std::vector<ResponseLink> response_chain = {};
  std::vector<std::string> prompt_history = {};  // newest first, at most 100
  Extra extra = {};
  friend bool operator==(const Session&, const Session&) = default;
};

// What Store::update() changes: the fields that are set. updated_at is not touched: a rename is no
// activity.
struct SessionPatch {
  std::optional<std::string> title = std::nullopt;
  std::optional<std::string> mode = std::nullopt;
  std::optional<std::string> provider = std::nullopt;
  std::optional<std::string> model = std::nullopt;
  std::optional<std::string> working_dir = std::nullopt;
  std::optional<std::string> system_prompt = std::nullopt;
  std::optional<RawJson> config = std::nullopt;
  // active or closed, all else is invalid_argument; so is any for a session in the trash.
  std::optional<SessionState> state = std::nullopt;
  std::optional<bool> pinned = std::nullopt;
  std::optional<std::optional<Time>> closed_at = std::nullopt;
  std::optional<std::vector<ResponseLink>> response_chain = std::nullopt;
  std::optional<std::vector<std::string>> prompt_history = std::nullopt;
  std::optional<Extra> extra = std::nullopt;
};

// What Store::list() finds: pinned sessions first, then the others, each in the order of activity:
// newest updated_at first, then id descending.
struct SessionQuery {
  std::optional<std::string> working_dir = std::nullopt;  // exactly this folder
  std::optional<std::string> mode = std::nullopt;
  std::vector<SessionState> states = {SessionState::active, SessionState::closed};  // one of these
  std::string title_contains = {};  // ASCII letters match in either case
  std::string id_prefix = {};
  std::string short_id_prefix = {};  // of UUIDs, in small letters
  // With a message of this author. unsupported unless SourceCapabilities::lists_by_author; see
  // list_by_author() in sessions.h.
  std::optional<Author> author = std::nullopt;
  bool answering_only = false;  // only those with a running or interrupted answer
  bool ungrouped = false;       // in the order of activity, pinned or not
  // Of a source whose sessions are trees: also the branches that were left, as forks, and the
  // sessions of sub-agents.
  bool branches = false;
  bool children = false;   // the sessions of sub-agents without the branches: costs less
  std::string after = {};  // SessionPage::next of the page before; "" for the first
  std::size_t limit = 50;  // 1 to kPageMax
};
inline constexpr std::size_t kPageMax = 1000;

enum class TodoStatus : std::uint8_t { pending, in_progress, completed };
std::string_view to_string(TodoStatus status);
std::optional<TodoStatus> parse_todo_status(std::string_view text);

struct Todo {
  std::string content;
  TodoStatus status = TodoStatus::pending;
  std::string active_form;  // "Running tests" for "Run tests"; the content when empty
  Extra extra;
  friend bool operator==(const Todo&, const Todo&) = default;
};

std::string todos_to_json(const std::vector<Todo>& todos);
Result<std::vector<Todo>> todos_from_json(std::string_view json);

}  // namespace reprise
