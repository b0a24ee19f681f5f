// Verification of tables with manual changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

class PostgresVerify : public testing::Test {
 protected:
  PostgresVerify() {
    const Message long_one = user(std::string(600'000, 'x'));
    must(store_->create(session("s")));
    must(store_->append(session_id("s"), {user("a"), user("b"), long_one, user("d")}, {}));
    must(store_->capabilities().forking->fork(session_id("s"), {3}, session("child")));
    must(store_->append(session_id("child"), {user("e")}, {}));
    Message seen = user("see");
    seen.blocks.emplace_back(
        ImageBlock{"image/png", must(store_->capabilities().blobs->put_blob("pixels")), "", {}});
    must(store_->append(session_id("s"), {seen}, {}));
  }

  // The damage, one line each.
  std::vector<std::string> found() {
    std::vector<std::string> lines;
    for (const Damage& damage : must(store_->capabilities().verifier->verify()).damage) {
      lines.push_back(damage.where + ": " + damage.reason);
    }
    return lines;
  }
  void change(std::string_view sql) { query(url_, std::string(sql) + " RETURNING 1"); }

  const std::string url_ = new_database();
  std::unique_ptr<Store> store_ = must(open_store(url_));
};

TEST_F(PostgresVerify, FindsNoDamageInIntactTables) {
  const VerifyReport report = must(store_->capabilities().verifier->verify());
  EXPECT_EQ(report.sessions, 2);
  EXPECT_EQ(report.messages, 6);
  EXPECT_EQ(report.damage, std::vector<Damage>{});
}

// So that no statement takes longer than a store waits, however many sessions there are.
TEST_F(PostgresVerify, ManySessionsAreVerifiedPageByPage) {
  run(url_,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " SELECT 'default', 'x' || i, CASE WHEN i IN (1, 5001) THEN 7 ELSE 0 END, 0, 0, 0, ''"
      " FROM generate_series(1, 9000) AS i");
  run(url_,
      "INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider,"
      " model, working_dir, created_us) SELECT 'default', 'x' || i, '', '', '', '', '', '', 1"
      " FROM generate_series(1, 9000) AS i WHERE i NOT IN (3, 9000)");
  run(url_,
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role,"
      " content) VALUES('default', 'y', 0, 1, 1, 0, 'user', '[]')");
  StoreStatistics statistics;
  const auto store = must(open_store(url_, {.statistics = &statistics}));
  const VerifyReport report = must(store->capabilities().verifier->verify());
  EXPECT_EQ(report.sessions, 9000);
  EXPECT_EQ(report.messages, 7);
  std::set<std::string> damaged;
  for (const Damage& damage : report.damage) {
    damaged.insert(damage.where.substr(damage.where.rfind(' ') + 1));
  }
  EXPECT_EQ(damaged, (std::set<std::string>{"x1", "x3", "x5001", "x9000", "y"}));
  EXPECT_EQ(report.damage.size(), 5U);
  EXPECT_GT(statistics.counts().round_trips.count, 40);
}

TEST_F(PostgresVerify, FindsEachKindOfDamage) {
  using testing::Contains;
  using testing::ElementsAre;
  using testing::HasSubstr;
  change("UPDATE reprise_messages SET content = '[{' WHERE seq = 0");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("session s message 0")));
  change("DELETE FROM reprise_messages WHERE seq = 0");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("session s: its first messages are missing")));
  change("DELETE FROM reprise_message_parts WHERE part = 1");
  EXPECT_THAT(found(), Contains(HasSubstr("session s message 2: a part of it is missing")));
  change("DELETE FROM reprise_messages WHERE seq = 2");
  EXPECT_THAT(found(), Contains(HasSubstr("session s message 2: it is missing")));
  change("UPDATE reprise_heads SET head = 9 WHERE session_id = 'child'");
  EXPECT_THAT(found(), Contains(HasSubstr("session child: its messages end elsewhere")));
  change("UPDATE reprise_blobs SET bytes = 'other'");
  EXPECT_THAT(found(), Contains(HasSubstr("does not match its hash")));
  change("DELETE FROM reprise_blobs");
  EXPECT_THAT(found(), Contains(HasSubstr("messages name it, but it is missing")));
  change("DELETE FROM reprise_heads WHERE session_id = 's'");
  EXPECT_THAT(found(),
              testing::IsSupersetOf({HasSubstr("session s: a part of it is missing"),
                                     HasSubstr("session child: the session that it shares")}));
}

TEST_F(PostgresVerify, HeadsAndPositionsOutOfRangeAreDamage) {
  using testing::Contains;
  using testing::HasSubstr;
  for (const char* const head :
       {"9223372036854775807", "-5", "1099511627777", "-9223372036854775808"}) {
    change(std::string("UPDATE reprise_heads SET head = ") + head + " WHERE session_id = 'child'");
    const std::string reason = std::string("the head ") + head + " is out of range";
    EXPECT_THAT(found(), Contains(HasSubstr(reason)));
    EXPECT_EQ(must(store_->list({})).damage.size(), 1U);
    const ReadReport report =
        must(store_->read(session_id("child"), {}, [](Message&&) { return Flow::proceed; }));
    ASSERT_FALSE(report.damage.empty());
    EXPECT_EQ(report.damage.front().reason, reason);
    EXPECT_TRUE(fails(store_->append(session_id("child"), {user("f")}, {}), Code::corrupt));
    const std::vector<SessionId> ids = {session_id("child")};
    EXPECT_EQ(must(store_->capabilities().last_message_reader->last_messages(ids)).size(), 1U);
  }
  change("UPDATE reprise_heads SET head = 1099511627775 WHERE session_id = 'child'");
  EXPECT_TRUE(
      fails(store_->append(session_id("child"), {user("f"), user("g")}, {}), Code::unsupported));
  change("UPDATE reprise_messages SET seq = 9223372036854775807 WHERE seq = 4");
  EXPECT_THAT(found(), Contains(HasSubstr("the position 9223372036854775807 is out of range")));
}

}  // namespace
}  // namespace reprise::test
