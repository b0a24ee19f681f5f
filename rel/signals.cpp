// rel_signals PROGRAM [--long] PROTOCOL…
//
// Stops the program with SIGINT, SIGTERM and SIGHUP while it asks: after every byte of recorded
// responses (or at intervals), and before and after them. It must save what it has shown, exit with
// 130, and the next run continues where it stopped.

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "answers.h"
#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "fake_provider/fake_provider.h"
#include "life.h"
#include "program.h"
#include "run.h"
#include "stalling_server.h"
#include "tally.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr int kInterrupted = 130;
constexpr std::size_t kPoints = 60;  // per protocol, in the short form
// All bytes would take most of an hour; the lengths of events vary so much that all positions in
// each kind of event are still covered.
constexpr std::size_t kLongStride = 3;
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr std::string_view kLockedKind = "sqlite:";  // the store that is locked for `is_saving`

// Only stores with text, since the others would not show what is stored.
const std::vector<std::string>& stores() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out = trial_urls("");
    std::erase_if(out, [](const std::string& url) { return url.starts_with("chain:"); });
    return out;
  }();
  return all;
}

// A run, and when it is stopped.
struct Moment {
  const Recorded* stream = nullptr;
  std::size_t bytes = 0;
  int signal = SIGINT;
  std::string store = {};
  bool asks_on = false;    // the next run asks a new question instead of --go-on
  bool is_saving = false;  // the store is locked by another process during the signal
  bool twice = false;      // the second signal ends the program at once
};

class Signals {
 public:
  Signals(const std::string& program, std::string protocol)
      : program_(fs::absolute(program)), protocol_(std::move(protocol)) {
    auto server = fake::FakeProvider::start({.key = {}, .seed = 7});
    if (!server) {
      throw std::runtime_error(server.error().message);
    }
    server_ = *std::move(server);
    streams_ = record_answers(*server_, [this](const Question& question) {
      reset();
      return ask("memory:", server_->url(), {"--model", question.model, question.text});
    });
  }

  Tally try_all(bool is_long) {
    Tally tally;
    std::size_t bytes = 0;
    for (const Recorded& stream : streams_) {
      bytes += stream.bytes.size() + 1;
    }
    const std::size_t stride = is_long ? kLongStride : std::max<std::size_t>(1, bytes / kPoints);
    std::size_t number = 0;
    std::size_t next = 0;
    for (const Recorded& stream : streams_) {
      for (; next <= stream.bytes.size(); next += stride) {
        add(tally, moment(stream, next, number++));
      }
      next -= stream.bytes.size() + 1;
    }
    for (const Recorded& stream : streams_) {
      try_beside(tally, stream, number);
    }
    return tally;
  }

 private:
  static Moment moment(const Recorded& stream, std::size_t bytes, std::size_t number) {
    return {.stream = &stream,
            .bytes = bytes,
            .signal = kSignals.at(number % kSignals.size()),
            .store = stores().at(number / kSignals.size() % stores().size()),
            .asks_on = number % 5 == 4};
  }

  void add(Tally& tally, const Moment& moment) {
    tally.add(
        cat(protocol_, ", \"", moment.stream->question.text, "\", ", moment.store, ", signal ",
            moment.signal, moment.is_saving ? ", saving" : "", moment.twice ? ", twice" : "",
            ", after byte ", moment.bytes, " of ", moment.stream->bytes.size()),
        stopped_at(moment));
  }

  // The times other than bytes of a response.
  void try_beside(Tally& tally, const Recorded& stream, std::size_t& number) {
    Moment saving = moment(stream, stream.bytes.size(), number);
    saving.store = stores().front();
    saving.is_saving = true;
    // After an error, the program reads no further.
    if (!stream.question.model.contains("overloaded")) {
      add(tally, saving);
    }
    Moment twice = moment(stream, stream.bytes.size() * 2 / 3, number);
    twice.twice = true;
    add(tally, twice);
    const int signal = kSignals.at(number++ % kSignals.size());
    tally.add(cat(protocol_, ", signal ", signal, ", connecting"), stopped_connecting(signal));
    tally.add(cat(protocol_, ", signal ", signal, ", reading its input"), stopped_reading(signal));
  }

  Start ask(std::string_view store, std::string_view url, std::vector<std::string> words) const {
    Start start{.words = {program_, "--store", std::string(store), "ask", "--provider", protocol_,
                          "--base-url", cat(url, protocol_ == "anthropic" ? "" : "/v1"), "--yes",
                          "--tools", "all"},
                .home = home(),
                .environment = {"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k"}};
    start.words.insert(start.words.end(), words.begin(), words.end());
    return start;
  }

  fs::path home() const { return work_.path() / "home"; }
  void reset() const {
    fs::remove_all(home());
    fs::create_directories(home());
  }

  std::string stopped_at(const Moment& moment) {
    reset();
    const Recorded& stream = *moment.stream;
    StallingServer server;
    Program program(
        ask(moment.store, server.url(), {"--model", stream.question.model, stream.question.text}));
    if (!server.accept_request()) {
      return "asked nothing";
    }
    auto hold = moment.is_saving ? std::optional(lock_store()) : std::nullopt;
    const std::string_view sent = std::string_view(stream.bytes).substr(0, moment.bytes);
    if (!server.send(sent)) {
      return "does not read what is sent";
    }
    const std::string text = text_in(sent);
    if (!program.read_until([&](std::string_view shown) { return shown.starts_with(text); })) {
      return cat("does not show \"", text, "\" but \"", program.shown(), "\"");
    }
    // A program that ends at once cannot save more, so wait until the shown text is stored.
    if (moment.twice &&
        !eventually([&] { return stored_answer_in(home(), moment.store).answer == text; })) {
      return "does not store what it shows";
    }
    program.signal(moment.signal);
    if (moment.twice) {
      program.signal(moment.signal);
    }
    hold.reset();
    return ended(moment, program, text);
  }

  LockFile::Hold lock_store() {
    // The program has asked, so its lock file exists.
    const fs::path file = home() / cat(stores().front().substr(kLockedKind.size()), "-lock");
    if (!fs::exists(file)) {
      throw std::runtime_error(cat("no lock file: ", file.native()));
    }
    auto lock = LockFile::open(file);
    auto hold = lock ? (*lock)->acquire(std::chrono::steady_clock::now() + std::chrono::seconds(5))
                     : Result<LockFile::Hold>(std::unexpected(lock.error()));
    if (!hold) {
      throw std::runtime_error(hold.error().message);
    }
    lock_ = *std::move(lock);
    return *std::move(hold);
  }

  std::string ended(const Moment& moment, Program& program, const std::string& text) {
    const int code = program.wait();
    const bool was_all = moment.bytes == moment.stream->bytes.size();
    const bool had_error = moment.stream->question.model.contains("overloaded");
    // It may have saved everything and be about to exit when the signal (or the second one)
    // arrives.
    const bool by_signal =
        (moment.twice || (was_all && !moment.is_saving)) && code == 128 + moment.signal;
    if (code != kInterrupted && !by_signal && !(was_all && code == 0) &&
        !(had_error && code == 1)) {
      return cat("ends with ", code, ": ", read_file(home() / "err").value_or(""));
    }
    const std::string_view shown = program.shown();
    const StoredAnswer stored = stored_answer_in(home(), moment.store);
    if (!stored.fault.empty()) {
      return stored.fault;
    }
    const bool may_forget = !stored.holds_questions && stored.answer.empty();
    if (stored.questions != 1 && !may_forget) {
      return cat("keeps ", stored.questions, " questions");
    }
    if (!stored.answer.starts_with(text) || !shown.starts_with(stored.answer)) {
      return cat("has shown \"", shown, "\" and keeps \"", stored.answer, "\"");
    }
    return goes_on(moment, stored);
  }

  // The next run, with a server that refuses invalid requests like a real one.
  std::string goes_on(const Moment& moment, const StoredAnswer& before) {
    const bool asks = moment.asks_on || before.is_whole || before.questions == 0;
    const auto seen = server_->violations().size();
    std::vector<std::string> words = {"--model", "fake"};
    if (!asks) {
      words.emplace_back("--go-on");
    } else {
      words.emplace_back("And then?");
      if (before.questions > 0) {  // otherwise there is no session to continue
        words.emplace_back("-c");
      }
    }
    const Finished next = run_program(ask(moment.store, server_->url(), std::move(words)));
    if (next.code != 0) {
      return cat("does not go on: ", next.code, " ", read_file(home() / "err").value_or(""));
    }
    if (server_->violations().size() != seen) {
      return cat("sends what is refused: ", server_->violations().back());
    }
    const StoredAnswer after = stored_answer_in(home(), moment.store);
    if (!after.fault.empty() || after.questions != before.questions + (asks ? 1U : 0U) ||
        !after.answer.starts_with(before.answer) || after.answer.size() <= before.answer.size()) {
      return cat("after going on: ", after.fault, " ", after.questions, " questions, \"",
                 after.answer, "\" after \"", before.answer, "\"");
    }
    return asks || after.is_whole ? "" : "is not whole after going on";
  }

  std::string stopped_connecting(int signal) {
    reset();
    StallingServer server;
    server.fill_queue();
    Program program(ask(stores().front(), server.url(), {"hello"}));
    // The question must be stored before the request.
    if (!eventually([this] { return stored_answer_in(home(), stores().front()).questions == 1; })) {
      return "stores no question";
    }
    program.signal(signal);
    const int code = program.wait();
    const StoredAnswer stored = stored_answer_in(home(), stores().front());
    return code != kInterrupted ? cat("ends with ", code)
           : stored.questions != 1 || !stored.answer.empty()
               ? "keeps something else"
               : goes_on({.store = stores().front()}, {.questions = 1, .is_whole = false});
  }

  // Nothing can be saved yet, so the signal has its default effect.
  std::string stopped_reading(int signal) {
    reset();
    Start start = ask(stores().front(), server_->url(), {"-"});
    start.waits_for_input = true;
    Program program(start);
    program.signal(signal);
    const int code = program.wait();
    if (code != 128 + signal && code != kInterrupted) {
      return cat("ends with ", code);
    }
    const Finished next =
        run_program(ask(stores().front(), server_->url(), {"--model", "fake", "hello"}));
    return next.code == 0 ? "" : "cannot ask afterwards";
  }

  std::string program_;
  std::string protocol_;
  WorkFolder work_;
  std::unique_ptr<fake::FakeProvider> server_;
  std::vector<Recorded> streams_;
  std::unique_ptr<LockFile> lock_;
};

}  // namespace

int run(std::vector<std::string> words) {
  const bool is_long = std::erase(words, "--long") > 0;
  if (words.size() < 2) {
    return usage("rel_signals PROGRAM [--long] PROTOCOL...");
  }
  bool all_good = true;
  for (std::size_t i = 1; i < words.size(); ++i) {
    all_good &= report("signals", words[i], Signals(words[0], words[i]).try_all(is_long));
  }
  return all_good ? 0 : 1;
}

}  // namespace reprise::rel
