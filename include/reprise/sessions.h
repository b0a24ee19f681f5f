#pragma once

// Operations on stored sessions: create and resume them, read their history, fork and rewind,
// remove, retain. The program's commands call these functions; a `Conversation` (conversation.h)
// then continues the session that they return.
//
// All functions may be called from any thread, concurrently as far as the store allows it. Changes
// are durable on disk when a function returns without an error, unless stated otherwise. Errors are
// the store's (see store.h) and those named here; after one, nothing has changed unless stated
// otherwise. unsupported if the store lacks a required capability.

#include <functional>
#include <stop_token>  // IWYU pragma: export

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "reprise/environment.h"   // IWYU pragma: export
#include "reprise/provider.h"      // IWYU pragma: export
#include "reprise/store.h"         // IWYU pragma: export

namespace reprise {

// ---- Creating and resuming

// Prepares a new session for a conversation that stores it with its first message
// (ConversationOptions::is_new). Its id is replaced if the store uses another kind of ids.
// unsupported when neither the store nor the provider would store the messages.
Result<> prepare_session(Store& store, const Provider& provider, Session& session,
                         Clock& clock = system_clock(), Entropy& entropy = system_entropy());

// The same, and stores the session at once, except in a store without messages. Survives a crash of
// the process at once, and a power cut from the first message on.
Result<> create_session(Store& store, const Provider& provider, Session& session,
                        Clock& clock = system_clock(), Entropy& entropy = system_entropy());

// unsupported when neither the store nor the provider stores the messages.
Result<> check_provider(const Store& store, const Provider& provider);

struct ResumeOptions {
  bool change = true;  // false: read only, none of the changes below
  // Accepts a session whose signature failed, as it is now; otherwise this is corrupt.
  bool accept_changed = false;
  Clock& clock = system_clock();
  std::stop_token stop = {};
};

struct ResumedSession {
  Session session;
  bool recovered = false;  // an answer whose process is gone became an incomplete message
};

// The session, ready to be continued: an answer whose process is gone is settled (which may take
// grace_period_for(), see session.h), a closed session becomes active. Does not return busy; the
// first turn does. not_found; invalid_argument for an archived session; corrupt for a failed
// signature; unsupported for a session whose messages are stored nowhere; cancelled.
Result<ResumedSession> resume_session(Store& store, const SessionId& id,
                                      const ResumeOptions& options = {});

// The session to continue by default: the only one of a store that holds one, or the current one of
// a store that has one; nullopt for other stores, and when there is none.
Result<std::optional<SessionId>> default_session(Store& store);

// Makes the session the current one, in stores that have one. With `archive` the previous one is
// archived if possible, and its id is returned. If only archiving failed, the session has become
// the current one all the same.
Result<std::optional<SessionId>> make_current(Store& store, const SessionId& id, bool archive,
                                              Clock& clock = system_clock());

// ---- History. A turn starts with a question (is_question() in message.h).

// The start of the last `turns` turns. invalid_argument when there are fewer, or for less than one.
Result<Seq> find_turn(Source& source, const SessionId& id, std::int64_t turns);

struct TurnSummary {
  Seq first;                  // of its question
  std::int64_t messages = 0;  // up to the next question
  std::string model = {};     // of the last answer
  Usage usage = {};           // each request counted once, however often its usage is stored
};
// Passes all turns in order, one at a time. Messages before the first question are a turn, too.
// Reads the whole history; returns its unreadable parts.
Result<std::vector<Damage>> read_turns(Source& source, const SessionId& id,
                                       const std::function<void(const TurnSummary&)>& sink);

// The last prompts, oldest first, at most `count`; only the last messages of a very long session
// are read.
Result<std::vector<std::string>> last_prompts(Source& source, const Session& session,
                                              std::size_t count);

struct Exchange {
  std::string question = {};  // "" when there is none
  std::string answer = {};    // "" when there is none
  bool incomplete = false;    // the answer is incomplete or missing: it can be continued
  bool running = false;       // the answer is still arriving, in any process
};
Result<Exchange> first_exchange(Source& source, const SessionId& id);
Result<Exchange> last_exchange(Source& source, const SessionId& id);

// ---- Fork and rewind

struct ForkRequest {
  SessionId parent;
  std::optional<Seq> at = std::nullopt;  // the messages before it are shared; default: all
  std::optional<std::string> title = std::nullopt;  // "TITLE (fork)" when absent
};

// Creates a session with the same messages before `at`, and returns its id. It appears with its
// messages or not at all, even if the process is killed. invalid_argument when `at` is beyond the
// head.
Result<SessionId> fork_session(Store& store, const ForkRequest& request,
                               Clock& clock = system_clock(), Entropy& entropy = system_entropy());

struct RewindResult {
  Seq head;                   // after the rewind
  std::int64_t messages = 0;  // that were removed from the session
};

// Removes the last `turns` turns from the session; the store retains the messages as described for
// Rewriting. conflict when the session is written to concurrently; else as find_turn().
Result<RewindResult> rewind_session(Store& store, const SessionId& id, std::int64_t turns);

// ---- What was replaced

// Messages that a retry, a rewind or another replacement took away.
struct ReplacedPart {
  Seq from;                   // the position of the first one
  std::int64_t messages = 0;  // in it
  Time time = {};             // of the last one
  std::string text = {};      // of the first one that has any
};
struct ReplacedParts {
  std::vector<ReplacedPart> parts = {};  // the last replacement first
  std::vector<Damage> damage = {};       // what could not be read
};
// Reads the whole history. unsupported for a store that does not retain what is replaced.
Result<ReplacedParts> list_replaced(Source& source, const SessionId& id);

// Brings the part at this index of list_replaced() back: a fork of the session as it was before
// that part was replaced. The session itself does not change. Returns the fork's id. not_found if
// there is no such part; corrupt, and no fork, if a part of it cannot be read; else as for
// fork_session(), except that in a store with Forking a process that is killed meanwhile may leave
// a fork without these messages.
Result<SessionId> restore_replaced(Store& store, const SessionId& id, std::size_t index,
                                   Clock& clock = system_clock(),
                                   Entropy& entropy = system_entropy());

// ---- Closing

// The title of a session that was interrupted before it had one.
inline constexpr std::string_view kInterruptedTitle = "Untitled (interrupted)";

struct ClosingTitleOptions {
  std::string model = {};        // that is asked for a title
  bool ask = true;               // false: use the first prompt instead of waiting for a model
  bool interrupted = false;      // the model is not asked then
  Exchange first_exchange = {};  // the first exchange, for stores without messages
  std::chrono::milliseconds wait_max{10'000};  // for the model
  std::function<void()> on_asking = {};        // called before the model is asked
  std::stop_token stop = {};
};

// Chooses the title of a session that ends: by the model, else from the first prompt. nullopt to
// keep the current one, which a person or a model chose, or when nothing was asked. Stores nothing.
Result<std::optional<std::string>> choose_closing_title(Store& store, const SessionId& id,
                                                        Provider& provider,
                                                        const ClosingTitleOptions& options);

// Removes a session without messages, title and todos. Returns whether it did; a session that
// cannot be read or removed remains.
bool discard_if_empty(Store& store, const SessionId& id, Clock& clock = system_clock());

// ---- Finding and removing

// Sets `incomplete` in the sessions of a page that are active and not being answered. Reads the
// last message of each that is not injected; what cannot be read is added to the page's damage.
void mark_incomplete_answers(Source& source, SessionPage& page);

// Source::list(), also by author where the source does not support that: then it reads session
// after session until the page is full.
Result<SessionPage> list_by_author(Source& source, const SessionQuery& query);

// All sessions that match a query, regardless of its limit, and what a list could not read, so that
// operations on all sessions can report what they left out.
struct FoundSessions {
  std::vector<SessionInfo> sessions = {};
  std::vector<Damage> damage = {};
};
Result<FoundSessions> find_all_sessions(Source& source, SessionQuery query = {});

// The sessions of all folders that were closed before then. Sessions without a closing time, or
// with one in the future, are left out.
Result<FoundSessions> find_closed_before(Source& source, Time before);

// Whether it is being answered, so that it must not be changed. If the owner is silent, calls
// `on_watching`, waits grace_period_for(), and settles the answer if its process is gone.
Result<bool> recover_answer(Store& store, const SessionInfo& info,
                            const std::function<void(const SessionInfo&)>& on_watching = {},
                            Clock& clock = system_clock());

enum class Removal : std::uint8_t {
  trash,  // Trash::trash(): hidden until it is restored
  purge,  // Trash::purge(): permanently
};

struct RemovedSessions {
  std::vector<SessionId> removed = {};
  std::vector<SessionInfo> answering = {};               // skipped
  std::vector<std::pair<SessionId, Error>> failed = {};  // unchanged
  Result<std::vector<Remnant>> remnants = {};            // that may still contain purged words
};

struct RemovalCallbacks {
  std::function<void(const SessionInfo&)> on_watching = {};  // as for recover_answer()
  ProgressSink on_progress = {};                             // sessions
};

// Removes these sessions one by one; one that is being answered or cannot be removed is skipped.
// unsupported for a store without a trash.
Result<RemovedSessions> remove_sessions(Store& store, std::span<const SessionInfo> sessions,
                                        Removal removal, const RemovalCallbacks& callbacks = {},
                                        Clock& clock = system_clock());

// ---- Retention

struct RetentionResult {
  std::size_t moved = 0;       // to the trash
  bool clock_jumped = false;   // nothing was moved because of its age
  std::optional<Error> error;  // why not all were moved
};

// Moves sessions closed more than `age` ago to the trash. A clock that leaps must not remove
// anything: the time is recorded in `state_folder` (created with 0700 when missing), and ages are
// trusted only if the time between two calls is plausible. Does nothing in a store without a trash.
RetentionResult apply_retention(Store& store, std::chrono::hours age,
                                const std::filesystem::path& state_folder,
                                Clock& clock = system_clock());

}  // namespace reprise
