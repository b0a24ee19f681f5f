#pragma once

// Performs the effects of update() on its own thread and responds with events: opens, changes and
// closes sessions. While it exists, only it uses the Context, so that the screen never waits for a
// store or a provider.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "cli/app/effect.h"        // IWYU pragma: export
#include "cli/app/event.h"         // IWYU pragma: export
#include "cli/app/event_queue.h"   // IWYU pragma: export
#include "cli/app/live_session.h"  // IWYU pragma: export
#include "cli/program/context.h"   // IWYU pragma: export
#include "cli/program/search_files.h"
#include "cli/repl/resumable.h"
#include "cli/session/start_session.h"
#include "cli/settings/run_flags.h"
#include "reprise/search.h"  // IWYU pragma: export

namespace reprise::cli::app {

class SessionWorker {
 public:
  struct Parts {
    Context& context;
    EventQueue& events;
    RunFlags flags;
    std::filesystem::path mode_path;  // of the first session
    bool begin = false;               // --new: the first session is a new one, too
  };
  explicit SessionWorker(Parts parts);
  // Stops running operations and waits for them.
  ~SessionWorker();
  SessionWorker(const SessionWorker&) = delete;
  SessionWorker& operator=(const SessionWorker&) = delete;

  // Thread-safe; returns at once. Effects are performed in order, except those that stop or answer
  // something.
  void perform(Effect effect);

  // Whether running answers are stored as they arrive, so that they survive the process.
  bool stores_partials();

 private:
  // Shared, as a turn may be stopped while the worker closes the session.
  using Live = std::shared_ptr<LiveSession>;
  struct Performer;

  void work(const std::stop_token& over);
  void perform_job(const Effect& effect);
  Live find(TabId tab);
  // The tab in which the session is open; a null `live` if it is in none.
  struct OpenTab {
    TabId tab = {};
    Live live = {};
  };
  OpenTab find_open(const SessionId& id);

  void find_newest();
  Result<> open_new(const OpenNew& request);
  Result<> open_stored(const OpenSession& request);
  // How to open a session; `same_store` if it was found in the start folder's store.
  struct Opening {
    TabId tab;
    RunFlags flags;
    SessionChoice choice;
    std::filesystem::path folder;  // the folder whose settings apply
    bool same_store = false;
    std::string title;
    std::string working_dir;  // of the session
  };
  Result<> close_other_session(const std::string& working_dir);
  Result<> open(Opening opening);
  Result<> begin_tab(TabId tab, Live live);
  void start_turn(TabId tab, LiveSession::Turn turn, std::string question = "");
  // Rewinds the last turn.
  Result<> rewind_last_turn(TabId tab);
  // Shows the session's actual state and returns the text to the input.
  void refuse_turn(const Ask& ask, const Error& error);
  // The content of the message, including attachments.
  Result<std::vector<Block>> blocks_of(const Ask& ask);
  // Reports a file that cannot be attached.
  Result<> check_file(LiveSession& live, const CheckFile& request);
  // Adds files of the last question that are missing in the blocks.
  void add_earlier_files(TabId tab, std::vector<Block>& blocks);
  Result<> list_files(LiveSession& live, const ListFiles& request);
  Result<> run_slash(LiveSession& live, const RunSlash& request);
  Result<> post_history(TabId tab, LiveSession& live, bool by_others = false);
  Result<> show_changes(LiveSession& live, const CheckChanges& request);
  Result<> list_questions(LiveSession& live, const ListQuestions& request);
  Result<> save(LiveSession& live);
  Result<> load_older(LiveSession& live, const LoadOlder& request);
  void list_models(TabId tab);
  void load_page(const LoadPage& request);
  void load_others(int generation);
  std::optional<std::pair<Source*, SessionId>> find_other(std::string_view row);
  void load_questions(const LoadQuestions& request);
  void load_preview(const LoadPreview& request);
  void search_texts(const SearchTexts& request);
  Result<std::vector<PickerRow>> find_texts(const SearchTexts& request);
  bool has_jobs();
  Result<> trash_stored(const std::string& text);
  Result<> restore_stored(const std::string& text);
  Result<> rename_stored(const std::string& text, const std::string& title);
  void empty_trash(const EmptyTrash& request);
  Result<std::string> remove_trashed(const EmptyTrash& request);
  Resumable::Here here();
  void count_closed();
  void begin_close(TabId tab, bool interrupted);
  void close(TabId tab, LiveSession& live, bool interrupted);
  void close_stored(LiveSession& live, bool interrupted);
  void close_all(bool interrupted);
  // Reports to the tab of this thread's job.
  void announce(Announcement::Kind kind, std::string_view text);
  void set_job_tab(TabId tab);
  TabId job_tab();

  Parts parts_;
  Consents consents_;
  bool first_ = true;                    // no session was opened yet; worker thread only
  std::atomic<bool> saved_ = true;       // of all closed sessions
  std::vector<FoundHistory> histories_;  // of other tools; worker thread only
  Resumable resumable_;                  // worker thread only
  std::unique_ptr<SearchIndex> search_;  // created on demand; worker thread only
  int searched_ = 0;                     // the search whose progress is reported
  std::stop_source cancel_;
  std::stop_source leaving_;  // all is closed: jobs' questions get no answer

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Effect> jobs_;
  std::map<TabId, Live> tabs_;
  std::map<std::thread::id, TabId> job_tabs_;

  std::vector<std::jthread> background_;  // background jobs; worker thread only
  std::jthread worker_;                   // last: uses the members above
};

}  // namespace reprise::cli::app
