// Messages of a conversation while its server is unavailable are stored later, exactly once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "engine/copy.h"
#include "postgres/fault_proxy.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "store/outbox/outbox_file.h"
#include "support/build.h"
#include "support/must.h"
#include "support/postgres_server.h"

namespace reprise::test {
namespace {

// Calls back before each append.
class Watched final : public Store {
 public:
  Watched(Store& inner, std::function<void()> before) : inner_(inner), before_(std::move(before)) {}
  Result<> create(const Session& session) override { return inner_.create(session); }
  Result<std::optional<Session>> find(const SessionId& id) override { return inner_.find(id); }
  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return inner_.update(id, patch);
  }
  Result<SessionPage> list(const SessionQuery& query) override { return inner_.list(query); }
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override {
    before_();
    return inner_.append(id, std::move(messages), std::move(options));
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return inner_.read(id, range, sink);
  }
  const Capabilities& capabilities() const override { return inner_.capabilities(); }

 private:
  Store& inner_;
  std::function<void()> before_;
};

class PostgresOutbox : public testing::Test {
 protected:
  PostgresOutbox() { must(store_->create(session("s"))); }

  Outcome ask(Conversation& conversation, std::string_view question) {
    TurnObserver nobody;
    return must(conversation.ask(question, nobody));
  }
  std::unique_ptr<Outbox> make_outbox() {
    return store::outbox::make_outbox_file(folder_.path() / "spill", "postgres://here");
  }
  // Imports all outbox files when the server is available again.
  CopiedSession replay_outbox() {
    proxy_.come_back();
    const auto files = must(store::outbox::find_outboxes(folder_.path() / "spill"));
    EXPECT_EQ(files.size(), 1U);
    return must(reprise::replay_outbox(must(store::outbox::read_outbox(files.at(0))), *direct_));
  }
  std::vector<std::string> stored() { return texts(must(read_all(*direct_, id_))); }

  const SessionId id_ = session_id("s");
  const std::string url_ = postgres_url(new_tenant());
  TemporaryFolder folder_;
  FaultProxy proxy_{url_};
  std::unique_ptr<Store> direct_ = must(open_store(url_));
  std::unique_ptr<Store> store_ =
      must(open_store(proxy_.url(), {.busy_timeout = std::chrono::seconds(3)}));
  std::unique_ptr<Provider> provider_ = must(make_provider("echo", {}));
};

TEST_F(PostgresOutbox, AServerThatComesBackGetsTheMessages) {
  const auto outbox = make_outbox();
  StoreStatistics statistics;
  {
    Conversation conversation(*provider_, store_.get(), must(get(*store_, id_)),
                              {.outbox = outbox.get(), .statistics = &statistics});
    EXPECT_TRUE(ask(conversation, "one").saved);
    proxy_.go_away();
    EXPECT_FALSE(ask(conversation, "two").saved);
    EXPECT_FALSE(ask(conversation, "three").saved);
  }
  EXPECT_EQ(statistics.counts().spilled_turns, 2);
  EXPECT_EQ(stored().size(), 2U);
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::continued);
  const auto all = stored();
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[2], "two");
  EXPECT_EQ(all[4], "three");
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::unchanged);
  EXPECT_EQ(stored(), all);
  EXPECT_GT(
      must(
          must(open_store(url_))->capabilities().tenants->forget_operations(std::chrono::hours(0))),
      0);
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::unchanged);
  EXPECT_EQ(stored(), all);
}

// The commit succeeds, its response is lost, and the server is unavailable afterwards.
TEST_F(PostgresOutbox, ALostCommitAndItsOutboxAreOneMessage) {
  for (const int lost : {1, 2}) {  // the question, the answer
    const Seq before = must(get(*direct_, id_)).info.head;
    int appends = 0;
    std::jthread ending;
    Watched watched(*store_, [&] {
      if (++appends != lost) {
        return;
      }
      proxy_.set(Fault::delayed);
      ending = std::jthread([&, expected = before.next(lost)] {
        while (must(get(*direct_, id_)).info.head < expected) {
          std::this_thread::yield();
        }
        proxy_.go_away();
      });
    });
    auto outbox = make_outbox();
    {
      Conversation conversation(*provider_, &watched, must(get(*store_, id_)),
                                {.outbox = outbox.get()});
      EXPECT_FALSE(ask(conversation, cat("question ", lost)).saved);
    }
    ending.join();
    proxy_.set(Fault::none);
    (void)replay_outbox();
    EXPECT_EQ(must(get(*direct_, id_)).info.head, before.next(2));
    EXPECT_EQ(must(direct_->capabilities().partials->find_partial(id_)), std::nullopt);
    EXPECT_EQ(replay_outbox().outcome, CopyOutcome::unchanged);
    EXPECT_EQ(must(get(*direct_, id_)).info.head, before.next(2));
    outbox->clear();
    must(store_->find(id_));  // connects again
  }
}

TEST_F(PostgresOutbox, ASessionContinuedByOthersIsForked) {
  const auto outbox = make_outbox();
  {
    Conversation conversation(*provider_, store_.get(), must(get(*store_, id_)),
                              {.outbox = outbox.get()});
    EXPECT_TRUE(ask(conversation, "one").saved);
    proxy_.go_away();
    EXPECT_FALSE(ask(conversation, "two").saved);
  }
  must(direct_->append(id_, messages(1, "others"), {}));
  const auto before = stored();
  const CopiedSession copied = replay_outbox();
  EXPECT_EQ(copied.outcome, CopyOutcome::forked);
  EXPECT_EQ(stored(), before);
  EXPECT_EQ(replay_outbox().outcome, CopyOutcome::unchanged);
  const auto page = must(direct_->list({}));
  ASSERT_EQ(page.sessions.size(), 2U);
  for (const SessionInfo& info : page.sessions) {
    if (info.id != id_) {
      EXPECT_EQ(info.forked_from, (ForkOrigin{id_, Seq{2}}));
      EXPECT_EQ(info.head, Seq{4});
    }
  }
}

}  // namespace
}  // namespace reprise::test
