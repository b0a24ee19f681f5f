#pragma once

// Does what update() asks for, on a thread of its own, and answers with events: opens, changes and
// closes sessions. It alone uses the Context while it lives; the screen never waits for a store or
// a provider.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "cli/app/consents.h"
#include "cli/app/effect.h"        // IWYU pragma: export
#include "cli/app/event.h"         // IWYU pragma: export
#include "cli/app/live_session.h"  // IWYU pragma: export
#include "cli/program/context.h"   // IWYU pragma: export
#include "cli/program/last_list.h"
#include "cli/program/search_files.h"
#include "cli/program/start_session.h"
#include "cli/settings/run_flags.h"
#include "reprise/search.h"

namespace reprise::cli::app {

class SessionWorker {
 public:
  struct Parts {
    Context& context;
    EventQueue& events;
    RunFlags flags;
    std::filesystem::path mode_path;  // of the first session
    bool begin = false;               // --new: the first one is new, too
  };
  explicit SessionWorker(Parts parts);
  // Stops what runs, and waits for it.
  ~SessionWorker();
  SessionWorker(const SessionWorker&) = delete;
  SessionWorker& operator=(const SessionWorker&) = delete;

  // Thread-safe; returns at once. All in order, but for what stops or answers something.
  void perform(Effect effect);

  // Whether an answer that is cut off now can be found again, as far as it was stored.
  bool keeps_running_answers();

 private:
  // Shared with whoever stops its turn, while the worker may be closing it.
  using Live = std::shared_ptr<LiveSession>;
  struct Performer;

  void work(const std::stop_token& over);
  void perform_job(const Effect& effect);
  Live find(TabId tab);
  // The tab that has the session open.
  std::optional<TabId> find_open(std::string_view id);

  void find_newest();
  Result<> open_new(const OpenNew& request);
  Result<> open_stored(const OpenSession& request);
  // What the session is begun with; `same_store` for one that was found in the start folder's.
  struct Opening {
    TabId tab;
    RunFlags flags;
    SessionChoice choice;
    std::filesystem::path folder;  // whose settings hold
    bool same_store = false;
    std::string title;
    std::string working_dir;  // of the session
  };
  Result<> make_room(const std::string& working_dir);
  Result<> open(Opening opening);
  Result<> begin_tab(TabId tab, Live live);
  // `name` is what the person calls it.
  Result<SessionInfo> check_stored(const std::string& sel, const std::string& name);
  void start_turn(TabId tab, LiveSession::Turn turn, std::string question = "");
  // The last turn.
  Result<> take_back(TabId tab);
  // Shows the session as it is, and gives the text back.
  void refuse_turn(const Ask& ask, const Error& error);
  // The message, with the files that go with it.
  Result<std::vector<Block>> blocks_of(const Ask& ask);
  // The files of the last question that are not among the blocks.
  void add_earlier_files(TabId tab, std::vector<Block>& blocks);
  Result<> list_files(LiveSession& live, const ListFiles& request);
  Result<> run_slash(LiveSession& live, const RunSlash& request);
  Result<> post_history(TabId tab, LiveSession& live);
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
  Result<std::vector<SessionInfo>> resumable();
  Result<std::string> numbered(const std::string& sel);
  static Error no_such_session(const std::string& sel);
  Result<std::string> list_resumable();
  Result<std::string> delete_stored(const std::string& sel);
  void count_closed();
  Result<std::string> clear_closed();
  void begin_close(TabId tab, bool interrupted);
  void close(TabId tab, LiveSession& live, bool interrupted);
  void close_all(bool interrupted);
  // In the tab whose job this thread does.
  void say(Announcement::Kind kind, std::string_view text);
  void set_job_tab(TabId tab);
  TabId job_tab();

  Parts parts_;
  Consents consents_;
  bool first_ = true;                    // no session was opened yet; the worker's
  std::atomic<bool> saved_ = true;       // all that was closed
  std::vector<FoundHistory> histories_;  // of other tools, as the picker listed them; the worker's
  std::optional<LastList> numbers_;      // as "/resume list" showed them; the worker's
  std::unique_ptr<SearchIndex> search_;  // once it was asked for; the worker's
  int searched_ = 0;                     // the search whose progress is told
  std::stop_source hurry_;
  std::stop_source leaving_;  // all is closed: questions of jobs get no answer

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Effect> jobs_;
  std::map<TabId, Live> tabs_;
  std::map<std::thread::id, TabId> job_tabs_;

  std::vector<std::jthread> aside_;  // each closes a session, or asks a server; the worker's
  std::jthread worker_;              // last: it uses all the others
};

}  // namespace reprise::cli::app
