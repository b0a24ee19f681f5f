// Clients that append numbered messages, each to its own session, retried with operation ids until
// they are acknowledged; then all messages are read and compared.
//
// usage: postgres_writer URL CLIENTS TENANTS SECONDS    1 if something is lost or stored twice

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
  Seconds longest{};
  std::map<std::string, int> errors;
};

class Writer {
 public:
  Writer(std::unique_ptr<Store> store, SessionId id, Totals& totals)
      : store_(std::move(store)), id_(std::move(id)), totals_(totals) {
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
    ++next_;
    const std::lock_guard lock(totals_.mutex);
    totals_.longest = std::max<Seconds>(totals_.longest, Clock::now() - start);
  }

  std::unique_ptr<Store> store_;
  SessionId id_;
  Totals& totals_;
  int next_ = 0;
};

int run(const std::string& url, int clients, int tenants, int seconds) {
  const auto store = must(open_store(url));
  Totals totals;
  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < clients; ++i) {
    auto view = must(store->capabilities().tenants->of(cat("w", i % tenants)));
    writers.push_back(std::make_unique<Writer>(
        std::move(view), make_session_id(system_clock(), system_entropy()), totals));
  }
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (const auto& writer : writers) {
      threads.emplace_back(
          [&writer, end = start + std::chrono::seconds(seconds)] { writer->write_until(end); });
    }
  }
  const Seconds took = Clock::now() - start;
  for (const auto& writer : writers) {
    writer->compare();
  }
  std::printf("acknowledged %d (%.0f a second), lost %d, twice %d, misplaced %d, longest %.2f s\n",
              totals.acknowledged, totals.acknowledged / took.count(), totals.lost, totals.twice,
              totals.misplaced, totals.longest.count());
  for (const auto& [message, count] : totals.errors) {
    std::printf("  %d x %s\n", count, message.c_str());
  }
  return totals.lost + totals.twice + totals.misplaced == 0 ? 0 : 1;
}

}  // namespace
}  // namespace reprise::test

int main(int argc, char** argv) {
  if (argc != 5) {
    std::puts("usage: postgres_writer URL CLIENTS TENANTS SECONDS");
    return 64;
  }
  return reprise::test::run(argv[1], std::stoi(argv[2]), std::stoi(argv[3]), std::stoi(argv[4]));
}
