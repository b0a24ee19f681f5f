// rel_server kill|errors|purge URL
//
// Runs the life of a store on a server, killing the client, or breaking its connection, at each
// call by which they communicate; and purges beside a writer. Each trial has its own tenant.

#include <stdexcept>
#include <thread>

#include "additions.h"
#include "base/text.h"
#include "life.h"
#include "network.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "run.h"
#include "store/postgres/connection.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

using What = NetworkTrap::What;

// Short, because a client that lost its server waits this long.
constexpr std::chrono::milliseconds kBusyTimeout{100};

template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
  return *std::move(result);
}

// A busy server is not a fault: requests that time out are repeated for a while.
template <class Ask>
auto retry_timeouts(const Ask& ask) {
  constexpr int kTimesMax = 100;
  auto answer = ask();
  for (int i = 0; i < kTimesMax && !answer && answer.error().code == Code::timeout; ++i) {
    answer = ask();
  }
  return answer;
}

// A database for many lives.
class Lives {
 public:
  explicit Lives(std::string url) : url_(std::move(url)) {
    const std::string url_of_first = new_tenant();
    const auto store = must(open_store(url_of_first));
    steps_ = life(*store);
    snapshots_.push_back(must(take_snapshot(*store)));
    for (const LifeStep& step : steps_) {
      if (const auto done = step.run(*store); !done) {
        throw std::runtime_error(cat(step.name, ": ", done.error().message));
      }
      snapshots_.push_back(must(take_snapshot(*store)));
    }
  }

  const std::vector<LifeStep>& steps() const { return steps_; }
  const Snapshot& snapshot(std::size_t steps) const { return snapshots_.at(steps); }

  // A tenant after the given number of steps; returns its URL.
  std::string after(std::size_t steps) {
    std::string url = new_tenant();
    const auto store = must(open_store(url));
    for (std::size_t step = 0; step < steps; ++step) {
      if (const auto done = steps_[step].run(*store); !done) {
        throw std::runtime_error(cat(steps_[step].name, ": ", done.error().message));
      }
    }
    return url;
  }

  // Waits until the server has ended the work for clients that are gone.
  void settle() const {
    const auto location = must(postgres::parse_url(cat(url_, "?application_name=watcher")));
    const auto connection = must(postgres::Connection::open(
        location.servers.front(), std::chrono::steady_clock::now() + std::chrono::seconds(20)));
    constexpr std::string_view kOthers =
        "SELECT count(*) AS others FROM pg_stat_activity WHERE application_name = 'life'";
    while (must(connection->run_one({kOthers})).integer(0, "others") > 0) {
      std::this_thread::yield();
    }
  }

 private:
  std::string new_tenant() { return cat(url_, "?application_name=life&tenant=t", tenants_++); }

  std::string url_;
  int tenants_ = 0;
  std::vector<LifeStep> steps_;
  std::vector<Snapshot> snapshots_;
};

std::int64_t count_calls(Lives& lives, std::size_t step) {
  const std::string url = lives.after(step);
  const auto store = must(open_store(url));
  watch_network();
  const auto done = lives.steps()[step].run(*store);
  unwatch_network();
  return done ? network_calls() : 0;
}

// "" if the store shows the step as done (or, unless `must_be_done`, either as done or not),
// accepts another message, and finds no damage.
std::string examine(const Lives& lives, const std::string& url, std::size_t step,
                    bool must_be_done) {
  lives.settle();
  const auto store = open_store(url);
  if (!store) {
    return cat("cannot be opened: ", store.error().message);
  }
  const auto snapshot = take_snapshot(**store);
  if (!snapshot) {
    return cat("cannot be read: ", snapshot.error().message);
  }
  if (*snapshot != lives.snapshot(step + 1) &&
      (must_be_done || *snapshot != lives.snapshot(step))) {
    return must_be_done ? "lost what was acknowledged" : "shows what never was";
  }
  if (!has_session(*snapshot)) {
    return "";
  }
  const auto added = append_test_message(**store);
  const auto then =
      added ? take_snapshot(**store) : Result<Snapshot>(std::unexpected(added.error()));
  if (!then || !has_test_message(*then)) {
    return then ? "has lost the message it took afterwards"
                : cat("takes no message: ", then.error().message);
  }
  const auto report = (*store)->capabilities().verifier->verify();
  return report && report->damage.empty() ? "" : "is damaged";
}

std::string killed_at(Lives& lives, std::size_t step, std::int64_t at) {
  const std::string url = lives.after(step);
  const Killed killed = run_killed(lives.steps()[step], [&] {
    auto store = open_store(url);
    watch_network({.what = What::kill, .at = at});
    return store;
  });
  return killed.fault.empty() ? examine(lives, url, step, killed.is_done) : killed.fault;
}

// If the server is reachable again, the step succeeds by itself. Otherwise it fails with an error,
// and can be repeated.
std::string run_twice(const Lives& lives, const std::string& url, std::size_t step,
                      const NetworkTrap& trap, const Print& print) {
  const StoreOptions options =
      trap.lasting ? StoreOptions{.busy_timeout = kBusyTimeout} : StoreOptions{};
  const auto store = retry_timeouts([&] { return open_store(url, options); });
  if (!store) {
    return store.error().message;
  }
  const LifeStep& what = lives.steps()[step];
  watch_network(trap);
  const auto first = what.run(**store);
  unwatch_network();
  if (!first) {
    const std::string& reason = first.error().message;
    if (!trap.lasting || reason.empty() || reason.contains('\n')) {
      return cat("does not go on by itself: ", reason);
    }
    if (!what.repeatable) {
      return "";
    }
    const auto second = retry_timeouts([&] { return what.run(**store); });
    const auto snapshot = retry_timeouts([&] { return take_snapshot(**store); });
    if (!second && (!snapshot || *snapshot != lives.snapshot(step + 1))) {
      return cat("cannot be repeated: ", second.error().message, " (after ", reason, ")");
    }
  }
  print(kDone);
  return "";
}

std::string broken_at(Lives& lives, std::size_t step, const NetworkTrap& trap) {
  const std::string url = lives.after(step);
  const Ended ended =
      in_process([&](const Print& print) { return run_twice(lives, url, step, trap, print); });
  if (!ended.fault.empty() || ended.killed || (!ended.output.empty() && ended.output != kDone)) {
    return ended.fault + ended.output;
  }
  return examine(lives, url, step, ended.output == kDone);
}

Tally kill_at_every_call(Lives& lives) {
  Tally tally;
  for (std::size_t step = 0; step < lives.steps().size(); ++step) {
    const std::int64_t calls = count_calls(lives, step);
    for (std::int64_t at = 1; at <= calls; ++at) {
      tally.add(cat(lives.steps()[step].name, ", killed at call ", at, " of ", calls),
                killed_at(lives, step, at));
    }
  }
  return tally;
}

Tally break_at_every_call(Lives& lives) {
  static const std::vector<NetworkTrap> traps = {
      {.what = What::break_before},
      {.what = What::break_after},
      {.what = What::break_before, .lasting = true},
      {.what = What::break_after, .lasting = true},
  };
  Tally tally;
  for (std::size_t step = 0; step < lives.steps().size(); ++step) {
    const std::int64_t calls = count_calls(lives, step);
    for (std::int64_t at = 1; at <= calls; ++at) {
      for (NetworkTrap trap : traps) {
        trap.at = at;
        tally.add(cat(lives.steps()[step].name, ", the connection breaks ",
                      trap.what == What::break_before ? "at" : "after", " call ", at, " of ", calls,
                      trap.lasting ? " for ever" : ""),
                  broken_at(lives, step, trap));
      }
    }
  }
  return tally;
}

}  // namespace

int run(std::vector<std::string> words) {
  if (words.size() != 2 || (words[0] != "kill" && words[0] != "errors" && words[0] != "purge")) {
    return usage("rel_server kill|errors|purge URL");
  }
  if (words[0] == "purge") {
    const std::string url = cat(words[1], "?tenant=purge");
    const Kind kind{
        .name = "postgres",
        .open = [&url](const std::filesystem::path& /*location*/, const StoreOptions& options) {
          return open_store(url, options);
        }};
    return report(words[0], kind.name, purge_concurrently(kind)) ? 0 : 1;
  }
  Lives lives{words[1]};
  const Tally tally = words[0] == "kill" ? kill_at_every_call(lives) : break_at_every_call(lives);
  return report(words[0], "postgres", tally) ? 0 : 1;
}

}  // namespace reprise::rel
