#include "engine/partial_saver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>

#include "engine/testing/messages.h"
#include "reprise/capabilities.h"
#include "reprise/provider.h"

namespace reprise {
namespace {

// Records the size of each piece. The first call blocks until it is released; calls fail as
// configured.
class SlowPartials final : public Partials {
 public:
  Result<> add_partial(const SessionId& /*id*/, const OperationId& /*answer*/,
                       std::span<const Block> delta) override {
    std::unique_lock lock(mutex_);
    std::size_t bytes = 0;
    for (const Block& block : delta) {
      bytes += std::get<TextBlock>(block).text.size();
    }
    given_.push_back(bytes);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_held_; });
    if (failures_ > 0) {
      --failures_;
      return fail(Code::io, "no room");
    }
    for (const Block& block : delta) {
      text_ += std::get<TextBlock>(block).text;
    }
    return {};
  }
  Result<> renew_lease(const SessionId& /*id*/, const OperationId& /*answer*/,
                       const Lease& /*lease*/) override {
    return {};
  }
  Result<std::optional<Partial>> find_partial(const SessionId& /*id*/) override {
    return std::nullopt;
  }

  void hold(bool is_held) {
    const std::lock_guard lock(mutex_);
    is_held_ = is_held;
    changed_.notify_all();
  }
  void fail_next(int count) { failures_ = count; }
  void wait_for_calls(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_.size() >= count; });
  }
  void wait_for_text(std::size_t bytes) {
    std::unique_lock lock(mutex_);
    while (text_.size() < bytes) {
      changed_.wait_for(lock, partial_interval());
    }
  }
  const std::vector<std::size_t>& given() const { return given_; }
  const std::string& text() const { return text_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false;
  int failures_ = 0;
  std::vector<std::size_t> given_;
  std::string text_;
};

class PartialSaverTest : public testing::Test {
 protected:
  void say(const std::string& piece, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      saver_.on(TextDelta{piece});
      reply_text_ += piece;
    }
  }

  SlowPartials partials_;
  std::string reply_text_;
  PartialSaver saver_{&partials_, *SessionId::parse("s"), OperationId::parse("a").value(), [] {}};
};

// However much has arrived while the store was slow, stop() waits only for the current write.
TEST_F(PartialSaverTest, StopWaitsForOnePieceAtMost) {
  const std::string piece(1000, 'x');
  partials_.hold(true);
  say(piece, 1);
  partials_.wait_for_calls(1);
  say(piece, 20'000);
  partials_.hold(false);
  partials_.wait_for_calls(2);
  EXPECT_EQ(saver_.stop(), std::nullopt);
  const std::size_t most = *std::ranges::max_element(partials_.given());
  EXPECT_LE(most, kPartialBytesMax + piece.size());
}

TEST_F(PartialSaverTest, EverythingIsWrittenInOrder) {
  const std::string piece = "0123456789";
  say(piece, 500'000);
  partials_.wait_for_text(reply_text_.size());
  EXPECT_EQ(saver_.stop(), std::nullopt);
  EXPECT_EQ(partials_.text(), reply_text_);
}

// On a full disk each retry writes the first piece only, not everything that has arrived since.
TEST_F(PartialSaverTest, FailedWritesAreRetriedPieceByPiece) {
  constexpr int kFailures = 10;
  const std::string piece(1000, 'y');
  partials_.fail_next(kFailures);
  say(piece, 5'000);
  partials_.wait_for_text(reply_text_.size());
  EXPECT_EQ(saver_.stop(), std::nullopt) << "a retry has succeeded";
  EXPECT_EQ(partials_.text(), reply_text_);
  const std::size_t given =
      std::accumulate(partials_.given().begin(), partials_.given().end(), std::size_t{0});
  EXPECT_LE(given, reply_text_.size() + (kFailures * (kPartialBytesMax + piece.size())));
}

TEST_F(PartialSaverTest, AFailureOfTheLastWriteIsReported) {
  partials_.fail_next(1000);
  say("x", 1);
  partials_.wait_for_calls(2);
  const auto failure = saver_.stop();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, Code::io);
}

// A tool use whose input arrives after its beginning was saved.
TEST(GrowingBlocks, RepeatAToolUseThatWasTaken) {
  GrowingBlocks blocks;
  blocks.tool_use("c", "look");
  blocks.tool_input("{\"a");
  blocks.take_piece();
  blocks.tool_input("\":1}");
  const std::vector<Block> piece = blocks.take_piece();
  EXPECT_EQ(piece, (std::vector<Block>{ToolUseBlock{"c", "look", RawJson::string("\":1}"), {}}}));
  EXPECT_TRUE(blocks.take_piece().empty());
}

}  // namespace
}  // namespace reprise
