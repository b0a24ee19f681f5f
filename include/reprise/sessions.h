#pragma once

// What a person or a program does with stored sessions: begin and resume them, read their history,
// fork and rewind, remove, retain. The program's commands are these functions; a `Conversation`
// (conversation.h) then talks in the session that they return.
//
// All functions may be called from any thread; several at once as far as the store allows it. What
// returns without an error is durable on disk, unless said otherwise. Errors are the store's (see
// store.h) and those named here; after one, nothing has changed unless said otherwise. Where
// a function needs what this store cannot do, the error is unsupported.

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "reprise/environment.h"   // IWYU pragma: export
#include "reprise/open_store.h"    // IWYU pragma: export
#include "reprise/provider.h"      // IWYU pragma: export

namespace reprise {

// ---- Beginning and resuming

// Stores a new session, which gets an id of another kind where the store gives out another kind.
// A store without words has it from its first answer on, and nothing is stored before. Survives the
// process at once, and a power cut from the first message on. unsupported when nobody would keep
// the words: neither the store nor the provider.
Result<> create_session(Store& store, const Provider& provider, Session& session,
                        Clock& clock = system_clock(), Entropy& entropy = system_entropy());

// unsupported when neither the store nor the provider keeps the words.
Result<> check_provider(const Store& store, const Provider& provider);

struct ResumeOptions {
  bool change = true;  // false: looks only; nothing below happens
  // Goes on with a session whose signature failed, as it is now; corrupt without it.
  bool accept_changed = false;
  Clock& clock = system_clock();
  std::stop_token stop = {};
};

struct ResumedSession {
  Session session;
  bool cut = false;  // an answer whose process is gone has become an incomplete message
};

// The session, ready to be gone on with: an answer whose process is gone is settled (which may take
// patience_for(), see owner rules in session.h), a closed session is active again. busy is not told
// here but by the first turn. not_found; corrupt for a signature that failed; unsupported for one
// whose words nobody has; cancelled.
Result<ResumedSession> resume_session(Store& store, const SessionId& id,
                                      const ResumeOptions& options = {});

// The session to go on with when nobody says otherwise: the only one of a store that holds one, the
// current one of a store that has such a thing; nullopt for others, and where there is none.
Result<std::optional<SessionId>> usual_session(Store& store);

// Makes the session the current one, where there is such a thing. With `archive` the one before is
// archived where that can be done: its id is returned. After an error about the archive the session
// is the current one all the same.
Result<std::optional<SessionId>> make_current(Store& store, const SessionId& id, bool archive,
                                              Clock& clock = system_clock());

// ---- History. A turn begins with a question (is_question() in message.h).

// Where the last `turns` turns begin. invalid_argument when there are fewer, or for less than one.
Result<Seq> find_turn(Source& source, const SessionId& id, std::int64_t turns);

struct TurnSummary {
  Seq first;                  // where its question stands
  std::int64_t messages = 0;  // up to the next question
  std::string model = {};     // that answered last
  Usage usage = {};           // each request once, however often its usage is stored
};
struct TurnList {
  std::vector<TurnSummary> turns = {};
  std::vector<Damage> damage = {};  // what could not be read of them
};
// All of them. What stands before the first question is a turn, too. Costs the whole history.
Result<TurnList> list_turns(Source& source, const SessionId& id);

// The last prompts, oldest first, at most `count`; only the last messages of a very long session
// are looked at.
Result<std::vector<std::string>> last_prompts(Source& source, const Session& session,
                                              std::size_t count);

struct Exchange {
  std::string question = {};  // "" when there is none
  std::string answer = {};    // "" when there is none
  bool cut = false;           // the answer is incomplete or missing: it can be continued
  bool running = false;       // the answer is coming, in this process or another one
};
Result<Exchange> first_exchange(Source& source, const SessionId& id);
Result<Exchange> last_exchange(Source& source, const SessionId& id);

// ---- Fork and rewind

struct ForkRequest {
  SessionId parent;
  std::optional<Seq> at = std::nullopt;             // the messages before it are shared; all
  std::optional<std::string> title = std::nullopt;  // "TITLE (fork)" when absent
};

// Another session with the same beginning, whose id is returned. It appears with its messages or
// not at all, also where the process is killed meanwhile. invalid_argument when `at` is beyond the
// head.
Result<SessionId> fork_session(Store& store, const ForkRequest& request,
                               Clock& clock = system_clock(), Entropy& entropy = system_entropy());

struct Rewound {
  Seq head;                   // what is left
  std::int64_t messages = 0;  // that were taken back
};

// Takes back the last `turns` turns; the messages stay in the store as Rewriting keeps them.
// conflict when somebody else writes meanwhile, else as find_turn().
Result<Rewound> rewind_session(Store& store, const SessionId& id, std::int64_t turns);

// ---- Closing

// The title that stands for one that was interrupted before it had any.
inline constexpr std::string_view kInterruptedTitle = "Untitled (interrupted)";

struct ClosingTitleOptions {
  std::string model = {};    // to ask for a title
  bool ask = true;           // false: the first prompt is the title, and nobody waits for a model
  bool interrupted = false;  // nobody is asked then
  Exchange first_turn = {};  // what the conversation began with, for stores without words
  std::chrono::milliseconds wait_max{10'000};  // for the model
  std::function<void()> on_asking = {};        // the model is about to be asked
  std::stop_token stop = {};
};

// The title to give to a session that ends: by the model, else its first prompt. nullopt to leave
// the one that it has: a person or a model chose it, or nothing was asked. Stores nothing.
Result<std::optional<std::string>> choose_closing_title(Store& store, const SessionId& id,
                                                        Provider& provider,
                                                        const ClosingTitleOptions& options);

// Removes a session in which there is nothing: no message, title or todo. Whether it did; a session
// that cannot be read or removed stays.
bool discard_if_empty(Store& store, const SessionId& id, Clock& clock = system_clock());

// ---- Finding and removing

// Says which sessions of a page are `cut`: of active ones that nobody answers. Looks at the last
// message of each; what cannot be read joins the page's damage.
void note_cut_answers(Source& source, SessionPage& page);

// Source::list(), also with an author where the source does not list by it: then it reads session
// after session until the page is full.
Result<SessionPage> list_by_author(Source& source, const SessionQuery& query);

// Every session that a query finds, whatever its limit, and what a list cannot read: who works on
// all sessions says which ones were left out.
struct FoundSessions {
  std::vector<SessionInfo> sessions = {};
  std::vector<Damage> damage = {};  // each part once
};
Result<FoundSessions> find_all_sessions(Source& source, SessionQuery query = {});

// The sessions, of all folders, that were closed before then. One closed at that very time stays,
// and so does one without a time, or with one that is yet to come.
Result<FoundSessions> find_closed_before(Source& source, Time before);

// Whether it is answering now: nothing is done to it then. An answer whose process is silent is
// watched for patience_for(), after `on_watching`, and settled when its process is gone.
Result<bool> is_answering(Store& store, const SessionInfo& info,
                          const std::function<void(const SessionInfo&)>& on_watching = {},
                          Clock& clock = system_clock());

enum class Removal : std::uint8_t {
  trash,  // Trash::trash(): hidden until it is restored
  purge,  // Trash::purge(): for good
};

struct RemovedSessions {
  std::vector<SessionId> removed = {};
  std::vector<SessionInfo> answering = {};               // left alone
  std::vector<std::pair<SessionId, Error>> failed = {};  // left as they are
  Result<std::vector<Remnant>> remnants = {};  // what may still hold words of the purged ones
};

struct RemovalWatch {
  std::function<void(const SessionInfo&)> on_watching = {};  // as for is_answering()
  ProgressSink on_progress = {};                             // sessions
};

// Removes these sessions one by one; one that is answering or cannot be removed is left, and the
// others go all the same. unsupported for a store without a trash.
Result<RemovedSessions> remove_sessions(Store& store, std::span<const SessionInfo> sessions,
                                        Removal how, const RemovalWatch& watch = {},
                                        Clock& clock = system_clock());

// ---- Retention

struct Retained {
  std::size_t moved = 0;       // to the trash
  bool clock_leapt = false;    // nothing is moved for its age then
  std::optional<Error> error;  // why not all were moved
};

// Moves what was closed more than `age` ago to the trash. A clock that leaps must not clear
// anything away: the time is remembered in `state_folder` (created 0700 when missing), and how long
// ago something was closed is believed only while the time that passes between two calls is
// plausible. Does nothing in a store without a trash.
Retained retain_sessions(Store& store, std::chrono::hours age,
                         const std::filesystem::path& state_folder, Clock& clock = system_clock());

}  // namespace reprise
