// Histories with many messages: listing and reading take linear time; with a search for each
// message among all others, it would take minutes.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ostream>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/open_source.h"
#include "source/histories.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr int kExchanges = 1000;
constexpr int kTimes = 8;

double cpu_seconds() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

// The processor time that reading a history of so many exchanges takes.
double seconds_for(const History& history, int exchanges) {
  const TemporaryFolder folder;
  history.write(folder.path(), exchanges);
  const double begin = cpu_seconds();
  const auto source = must(open_source(cat(history.source, ":", folder.path().native())));
  for (const bool branches : {false, true}) {
    SessionQuery query;
    query.branches = branches;
    must(source->list(query));
  }
  std::size_t most = 0;
  for (const SessionInfo& info : must(source->list({})).sessions) {
    most = std::max(most, must(read_all(*source, info.id)).size());
  }
  EXPECT_GE(most, static_cast<std::size_t>(2 * exchanges));
  return cpu_seconds() - begin;
}

// Quadratic time is 64 times as much, or minutes. The margin is for busy machines and for parts
// that grow faster than the history: each page of branches lists all of them.
void expect_linear(double few, double many) {
  EXPECT_LT(many, 1 + 5 * kTimes * few) << few << " s, then " << many << " s";
}

class ManyMessages : public testing::TestWithParam<History> {};

TEST_P(ManyMessages, TakeLinearTime) {
  const double few = seconds_for(GetParam(), kExchanges);
  const double many = seconds_for(GetParam(), kTimes * kExchanges);
  expect_linear(few, many);
}

// The processor time that finding as many branches as there are messages before them takes, and
// reading what the current branch does not have: of abandoned messages, that is all.
double seconds_for_branches(int count, bool is_abandoned) {
  const TemporaryFolder folder;
  write_branches(folder.path(), count, is_abandoned);
  const double begin = cpu_seconds();
  const auto source = must(open_source(cat("claude:", folder.path().native())));
  SessionQuery query{.branches = true, .limit = kPageMax};
  int branches = 0;
  do {
    SessionPage page = must(source->list(query));
    for (const SessionInfo& info : page.sessions) {
      if (!info.forked_from) {
        continue;
      }
      ++branches;
      EXPECT_EQ(must(get(*source, info.id)).info.forked_from, info.forked_from);
      EXPECT_EQ(info.forked_from->at.value, is_abandoned ? 0 : count);
      if (!is_abandoned) {
        std::int64_t read = 0;
        must(source->read(info.id, {.from = info.forked_from->at}, [&](const Message&) {
          ++read;
          return Flow::proceed;
        }));
        EXPECT_EQ(read, 1);
      }
    }
    query.after = std::move(page.next);
  } while (!query.after.empty());
  EXPECT_GE(branches, count - 1);
  return cpu_seconds() - begin;
}

class ManyMessagesWithBranches : public testing::TestWithParam<bool> {};

TEST_P(ManyMessagesWithBranches, TakeLinearTime) {
  const double few = seconds_for_branches(kExchanges, GetParam());
  const double many = seconds_for_branches(kTimes * kExchanges, GetParam());
  expect_linear(few, many);
}

INSTANTIATE_TEST_SUITE_P(Histories, ManyMessagesWithBranches, testing::Bool());

INSTANTIATE_TEST_SUITE_P(Histories, ManyMessages, testing::ValuesIn(histories()),
                         [](const auto& history) { return std::string(history.param.name); });

}  // namespace
}  // namespace reprise::test
