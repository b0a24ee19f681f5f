#include "provider/testing/fixture.h"

#include <gtest/gtest.h>

#include "provider/codec.h"

namespace reprise::provider {

std::vector<std::string> lines_in_all_chunkings(
    const std::function<std::unique_ptr<Codec>()>& codec, const std::string& body) {
  const auto play = [&](std::vector<std::size_t> cuts) {
    ProviderFixture bench(codec(), {{.body = body, .cuts = std::move(cuts)}});
    const auto outcome = bench.ask();
    EXPECT_TRUE(outcome) << outcome.error().message;
    return bench.lines();
  };
  std::vector<std::string> whole = play({});
  for (const std::size_t step : {1U, 2U, 3U}) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = step; at < body.size(); at += step) {
      cuts.push_back(at);
    }
    EXPECT_EQ(play(cuts), whole) << "in pieces of " << step;
  }
  for (std::size_t at = 1; at < body.size(); ++at) {
    if (const auto parts = play({at}); parts != whole) {
      ADD_FAILURE() << "cut at " << at;
      EXPECT_EQ(parts, whole);
      break;
    }
  }
  return whole;
}

}  // namespace reprise::provider
