// Clients that append numbered messages, each to its own session, retried with operation ids until
// they are acknowledged; then all messages are read and compared. A message whose acknowledgement
// took long must be readable at once.
//
// usage: postgres_writer URL CLIENTS TENANTS SECONDS [STEADY]
//        1 if something is lost, stored twice or not readable, or if an append of one of the
//        tenants STEADY (w0,w3,…), whose server does not fail, took two seconds

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Totals {
  std::mutex mutex;
  int acknowledged = 0;
  int lost = 0;
  int twice = 0;
  int misplaced = 0;
  int unreadable = 0;
  Seconds longest{};
  Seconds longest_steady{};
  std::map<std::string, int> errors;
};

class Writer {
 public:
  enum class Server : std::uint8_t { any, steady };
  Writer(std::unique_ptr<Store> store, SessionId id, Server server, Totals& totals)
      : store_(std::move(store)), id_(std::move(id)), server_(server), totals_(totals) {
    must(store_->create({.info = {.id = id_}}));
  }

  void write_until(Clock::time_point end) {
    while (Clock::now() < end) {
      append();
    }
  }

  // Unacknowledged messages may exist, too.
  void compare() {
    std::map<std::string, int> seen;
    int last = -1;
    for (const Message& message : must(read_all(*store_, id_))) {
      const std::string text = plain_text(message);
      ++seen[text];
      totals_.misplaced += std::stoi(text) < last ? 1 : 0;
      last = std::stoi(text);
    }
    const std::lock_guard lock(totals_.mutex);
    for (int number = 0; number < next_; ++number) {
      const int times = seen[std::to_string(number)];
      totals_.lost += times == 0 ? 1 : 0;
      totals_.twice += times > 1 ? 1 : 0;
    }
    totals_.acknowledged += next_;
  }

 private:
  void append() {
    const OperationId operation = make_operation_id(system_clock(), system_entropy());
    const auto start = Clock::now();
    const auto give_up = start + std::chrono::minutes(2);
    while (true) {
      const auto done =
          store_->append(id_, {user(std::to_string(next_))}, {.operation = operation});
      if (done) {
        break;
      }
      {
        const std::lock_guard lock(totals_.mutex);
        ++totals_.errors[done.error().message];
      }
      if (Clock::now() > give_up) {
        std::printf("a message was never acknowledged: %s\n", done.error().message.c_str());
        std::exit(1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const Seconds took = Clock::now() - start;
    const bool is_readable = took < kLong || reads_last();
    ++next_;
    const std::lock_guard lock(totals_.mutex);
    totals_.unreadable += is_readable ? 0 : 1;
    totals_.longest = std::max(totals_.longest, took);
    if (server_ == Server::steady) {
      totals_.longest_steady = std::max(totals_.longest_steady, took);
    }
  }

  bool reads_last() {
    bool is_last = false;
    const auto read = store_->read(id_, {.newest_first = true}, [&](const Message& message) {
      is_last = plain_text(message) == std::to_string(next_);
      return Flow::stop;
    });
    if (!read) {
      const std::lock_guard lock(totals_.mutex);
      ++totals_.errors[read.error().message];
    }
    return read && is_last;
  }

  static constexpr Seconds kLong{0.5};
  std::unique_ptr<Store> store_;
  SessionId id_;
  const Server server_;
  Totals& totals_;
  int next_ = 0;
};

struct Load {
  int clients;
  int tenants;
  int seconds;
  std::string steady;  // tenants, between commas
};

int run(const std::string& url, const Load& load) {
  constexpr Seconds kSteadyMax{2};
  const auto store = must(open_store(url));
  Totals totals;
  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < load.clients; ++i) {
    const std::string tenant = cat("w", i % load.tenants);
    const bool is_steady = load.steady.find(cat(",", tenant, ",")) != std::string::npos;
    writers.push_back(
        std::make_unique<Writer>(must(store->capabilities().tenants->of(tenant)),
                                 make_session_id(system_clock(), system_entropy()),
                                 is_steady ? Writer::Server::steady : Writer::Server::any, totals));
  }
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (const auto& writer : writers) {
      threads.emplace_back([&writer, end = start + std::chrono::seconds(load.seconds)] {
        writer->write_until(end);
      });
    }
  }
  const Seconds took = Clock::now() - start;
  for (const auto& writer : writers) {
    writer->compare();
  }
  std::printf(
      "acknowledged %d (%.0f a second), lost %d, twice %d, misplaced %d, unreadable %d, longest "
      "%.2f"
      " s, of steady tenants %.2f s\n",
      totals.acknowledged, totals.acknowledged / took.count(), totals.lost, totals.twice,
      totals.misplaced, totals.unreadable, totals.longest.count(), totals.longest_steady.count());
  for (const auto& [message, count] : totals.errors) {
    std::printf("  %d x %s\n", count, message.c_str());
  }
  const bool is_steady = totals.longest_steady < kSteadyMax;
  return totals.lost + totals.twice + totals.misplaced + totals.unreadable == 0 && is_steady ? 0
                                                                                             : 1;
}

}  // namespace
}  // namespace reprise::test

int main(int argc, char** argv) {
  if (argc < 5 || argc > 6) {
    std::puts("usage: postgres_writer URL CLIENTS TENANTS SECONDS [STEADY]");
    return 64;
  }
  return reprise::test::run(argv[1], {.clients = std::stoi(argv[2]),
                                      .tenants = std::stoi(argv[3]),
                                      .seconds = std::stoi(argv[4]),
                                      .steady = argc == 6 ? "," + std::string(argv[5]) + "," : ""});
}
