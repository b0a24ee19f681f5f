// Many concurrently streaming answers of one process: the cost of their pieces for the server.

#include <atomic>
#include <thread>

#include "bare_postgres.h"
#include "grown_store.h"
#include "measure.h"
#include "messages.h"
#include "postgres_rows.h"
#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "reprise/session.h"
#include "reprise/store.h"

namespace bench {
namespace {

using reprise::OperationId;
using reprise::PartialStart;

const char* const kCommits =
    "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
// The delay after which the server's statistics include a commit.
constexpr std::chrono::milliseconds kCounted{2500};

// Like a turn: a piece of about 20 tokens at each interval, and a lease renewed every 3 seconds.
void stream(reprise::Store& store, const reprise::SessionId& id, const OperationId& answer,
            Clock::time_point end) {
  reprise::Partials& partials = *store.capabilities().partials;
  const std::vector<reprise::Block> piece = {reprise::TextBlock{std::string(80, 'x'), {}}};
  auto renew_at = Clock::now() + std::chrono::seconds(3);
  for (auto next = Clock::now(); next < end; next += partials.partial_interval()) {
    std::this_thread::sleep_until(next);
    must(partials.add_partial(id, answer, piece));
    if (Clock::now() >= renew_at) {
      must(partials.renew_lease(id, answer, {.length = std::chrono::seconds(30)}));
      renew_at += std::chrono::seconds(3);
    }
  }
}

}  // namespace

void streams(const Server& server, const Scale& scale) {
  const std::size_t count = scale.rounds > 2 ? 1000 : 50;
  const std::chrono::seconds time(scale.rounds > 2 ? 20 : 4);
  const std::string url = make_database(server, "streams");
  const auto store = open(url, "default");
  const OperationId answer =
      reprise::make_operation_id(reprise::system_clock(), reprise::system_entropy());
  std::vector<reprise::SessionId> ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(add_session(*store));
    must(store->append(ids.back(), {},
                       {.begin_partial = PartialStart{answer, reprise::this_process(), "p", "m"}}));
  }
  BarePostgres bare(url);
  std::this_thread::sleep_for(kCounted);
  const std::int64_t before = bare.number(kCommits);
  const double all = time_us([&] {
    const auto end = Clock::now() + time;
    std::vector<std::jthread> threads;
    for (const reprise::SessionId& id : ids) {
      threads.emplace_back([&store, &answer, id, end] { stream(*store, id, answer, end); });
    }
  });
  std::this_thread::sleep_for(kCounted);
  const auto commits = static_cast<double>(bare.number(kCommits) - before);
  const auto pieces = static_cast<double>(bare.number("SELECT count(*) FROM reprise_deltas"));
  const std::string many = std::to_string(count);
  print_absolute("pg", many + " answers that stream, commits", commits * 1e6 / all, "per s",
                 at_most(50));
  print_absolute("pg", many + " answers that stream, pieces of each",
                 pieces * 1e6 / all / static_cast<double>(count), "per s", at_least(3));
}

}  // namespace bench
