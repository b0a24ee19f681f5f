#include "life.h"

#include "additions.h"
#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "trial.h"

namespace reprise::rel {
namespace {

using std::filesystem::path;

// The secret for signing session files is beside their folder.
Result<> sign_from_now_on(const path& folder) {
  const path secret = folder / "machine_secret";
  REPRISE_ASSIGN(const bool has_secret, file_exists(secret));
  return has_secret ? Result<>() : replace_file(secret, std::string(64, 'a'));
}

std::string trial_url(const StoreKind& kind, const path& folder) {
  // Exceeds the original program's limit.
  const std::string_view settings = kind.name == "chatdir" ? "?messages=1000000" : "";
  return cat(url_in_folder(kind, folder), settings);
}

class Steps {
 public:
  explicit Steps(Store& store)
      : words_(store.capabilities().messages),
        many_(store.capabilities().many_sessions),
        capabilities_(store.capabilities()) {}

  std::vector<LifeStep> all() && {
    begin();
    conversation();
    if (words_) {
      running_answer();
      beside();
    }
    if (many_) {
      second_session();
    }
    away_and_back();
    if (capabilities_.rewriting != nullptr) {
      rewrite();
    }
    if (capabilities_.deferred_creation != nullptr && many_) {
      begin_with_question();
    }
    end();
    return std::move(steps_);
  }

 private:
  void add(std::string name, std::function<Result<>(Store&)> run) {
    steps_.push_back({std::move(name), std::move(run)});
  }
  void add_os(std::string name, std::function<Result<>(Store&)> run) {
    steps_.push_back({std::move(name), std::move(run), false, false});
  }
  void append(const std::string& name, int number, std::vector<Message> messages,
              AppendOptions options = {}) {
    options.operation = operation(name);
    add("append " + name, [number, messages = std::move(messages), options](Store& store) {
      auto done = store.append(session(number), messages, options);
      return done ? Result<>() : std::unexpected(done.error());
    });
  }
  Message user(std::string text) {
    return message_of(words_, role::kUser, std::move(text), ++second_);
  }
  Message answer(std::string text) {
    Message message = message_of(words_, role::kAssistant, std::move(text), ++second_);
    if (words_) {
      message.usage = Usage{.input = {10}, .output = {second_}, .request_id = cat("q", second_)};
    }
    return message;
  }

  void begin() {
    add("create", [](Store& store) { return store.create(empty_session(1)); });
  }

  void conversation() {
    append("question", 1, {user("How long is a league?")});
    append("answer", 1, {answer("An hour's walk.")});
    append("turn", 1, {user("And a mile?"), answer("A third of it. \xF0\x9F\x9A\xB6")});
    add("title", [](Store& store) { return store.update(session(1), {.title = "Leagues"}); });
  }

  void running_answer() {
    if (capabilities_.partials == nullptr) {
      return;
    }
    const OperationId running = operation("running");
    append("ask", 1, {user("Tell me more.")},
           {.begin_partial = PartialStart{running, this_process(), "echo", "m", at(0)}});
    for (const std::string_view piece : {"A league ", "is three ", "miles "}) {
      add_os(cat("stream \"", piece, "\""), [running, piece](Store& store) {
        const std::vector<Block> delta = {TextBlock{std::string(piece), {}}};
        return store.capabilities().partials->add_partial(session(1), running, delta);
      });
    }
    append("end", 1, {answer("A league is three miles in most places.")}, {.end_partial = running});
  }

  void beside() {
    if (capabilities_.todos != nullptr) {
      add("todos", [](Store& store) -> Result<> {
        REPRISE_TRY(
            store.capabilities().todos->edit_todos(session(1), [](std::vector<Todo>& todos) {
              todos = {{"Measure a league", TodoStatus::in_progress, "Measuring", {}}};
              return Result<>();
            }));
        return {};
      });
    }
    if (capabilities_.artefacts != nullptr) {
      add("artefact", [](Store& store) {
        return store.capabilities().artefacts->save_artefact(session(1), {1}, "answer.md",
                                                             "An hour.\n");
      });
      add_os("growing artefact", [](Store& store) {
        return store.capabilities().artefacts->append_artefact(session(1), {1}, "raw",
                                                               "data: {}\n");
      });
    }
    // Several pages, and more than one sector in any file.
    append("long", 1, {user(std::string(30'000, 'x')), answer(std::string(9'000, 'y'))});
  }

  void second_session() {
    if (capabilities_.forking != nullptr) {
      add("fork", [](Store& store) {
        return store.capabilities().forking->fork(session(1), Seq{2}, empty_session(2));
      });
    } else if (capabilities_.atomic_creation != nullptr) {
      add("fork by copy", [words = words_](Store& store) {
        Session child = empty_session(2);
        child.info.forked_from = ForkOrigin{session(1), Seq{2}};
        return store.capabilities().atomic_creation->create_with(
            child, {message_of(words, role::kUser, "How long is a league?", 50),
                    message_of(words, role::kAssistant, "An hour's walk.", 51)});
      });
    } else {
      add("create another", [](Store& store) { return store.create(empty_session(2)); });
    }
    append("aside", 2, {user("A question of its own."), answer("Its answer.")});
    if (capabilities_.current_session != nullptr) {
      // Restoring a chat makes it the current one, which is a separate step: so make it the current
      // one before.
      add("current", [](Store& store) {
        return store.capabilities().current_session->set_current(session(1));
      });
    }
  }

  void away_and_back() {
    if (capabilities_.archives != nullptr) {
      add("archive",
          [](Store& store) { return store.capabilities().archives->archive(session(1), at(100)); });
      add("restore from the archive",
          [](Store& store) { return store.capabilities().archives->unarchive(session(1)); });
    }
    if (capabilities_.trash != nullptr) {
      add("trash",
          [](Store& store) { return store.capabilities().trash->trash(session(1), at(101)); });
      add("restore from the trash",
          [](Store& store) { return store.capabilities().trash->restore(session(1)); });
    }
    append("after", 1, {user("Are you back?"), answer("I am.")});
  }

  void rewrite() {
    add("rewind", [words = words_](Store& store) -> Result<> {
      auto done = store.capabilities().rewriting->replace_suffix(
          session(1), Seq{2}, {message_of(words, role::kUser, "Once more: a mile?", 60)},
          {.operation = operation("rewind")});
      return done ? Result<>() : std::unexpected(done.error());
    });
  }

  // Like a new turn: the question makes the session durable, too.
  void begin_with_question() {
    const OperationId running = operation("answering");
    add_os("begin a session", [](Store& store) {
      return store.capabilities().deferred_creation->begin(empty_session(3));
    });
    append("first-question", 3, {user("Who are you?")},
           {.begin_partial = PartialStart{running, this_process(), "echo", "m", at(0)}});
    append("first-answer", 3, {answer("An echo.")}, {.end_partial = running});
  }

  void end() {
    add("close", [](Store& store) {
      return store.update(session(1), {.state = SessionState::closed, .closed_at = at(102)});
    });
    add("resume", [](Store& store) {
      return store.update(session(1),
                          {.state = SessionState::active, .closed_at = std::optional<Time>()});
    });
    if (many_ && capabilities_.trash != nullptr) {
      add("purge", [](Store& store) { return store.capabilities().trash->purge(session(2)); });
    }
    append("last", 1, {user("Good night."), answer("Good night.")});
  }

  bool words_;
  bool many_;
  const Capabilities& capabilities_;
  std::vector<LifeStep> steps_;
  int second_ = 10;
};

}  // namespace

std::vector<std::string> trial_urls(const path& folder) {
  std::vector<std::string> out;
  for (const StoreKind& kind : store_kinds()) {
    if (!kind.default_name.empty()) {
      out.push_back(trial_url(kind, folder));
    }
  }
  return out;
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> out;
    for (const StoreKind& kind : store_kinds()) {
      if (kind.default_name.empty()) {
        continue;
      }
      out.push_back({std::string(kind.name),
                     [&kind](const path& folder,
                             const StoreOptions& options) -> Result<std::unique_ptr<Store>> {
                       if (kind.name == "sessions") {
                         REPRISE_TRY(sign_from_now_on(folder));
                       }
                       return open_store(trial_url(kind, folder), options);
                     }});
    }
    return out;
  }();
  return all;
}

std::vector<LifeStep> life(Store& store) {
  return Steps(store).all();
}

Killed run_killed(const LifeStep& step,
                  const std::function<Result<std::unique_ptr<Store>>()>& open) {
  const Ended ended = in_process([&](const Print& print) -> std::string {
    const auto store = open();
    const auto done = store ? step.run(**store) : Result<>(std::unexpected(store.error()));
    if (!done) {
      return done.error().message;
    }
    print(kDone);
    return "";
  });
  const bool is_done = ended.output == kDone;
  return {is_done, ended.fault + (is_done ? "" : ended.output)};
}

}  // namespace reprise::rel
