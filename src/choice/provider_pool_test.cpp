#include "choice/provider_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

namespace reprise::choice {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class ProviderPoolTest : public testing::Test {
 protected:
  ProviderPoolTest() {
    ProviderSettings& work = settings_.providers["work"];
    work.base_url = work.key_url = "https://work.test/v1";
    work.key_command = "key";
    settings_.providers["unfinished"].model = "m";
  }

  Sources sources() {
    return {.settings = settings_,
            .variable = [](std::string_view) { return std::optional<std::string>(); },
            .run_key_command = [this](const std::string&) -> Result<std::string> {
              return ++commands_ <= failures_
                         ? Result<std::string>(fail(Code::unauthorized, "no key today"))
                         : "secret";
            }};
  }

  Settings settings_;
  std::atomic<int> commands_ = 0;
  int failures_ = 0;
};

TEST_F(ProviderPoolTest, ThreadsShareOneProviderOfAName) {
  ProviderPool pool(sources());
  constexpr int kThreads = 8;
  std::latch start(kThreads);
  std::mutex mutex;
  std::set<Provider*> work;
  std::set<Provider*> echo;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const auto one = pool.get("work", "m");
        const auto other = pool.get("echo", "");
        const std::lock_guard lock(mutex);
        work.insert(one ? one->get() : nullptr);
        echo.insert(other ? other->get() : nullptr);
      });
    }
  }
  EXPECT_EQ(work.size(), 1U);
  EXPECT_EQ(echo.size(), 1U);
  EXPECT_FALSE(work.contains(nullptr));
  EXPECT_FALSE(echo.contains(*work.begin()));
  EXPECT_EQ(commands_, 1);
}

TEST_F(ProviderPoolTest, AFailureIsNotKept) {
  failures_ = 1;
  ProviderPool pool(sources());
  EXPECT_EQ(pool.get("work", "m").error().message, "no key today");
  EXPECT_TRUE(pool.get("work", "m"));
}

TEST_F(ProviderPoolTest, NamesAreThoseThatItAccepts) {
  settings_.provider = "echo";
  ProviderPool pool(sources());
  EXPECT_THAT(pool.names(), AllOf(Contains("work"), Contains("anthropic"), Contains("ollama"),
                                  Not(Contains("unfinished"))));
  EXPECT_EQ((*pool.get("", "m"))->name(), "echo");
  EXPECT_THAT(pool.get("nobody", "m").error().message, HasSubstr("unknown provider 'nobody'"));
  EXPECT_EQ(pool.get("LM_Studio", "m")->get(), pool.get("lmstudio", "m")->get());
}

}  // namespace
}  // namespace reprise::choice
