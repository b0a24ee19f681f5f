#include "provider/testing/fixture.h"

#include <gtest/gtest.h>

#include "provider/codec.h"

namespace reprise::provider {

std::vector<std::string> lines_in_all_chunkings(
    const std::function<std::unique_ptr<Codec>()>& codec, const std::string& body) {
  const auto play = [&](std::vector<std::size_t> split_offsets) {
    ProviderFixture bench(codec(), {{.body = body, .split_offsets = std::move(split_offsets)}});
    const auto outcome = bench.ask();
    EXPECT_TRUE(outcome) << outcome.error().message;
    return bench.lines();
  };
  std::vector<std::string> whole = play({});
  for (const std::size_t step : {1U, 2U, 3U}) {
    std::vector<std::size_t> split_offsets;
    for (std::size_t at = step; at < body.size(); at += step) {
      split_offsets.push_back(at);
    }
    EXPECT_EQ(play(split_offsets), whole) << "in pieces of " << step;
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
