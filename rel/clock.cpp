// rel_clock PROGRAM SHIFT [URL…]
//
// Runs the program with a wrong clock (SHIFT is the library for it): forty days back, in 2037,
// after 2038, a hundred times too fast, and different for each call. Messages are ordered by their
// numbers, lists are complete, nothing expires by a leap alone, and a running answer is not
// considered interrupted, on this host or another one.

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "answers.h"
#include "base/file.h"
#include "base/text.h"
#include "fake_provider/fake_provider.h"
#include "life.h"
#include "program.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "run.h"
#include "stalling_server.h"
#include "tally.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kShortLease{1'000};
constexpr std::chrono::milliseconds kLongLease{8'000};

constexpr std::string_view kRight = "0";
constexpr std::string_view kBack = "-3456000";
constexpr std::string_view kIn2037 = "347000000";
constexpr std::array<std::string_view, 7> kClocks = {kRight, kBack,  kIn2037,     "x100",
                                                     kRight, "jump", "2522880000"};

class Clocks {
 public:
  Clocks(const std::string& program, const std::string& shift, std::string store)
      : program_(fs::absolute(program)), shift_(fs::absolute(shift)), store_(std::move(store)) {
    auto server = fake::FakeProvider::start({.key = {}, .seed = 7});
    if (!server) {
      throw std::runtime_error(server.error().message);
    }
    server_ = *std::move(server);
  }

  Tally try_all() {
    one_session();
    if (open()->capabilities().many_sessions) {
      many_sessions();
      cleanups();
    }
    trash();
    if (open()->capabilities().messages) {
      running_answer();
      owners_elsewhere();
    }
    return std::move(tally_);
  }

 private:
  fs::path home() const { return work_.path() / "home"; }
  std::string url() const {
    const auto colon = store_.find(':') + 1;
    return cat(store_.substr(0, colon), (home() / store_.substr(colon)).native());
  }
  std::unique_ptr<Store> open() const {
    auto store = open_store(url());
    if (!store) {
      throw std::runtime_error(store.error().message);
    }
    return *std::move(store);
  }
  void reset() const {
    fs::remove_all(home());
    fs::create_directories(home());
  }

  Start start(std::string_view clock, const std::vector<std::string>& words) const {
    Start out{.words = {program_, "--store", url(), "--yes"},
              .home = home(),
              .environment = {"OPENAI_API_KEY=k", cat("OPENAI_BASE_URL=", server_->url(), "/v1"),
                              "REPRISE_PROVIDER=openai-responses", "REPRISE_MODEL=fake",
                              cat("LD_PRELOAD=", shift_), cat("REL_CLOCK=", clock)}};
    out.words.insert(out.words.end(), words.begin(), words.end());
    return out;
  }
  Finished run(std::string_view clock, const std::vector<std::string>& words) const {
    return run_program(start(clock, words));
  }
  // Runs the program and counts it as a success if it exits with 0.
  std::string must(std::string_view clock, const std::vector<std::string>& words) {
    const Finished done = run(clock, words);
    check(cat("clock ", clock, ": ", words[0]), done.code == 0,
          cat("ends with ", done.code, ": ", read_file(home() / "err").value_or("")));
    return done.shown;
  }
  void check(std::string_view what, bool holds, std::string_view fault) {
    tally_.add(cat(store_, ", ", what), holds ? "" : std::string(fault));
  }

  std::vector<SessionInfo> sessions(const std::vector<SessionState>& states) const {
    auto page = open()->list({.states = states, .limit = kPageMax});
    return page ? std::move(page->sessions) : std::vector<SessionInfo>();
  }
  std::vector<SessionInfo> all() const {
    return sessions({SessionState::active, SessionState::closed, SessionState::archived});
  }

  // Questions asked with leaping clocks are in the order of asking.
  void one_session() {
    reset();
    std::vector<std::string> questions;
    for (const std::string_view clock : kClocks) {
      questions.push_back(cat("question ", questions.size()));
      must(clock, {"ask", questions.size() == 1 ? "--new" : "-c", questions.back()});
      const auto found = all();
      check(cat("clock ", clock), found.size() == 1, cat("shows ", found.size(), " sessions"));
    }
    const auto store = open();
    const auto found = get(*store, all().at(0).id);
    std::vector<std::string> stored;
    if (store->capabilities().messages) {
      (void)store->read(all().at(0).id, {}, [&](const Message& message) {
        if (message.role == role::kUser) {
          stored.push_back(plain_text(message));
        }
        return Flow::proceed;
      });
      check("order", stored == questions, "the questions are not in their order");
    }
    check("chain",
          !found || found->response_chain.size() >= questions.size() ||
              store->capabilities().messages,
          "response ids are missing");
  }

  // All pages together have every session once, whatever the clock.
  void many_sessions() {
    reset();
    for (const std::string_view clock : kClocks) {
      must(clock, {"ask", "--new", cat("with the clock ", clock)});
    }
    const std::size_t count = all().size();
    check("new sessions", count == kClocks.size(), cat("there are ", count));
    for (const std::string_view clock : kClocks) {
      const std::string shown = pages(clock, "active") + pages(clock, "archived");
      const auto once = std::ranges::all_of(all(), [&](const SessionInfo& info) {
        const auto first = shown.find(cat("\"id\":\"", info.id.str()));
        return first != std::string::npos &&
               shown.find(cat("\"id\":\"", info.id.str()), first + 1) == std::string::npos;
      });
      check(cat("list, clock ", clock), once, "a session is missing, or there twice");
    }
  }

  // Two sessions a page.
  std::string pages(std::string_view clock, std::string_view state) const {
    constexpr std::string_view kNext = "\"next\":\"";
    std::string shown;
    for (std::string after;;) {
      std::vector<std::string> words = {"list",   "--all",   "--limit",         "2",
                                        "--json", "--state", std::string(state)};
      if (!after.empty()) {
        words.insert(words.end(), {"--after", after});
      }
      const Finished page = run(clock, words);
      shown += page.shown;
      const auto at = page.shown.find(kNext);
      if (at == std::string::npos || shown.size() > 100'000) {
        return shown;
      }
      const auto begin = at + kNext.size();
      after = page.shown.substr(begin, page.shown.find('"', begin) - begin);
    }
  }

  // Cleanup removes nothing, with or without `retention`.
  void cleanups() {
    for (const SessionInfo& info : sessions({SessionState::active})) {
      must(kRight, {"close", info.id.str()});
    }
    const std::size_t before = all().size();
    const auto ask_with = [&](std::string_view clock) {
      must(clock, {"ask", "--new", "is anything missing?"});
      const std::size_t gone = sessions({SessionState::trashed}).size();
      check(cat("cleanup, clock ", clock), gone == 0 && all().size() > before,
            cat(gone, " sessions went to the trash"));
    };
    std::ranges::for_each(kClocks, ask_with);
    fs::create_directories(home() / ".config/reprise");
    (void)replace_file(home() / ".config/reprise/config.toml", "retention = \"30d\"\n");
    for (const std::string_view clock : {kRight, kIn2037, kIn2037, kRight, kBack, kRight,
                                         std::string_view("x100"), kRight, kIn2037}) {
      ask_with(clock);
    }
  }

  // Trashed sessions remain in the trash, and can be restored.
  void trash() {
    const SessionId id = all().at(0).id;
    must(kIn2037, {"delete", id.str()});
    for (const std::string_view clock : kClocks) {
      must(clock, {"list", "--all"});
      check(cat("trash, clock ", clock), sessions({SessionState::trashed}).size() == 1,
            "the trash is empty");
    }
    must(kBack, {"restore", id.str()});
    check("restored", sessions({SessionState::trashed}).empty(), "it is still in the trash");
  }

  // The owner of a running answer is alive, whatever the clock.
  void running_answer() {
    const auto recorded = record_answers(*server_, [this](const Question& question) {
      reset();
      Start out = start(
          kRight, {"ask", "--yes", "--tools", "all", "--model", question.model, question.text});
      out.words[2] = "memory:";
      return out;
    });
    reset();
    const std::string& answer = recorded.at(0).bytes;
    StallingServer server;
    Program program(start(kRight, {"ask", "--provider", "openai-responses", "--base-url",
                                   cat(server.url(), "/v1"), "hello"}));
    if (!server.accept_request() || !server.send(answer.substr(0, answer.size() / 2))) {
      throw std::runtime_error("nobody asks");
    }
    for (const std::string_view clock : kClocks) {
      const Finished listed = run(clock, {"list", "--all", "--state", "interrupted", "--json"});
      check(cat("running, clock ", clock), !listed.shown.contains("\"id\""),
            "is taken for interrupted");
    }
    Program other(start(kIn2037, {"ask", "-c", "--base-url", cat(server_->url(), "/v1"),
                                  "--provider", "openai-responses", "and you?"}));
    (void)server.send(answer.substr(answer.size() / 2));
    const int code = program.wait();
    const int other_code = other.wait();
    const StoredAnswer stored = stored_answer_in(home(), store_);
    check("the running answer",
          code == 0 && other_code == 0 && stored.fault.empty() && stored.is_whole &&
              stored.questions == 2 && stored.answer == cat(text_in(answer), other_text(other)),
          cat("ends with ", code, " and ", other_code, ", keeps \"", stored.answer, "\" ",
              stored.fault));
  }

  // An answer of another host is abandoned if its lease is not renewed, and never while it is,
  // whatever the clocks of both hosts.
  void owners_elsewhere() {
    for (const std::string_view clock : kClocks) {
      for (const std::chrono::hours there : {-1h, 0h, 1h}) {
        const std::string what =
            cat("an owner elsewhere, clock ", clock, ", there ", there.count());
        answer_elsewhere(lease_there(there, kShortLease));
        must(clock, {"ask", "-c", "and you?", "--provider", "echo", "--model", "echo"});
        const auto store = open();
        const auto stored = read_all(*store, all().at(0).id);
        check(cat(what, ", gone"),
              stored && stored->size() == 4 && stored->at(1).state == MessageState::incomplete &&
                  plain_text(stored->at(1)) == "half",
              cat("keeps ", stored ? stored->size() : 0, " messages"));

        const SessionId id = answer_elsewhere(lease_there(there, kLongLease));
        const auto other = open();
        std::jthread owner([&](const std::stop_token& stop) {
          const OperationId name = *OperationId::parse("elsewhere");
          while (!stop.stop_requested()) {
            (void)other->capabilities().partials->renew_lease(id, name,
                                                              lease_there(there, kLongLease));
            std::this_thread::sleep_for(20ms);
          }
        });
        const Finished closed = run(clock, {"close", short_id(id)});
        check(cat(what, ", alive"), closed.code == 1, cat("close ends with ", closed.code));
      }
    }
  }

  static Lease lease_there(std::chrono::hours shift, std::chrono::milliseconds length) {
    Lease lease = new_lease(length);
    lease.renewed_at += shift;
    return lease;
  }

  // Stores a question, and half an answer by that process.
  SessionId answer_elsewhere(const Lease& lease) {
    reset();
    must(kRight, {"ask", "--new", "hello", "--provider", "echo", "--model", "echo"});
    const auto store = open();
    SessionId id = all().at(0).id;
    const Owner owner{"elsewhere.example/boot", 1, 1, 1, lease};
    const OperationId name = *OperationId::parse("elsewhere");
    const std::vector<Block> half = {TextBlock{"half", {}}};
    const auto from = store->capabilities().rewriting->replace_suffix(
        id, Seq{1}, {}, {.begin_partial = PartialStart{name, owner, "p", "m", lease.renewed_at}});
    const auto added =
        from ? store->capabilities().partials->add_partial(id, name, half) : Result<>();
    check("an owner elsewhere", from && added, "its answer cannot be stored");
    return id;
  }

  static std::string other_text(const Program& other) {
    const std::string& shown = other.shown();
    return shown.substr(0, shown.find('\n'));
  }

  std::string program_;
  std::string shift_;
  std::string store_;
  WorkFolder work_;
  std::unique_ptr<fake::FakeProvider> server_;
  Tally tally_;
};

}  // namespace

int run(std::vector<std::string> words) {
  if (words.size() < 2) {
    return usage("rel_clock PROGRAM SHIFT [URL...]");
  }
  const std::vector<std::string> named(words.begin() + 2, words.end());
  bool all_good = true;
  for (const std::string& url : named.empty() ? trial_urls("") : named) {
    all_good &=
        report("clock", url.substr(0, url.find(':')), Clocks(words[0], words[1], url).try_all());
  }
  return all_good ? 0 : 1;
}

}  // namespace reprise::rel
