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

class ManyMessages : public testing::TestWithParam<History> {};

TEST_P(ManyMessages, TakeLinearTime) {
  constexpr int kTimes = 8;
  const double few = seconds_for(GetParam(), kExchanges);
  const double many = seconds_for(GetParam(), kTimes * kExchanges);
  // Quadratic time is 64 times as much. Less than that may be the time of a busy machine.
  EXPECT_TRUE(many < 1 || many < 2.5 * kTimes * few) << few << " s, then " << many << " s";
}

INSTANTIATE_TEST_SUITE_P(Histories, ManyMessages, testing::ValuesIn(histories()),
                         [](const auto& history) { return std::string(history.param.name); });

}  // namespace
}  // namespace reprise::test
