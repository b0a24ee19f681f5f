#pragma once

// A session: a stored conversation, with its patches and queries. Messages are not part of the
// value; they are read from the store in ranges, because a session may be larger than memory.

#include <cstddef>  // IWYU pragma: export
#include <limits>   // IWYU pragma: export

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise {

enum class SessionState : std::uint8_t { active, closed, archived, trashed };
std::string_view to_string(SessionState state);
std::optional<SessionState> parse_session_state(std::string_view text);

// How long a running answer belongs to its process without a renewal.
inline constexpr std::chrono::milliseconds kAnswerLease{30'000};

// The last renewal of a process's claim on a session. It is renewed every tenth of `length`.
struct Lease {
  Time renewed_at = {};                 // wall clock of its host
  std::chrono::microseconds uptime{0};  // of its host at that time (CLOCK_MONOTONIC)
  std::chrono::milliseconds length{0};  // 0: written before leases existed; renewed_at is the start
  friend bool operator==(const Lease&, const Lease&) = default;
};
// A lease that starts now.
Lease new_lease(std::chrono::milliseconds length = kAnswerLease);

// The process that is working on a session, distinguished from later ones with the same pid and
// from those of other containers.
struct Owner {
  std::string host;  // host name and boot id
  std::int64_t pid = 0;
  std::int64_t started = 0;        // clock ticks after boot, /proc/<pid>/stat field 22
  std::int64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0 when unknown
  Lease lease = {};
  friend bool operator==(const Owner&, const Owner&) = default;
};

Owner this_process(std::chrono::milliseconds lease = kAnswerLease);

enum class OwnerState : std::uint8_t {
  alive,
  // Its lease has expired, possibly by another machine's clock. It counts as gone if it is not
  // renewed during grace_period_for() either, which recover_interrupted() waits for.
  silent,
  gone,  // a process of this boot and PID namespace that has ended
};
// The current state of an owner. Within one boot leases are compared by uptime, else by the wall
// clocks of the hosts; a lease from the future means that these disagree: silent.
OwnerState state_of(const Owner& owner);
// The same as of `now`, a lease that starts at the time of the check.
OwnerState state_of(const Owner& owner, const Lease& now);
// A quarter of the lease's length: a live owner renews it more than once in that time.
std::chrono::milliseconds grace_period_for(const Lease& lease);

// The short id of a UUID: its first digits from the random end, which are the last group, then the
// groups before it. Ids that are not UUIDs are returned unchanged.
inline constexpr std::size_t kShortIdDigits = 8;
std::string short_id(const SessionId& id, std::size_t digits = kShortIdDigits);
// The short ids of all, extended where two would be equal.
std::vector<std::string> short_ids(const std::vector<SessionId>& ids);
// A pattern for the UUIDs whose short ids start with `beginning`, with `any` for all other digits.
// nullopt if there can be none.
std::optional<std::string> short_id_pattern(std::string_view beginning, char any);

struct ForkOrigin {
  SessionId session;
  Seq at;  // the fork shares the messages before this one
  friend bool operator==(const ForkOrigin&, const ForkOrigin&) = default;
};

// The members shown in a list.
struct SessionInfo {
  SessionId id;
  std::string title = {};
  std::string mode = {};
  SessionState state = SessionState::active;
  bool pinned = false;  // listed before the others
  std::string provider = {};
  std::string model = {};
  std::string working_dir = {};
  Seq head = {};  // the seq that the next message will get: the number of messages
  // False in a list of a source that has read only the ends of a large file: there are at least
  // `head` messages. find() counts them.
  bool is_head_known = true;
  Time created_at = {};
  Time updated_at = {};  // the last append
  // When that was stored here, if its time, from elsewhere, was still to come then.
  std::optional<Time> arrived_at = {};
  std::optional<Time> closed_at = {};
  std::optional<ForkOrigin> forked_from = {};
  std::optional<Owner> answering = {};  // of the running answer, or of one whose process died
  // The last answer is incomplete or missing, and none is running. Stores do not set it:
  // get_snapshot() (conversation.h) and mark_incomplete_answers() (sessions.h) do.
  bool incomplete = false;
  // In a list of another tool's history: changes whenever the session has changed, also without new
  // activity, and once more soon after a change. "" if unknown. Stores do not set it.
  std::string revision = {};
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};

// What lists are ordered by: the last append or its arrival here, whichever was earlier, so that a
// clock that is ahead makes no session the newest.
inline Time activity_of(const SessionInfo& info) {
  return info.arrived_at && *info.arrived_at < info.updated_at ? *info.arrived_at : info.updated_at;
}

// Active, but the last answer was interrupted: it is `incomplete`, or the answering process is
// gone, or its lease has expired.
bool is_interrupted(const SessionInfo& info);

// A response id stored beside the messages (a store without messages has only these).
struct ResponseLink {
  std::string provider = {};
  std::string response_id = {};
  friend bool operator==(const ResponseLink&, const ResponseLink&) = default;
};

// `usage` holds the sums over all requests, each counted once: without a request_id, and with
// price_source "mixed" when the costs came from several sources.
struct Session {
  SessionInfo info;
  std::string system_prompt = {};
  RawJson config = {};  // an object with the session's settings, or null
  Usage usage = {};
  std::vector<ResponseLink> response_chain = {};
  std::vector<std::string> prompt_history = {};  // newest first, at most 100
  Extra extra = {};
  friend bool operator==(const Session&, const Session&) = default;
};

// The changes of Store::update(): fields that are set. updated_at does not change, since a rename
// is not activity.
struct SessionPatch {
  std::optional<std::string> title = std::nullopt;
  std::optional<std::string> mode = std::nullopt;
  std::optional<std::string> provider = std::nullopt;
  std::optional<std::string> model = std::nullopt;
  std::optional<std::string> working_dir = std::nullopt;
  std::optional<std::string> system_prompt = std::nullopt;
  std::optional<RawJson> config = std::nullopt;
  // active or closed; others, and any change of a session in the trash, are invalid_argument.
  std::optional<SessionState> state = std::nullopt;
  std::optional<bool> pinned = std::nullopt;
  std::optional<std::optional<Time>> closed_at = std::nullopt;
  std::optional<Time> updated_at = std::nullopt;  // until the next append
  std::optional<std::vector<ResponseLink>> response_chain = std::nullopt;
  std::optional<std::vector<std::string>> prompt_history = std::nullopt;
  std::optional<Extra> extra = std::nullopt;
};

// A query for Store::list(): pinned sessions first, then the others, each by activity_of(): newest
// first, then id descending.
struct SessionQuery {
  std::optional<std::string> working_dir = std::nullopt;  // this folder, by any path to it
  std::optional<std::string> mode = std::nullopt;
  std::vector<SessionState> states = {SessionState::active, SessionState::closed};  // any of these
  std::string title_contains = {};  // in any case, with or without accents, as words in searches
  std::string id_prefix = {};
  std::string short_id_prefix = {};  // of UUIDs, in lower case
  // Sessions with a message of this author. unsupported unless SourceCapabilities::lists_by_author;
  // see list_by_author() in sessions.h.
  std::optional<Author> author = std::nullopt;
  bool answering_only = false;  // only those with a running or interrupted answer
  bool ungrouped = false;       // do not list pinned sessions first
  // For sources whose sessions are trees: include abandoned branches, as forks, and the sessions of
  // sub-agents.
  bool branches = false;
  bool children = false;   // include sub-agents' sessions without branches: cheaper
  std::string after = {};  // SessionPage::next of the previous page; "" for the first
  std::size_t limit = 50;  // 1 to kPageMax, or kAllSessions
};
inline constexpr std::size_t kPageMax = 1000;
// For sources with SourceCapabilities::lists_at_once.
inline constexpr std::size_t kAllSessions = std::numeric_limits<std::size_t>::max();

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
