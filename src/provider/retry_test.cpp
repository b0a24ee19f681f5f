#include "provider/retry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>

#include "provider/testing/fixture.h"
#include "reprise/environment.h"

namespace reprise::provider {
namespace {

using std::chrono::milliseconds;

std::optional<milliseconds> after(const char* value) {
  return retry_after({{"Retry-After", value}}, FixedClock().now());
}

TEST(RetryAfter, ReadsSecondsAndDates) {
  EXPECT_EQ(after("7"), milliseconds(7000));
  EXPECT_EQ(after("0.5"), milliseconds(500));
  EXPECT_EQ(after("-3"), milliseconds(0));
  EXPECT_EQ(after("Sun, 06 Nov 1994 08:49:47 GMT"), milliseconds(10'000));
  EXPECT_EQ(after("Sun Nov  6 08:49:47 1994"), milliseconds(10'000));
  EXPECT_EQ(after("Sun, 06 Nov 1994 08:49:00 GMT"), milliseconds(0));
  // Two-digit years are in this century.
  EXPECT_GT(after("Sunday, 06-Nov-94 08:49:47 GMT"), milliseconds(10'000));
  EXPECT_EQ(retry_after({{"retry-after", "9"}, {"Retry-After-Ms", "120"}}, {}), milliseconds(120));
}

TEST(RetryAfter, IgnoresInvalidValues) {
  for (const char* value : {"", "soon", "7 s", "nan", "Sun, 06 Nov 1994", "06 Foo 1994 08:49:47",
                            "Sun, 36 Nov 1994 08:49:47 GMT", "Sun, 06 Nov 1994 28:49:47 GMT"}) {
    EXPECT_EQ(after(value), std::nullopt) << value;
  }
  EXPECT_EQ(retry_after({}, {}), std::nullopt);
  EXPECT_GT(after("1e300"), kPauseMax);
}

TEST(RetryDelay, ReadsThatOfGoogle) {
  EXPECT_EQ(retry_delay(R"({"a":1,"retryDelay": "34.4s"})"), milliseconds(34'400));
  EXPECT_EQ(retry_delay(R"({"retryDelay":"7s"})"), milliseconds(7000));
  for (const std::string_view body :
       {"", R"("retryDelay")", R"({"retryDelay":null})", R"({"retryDelay":"soon"})"}) {
    EXPECT_EQ(retry_delay(body), std::nullopt) << body;
  }
}

class MostEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> bytes) override { std::ranges::fill(bytes, 255); }
};

TEST(Backoff, DoublesAndHasABoundAndAJitter) {
  ZeroEntropy none;
  MostEntropy most;
  EXPECT_EQ(backoff(0, none), milliseconds(500));
  EXPECT_EQ(backoff(3, none), milliseconds(4000));
  EXPECT_EQ(backoff(1000, none), milliseconds(8000));
  EXPECT_EQ(backoff(0, most), milliseconds(375));
}

TEST(SleepFor, EndsByTimeOrAtOnceWhenStopped) {
  EXPECT_TRUE(sleep_for(milliseconds(1), {}));
  const std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(sleep_for(std::chrono::hours(1), stop.get_token()));
}

}  // namespace
}  // namespace reprise::provider
