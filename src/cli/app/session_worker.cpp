#include "cli/app/session_worker.h"

#include <algorithm>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace reprise::cli::app {

SessionWorker::SessionWorker(Parts parts)
    : parts_(std::move(parts)), consents_(parts_.events), resumable_(parts_.context) {
  parts_.context.console().set_sink([this](Console::Kind kind, std::string_view text) {
    announce(
        kind == Console::Kind::warning ? Announcement::Kind::warning : Announcement::Kind::notice,
        text);
  });
  parts_.context.console().divert_questions([this](std::string question) {
    return consents_.ask(job_tab(), std::move(question), leaving_.get_token()) != Choice::no;
  });
  worker_ = std::jthread([this](const std::stop_token& over) { work(over); });
}

SessionWorker::~SessionWorker() {
  parts_.events.close();
  cancel_.request_stop();
  leaving_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [tab, live] : tabs_) {
      live->stop();
    }
  }
  worker_.request_stop();
  worker_.join();
  background_.clear();
  parts_.context.console().set_sink({});
  parts_.context.console().divert_questions({});
}

void SessionWorker::perform(Effect effect) {
  if (const auto* const stop = std::get_if<StopTurn>(&effect)) {
    if (const Live live = find(stop->tab); live != nullptr) {
      live->stop();
    }
    return;
  }
  if (const auto* const consent = std::get_if<AnswerConsent>(&effect)) {
    consents_.answer(consent->number, consent->choice);
    return;
  }
  if (std::holds_alternative<CloseAll>(effect)) {
    leaving_.request_stop();  // a job may wait for an answer that will not come
  }
  if (std::holds_alternative<CancelPending>(effect)) {
    cancel_.request_stop();
    return;
  }
  const std::lock_guard lock(mutex_);
  if (std::holds_alternative<SearchTexts>(effect)) {
    std::erase_if(jobs_,
                  [](const Effect& job) { return std::holds_alternative<SearchTexts>(job); });
  }
  jobs_.push_back(std::move(effect));
  wake_.notify_one();
}

bool SessionWorker::has_jobs() {
  const std::lock_guard lock(mutex_);
  return !jobs_.empty();
}

SessionWorker::Live SessionWorker::find(TabId tab) {
  const std::lock_guard lock(mutex_);
  const auto found = tabs_.find(tab);
  return found == tabs_.end() ? nullptr : found->second;
}

bool SessionWorker::stores_partials() {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(tabs_, [](const auto& tab) { return tab.second->stores_partials(); });
}

void SessionWorker::work(const std::stop_token& over) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, over, [this] { return !jobs_.empty(); })) {
      return;
    }
    const Effect effect = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    perform_job(effect);
  }
}

// Dispatches effects by type.
struct SessionWorker::Performer {
  SessionWorker& worker;

  void operator()(const FindNewest&) { worker.find_newest(); }
  void operator()(const OpenNew& request) {
    open(request.tab, "", [&] { return worker.open_new(request); });
  }
  void operator()(const OpenSession& request) {
    open(request.tab, request.sel, [&] { return worker.open_stored(request); });
  }
  void operator()(const CloseTab& request) { worker.begin_close(request.tab, false); }
  void operator()(const Ask& ask) {
    worker.set_job_tab(ask.tab);
    auto blocks = worker.blocks_of(ask);
    if (!blocks) {
      return worker.refuse_turn(ask, blocks.error());
    }
    send(ask, *std::move(blocks));
  }
  void send(const Ask& ask, std::vector<Block> blocks) {
    worker.start_turn(
        ask.tab,
        [blocks = std::move(blocks)](Conversation& conversation, TurnObserver& observer,
                                     std::stop_token stop) {
          return conversation.ask(blocks, observer, std::move(stop));
        },
        ask.text);
  }
  void operator()(const AskInstead& ask) {
    worker.set_job_tab(ask.tab);
    const Ask question{.tab = ask.tab, .text = ask.text, .attached = ask.attached};
    auto blocks = worker.blocks_of(question);
    if (blocks) {
      worker.add_earlier_files(ask.tab, *blocks);
    }
    const Result<> result =
        blocks ? worker.rewind_last_turn(ask.tab) : std::unexpected(blocks.error());
    if (!result) {
      return worker.refuse_turn(question, result.error());
    }
    send(question, *std::move(blocks));
  }
  void operator()(const AskAgain& again) {
    worker.start_turn(again.tab,
                      [](Conversation& conversation, TurnObserver& observer, std::stop_token stop) {
                        return conversation.retry(observer, std::move(stop));
                      });
  }
  void operator()(const ContinueTurn& continued) {
    worker.start_turn(continued.tab,
                      [](Conversation& conversation, TurnObserver& observer, std::stop_token stop) {
                        return conversation.continue_turn(observer, std::move(stop));
                      });
  }
  void operator()(const RunSlash& request) {
    in_tab(request.tab, [&](LiveSession& live) { return worker.run_slash(live, request); });
  }
  void operator()(const ListFiles& request) {
    in_tab(request.tab, [&](LiveSession& live) { return worker.list_files(live, request); });
  }
  void operator()(const CheckFile& request) {
    in_tab(request.tab, [&](LiveSession& live) { return worker.check_file(live, request); });
  }
  void operator()(const ListQuestions& request) {
    in_tab(request.tab, [&](LiveSession& live) { return worker.list_questions(live, request); });
  }
  void operator()(const SaveNow& request) {
    in_tab(request.tab, [&](LiveSession& live) { return worker.save(live); });
  }
  void operator()(const LoadOlder& request) {
    in_tab(request.tab, [&](LiveSession& live) { return worker.load_older(live, request); });
  }
  void operator()(const CheckChanges& request) {
    in_tab(request.tab, [&](LiveSession& live) { return worker.show_changes(live, request); });
  }
  void operator()(const CloseAll& all) { worker.close_all(all.interrupted); }
  void operator()(const ListModels& request) { worker.list_models(request.tab); }
  void operator()(const LoadPage& request) { worker.load_page(request); }
  void operator()(const LoadQuestions& request) { worker.load_questions(request); }
  void operator()(const LoadPreview& request) { worker.load_preview(request); }
  void operator()(const SearchTexts& request) { worker.search_texts(request); }
  void operator()(const TrashStored& request) {
    change({StoredChanged::Change::trashed, request.id}, worker.trash_stored(request.id));
  }
  void operator()(const RestoreStored& request) {
    change({StoredChanged::Change::restored, request.id}, worker.restore_stored(request.id));
  }
  void operator()(const RenameStored& request) {
    change({StoredChanged::Change::renamed, request.id, request.title},
           worker.rename_stored(request.id, request.title));
  }
  void operator()(const EmptyTrash& request) { worker.empty_trash(request); }
  void operator()(const ListResumable& request) {
    announce(request.tab, [&] { return worker.resumable_.list(worker.here()); });
  }
  void operator()(const DeleteStored& request) {
    announce(request.tab, [&] { return worker.resumable_.remove(request.sel, worker.here()); });
  }
  void operator()(const CountClosed& request) {
    worker.set_job_tab(request.tab);
    worker.count_closed();
  }
  void operator()(const ClearClosed& request) {
    announce(request.tab, [&] { return worker.resumable_.clear_closed(); });
  }
  template <class Elsewhere>
  void operator()(const Elsewhere&) {}  // handled by perform() or by the terminal's owner

 private:
  // `sel`: of a stored session.
  template <class Open>
  void open(TabId tab, std::string_view sel, const Open& open_it) {
    worker.set_job_tab(tab);
    if (const Result<> opened = open_it(); !opened) {
      const bool is_none = sel == "last" && opened.error().code == Code::not_found;
      worker.parts_.events.post(TabFailed{
          .tab = tab, .reason = opened.error().message, .is_stored = !sel.empty() && !is_none});
    }
  }

  // Runs a job in an open session; does nothing if it was closed meanwhile.
  template <class Function>
  void in_tab(TabId tab, const Function& function) {
    worker.set_job_tab(tab);
    const Live live = worker.find(tab);
    if (live == nullptr || live->is_closing()) {
      return;
    }
    if (const Result<> result = function(*live); !result) {
      worker.announce(Announcement::Kind::warning, result.error().message);
    }
  }

  template <class Function>
  void announce(TabId tab, const Function& function) {
    worker.set_job_tab(tab);
    const Result<std::string> text = function();
    worker.announce(text ? Announcement::Kind::notice : Announcement::Kind::warning,
                    text ? *text : text.error().message);
  }

  void change(StoredChanged changed, const Result<>& result) {
    if (!result) {
      changed.failure = result.error().message;
    }
    worker.parts_.events.post(std::move(changed));
  }
};

void SessionWorker::perform_job(const Effect& effect) {
  std::visit(Performer{*this}, effect);
}

void SessionWorker::set_job_tab(TabId tab) {
  const std::lock_guard lock(mutex_);
  job_tabs_[std::this_thread::get_id()] = tab;
}

TabId SessionWorker::job_tab() {
  const std::lock_guard lock(mutex_);
  return job_tabs_[std::this_thread::get_id()];
}

void SessionWorker::announce(Announcement::Kind kind, std::string_view text) {
  parts_.events.post(Announcement{kind, job_tab(), std::string(text)});
}

}  // namespace reprise::cli::app
