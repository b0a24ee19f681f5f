#include "cli/program/interrupts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace reprise::cli {
namespace {

bool stops(const std::stop_token& token) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, token, std::chrono::seconds(10), [] { return false; });
  return token.stop_requested();
}

TEST(Interrupts, RequestAStop) {
  const Interrupts interrupts;
  EXPECT_EQ(interrupts.signal(), 0);
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(stops(interrupts.token()));
  EXPECT_EQ(interrupts.signal(), SIGTERM);
}

TEST(Interrupts, ContinueAfterAReset) {
  Interrupts interrupts;
  ::kill(::getpid(), SIGINT);
  EXPECT_TRUE(stops(interrupts.token()));
  interrupts.reset();
  EXPECT_FALSE(interrupts.token().stop_requested());
  ::kill(::getpid(), SIGINT);
  EXPECT_TRUE(stops(interrupts.token()));
}

TEST(InterruptsDeathTest, TheNextSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        const Interrupts interrupts;
        ::kill(::getpid(), SIGINT);
        stops(interrupts.token());
        ::kill(::getpid(), SIGINT);
        ::pause();
      },
      testing::ExitedWithCode(130), "");
}

TEST(Interrupts, RestoreSignalActions) {
  struct sigaction before{};
  ::sigaction(SIGINT, nullptr, &before);
  {
    const Interrupts interrupts;
  }
  struct sigaction after{};
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace reprise::cli
