#include "reprise/select.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "engine/test_record.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

SessionId id_of(std::string_view text) {
  return *SessionId::parse(text);
}

TEST(ShortId, BothWays) {
  const std::pair<std::string_view, std::string_view> pairs[] = {
      {"00000000-0000-0000-0000-000000000000", "0-0-0-0-0"},
      {"b0416d7c-2e49-4408-9615-e32c41d08738", "1cwkfwc-955-dfs-tn9-2gjezntirc"},
      {"a45aa0ca-9dd9-4529-a446-d5d87d372d14", "19lopmy-v6h-dnt-wg6-2bcfaouj9w"},
      {"ffffffff-ffff-ffff-ffff-ffffffffffff", "1z141z3-1ekf-1ekf-1ekf-2rrvthnxtr"},
  };
  for (const auto& [uuid, brief] : pairs) {
    EXPECT_EQ(short_id(id_of(uuid)), brief);
    EXPECT_EQ(parse_short_id(brief)->str(), uuid);
    EXPECT_EQ(parse_short_id(ascii_lower(brief))->str(), uuid);
  }
}

TEST(ShortId, RefusesAllElse) {
  for (const std::string_view text :
       {"", "0-0-0-0", "0-0-0-0-0-0", "00-0-0-0-0", "1z141z4-0-0-0-0", "0-0-0-0-2rrvthnxts",
        "0-0-0-0-!", "0-0-0-0-zzzzzzzzzzzzzzzz", "----", "0-0-0-0-0-"}) {
    EXPECT_FALSE(parse_short_id(text)) << text;
  }
  for (const std::string_view text :
       {"abc", "b0416d7c-2e49-4408-9615-e32c41d0873g", "b0416d7c2e49-4408-9615-e32c41d08738-"}) {
    EXPECT_FALSE(short_id(id_of(text))) << text;
  }
}

class SelectTest : public testing::Test {
 protected:
  void add(std::string_view id, std::string_view title, std::string_view folder = "/a") {
    Session session = make_session(id);
    session.info.title = title;
    session.info.working_dir = folder;
    session.info.updated_at = Time(std::chrono::seconds(++seconds_));
    ASSERT_TRUE(store_->create(session));
  }
  std::string select(std::string_view sel) {
    const auto found = select_session(*store_, sel, how_);
    return found ? found->id.str() : found.error().message;
  }
  Code code(std::string_view sel) { return select_session(*store_, sel, how_).error().code; }

  std::unique_ptr<Store> store_ = open_memory_store();
  Selection how_;
  int seconds_ = 0;
};

TEST_F(SelectTest, EveryWayToNameASession) {
  add("b0416d7c-2e49-4408-9615-e32c41d08738", "one");
  add("a45aa0ca-9dd9-4529-a446-d5d87d372d14", "two words", "/b");
  how_.numbers = {id_of("a45aa0ca-9dd9-4529-a446-d5d87d372d14")};
  const std::string one = "b0416d7c-2e49-4408-9615-e32c41d08738";
  const std::string two = "a45aa0ca-9dd9-4529-a446-d5d87d372d14";
  EXPECT_EQ(select("1"), two);
  EXPECT_EQ(select(one), one);
  EXPECT_EQ(select("B0416D7C-2E49-4408-9615-E32C41D08738"), one);
  EXPECT_EQ(select(" b041 "), one);
  EXPECT_EQ(select("1cwkfwc-955-dfs-tn9-2gjezntirc"), one);
  EXPECT_EQ(select("two words"), two);
  EXPECT_EQ(select("last"), two);
  how_.working_dir = "/a";
  EXPECT_EQ(select("last"), one);
  how_.working_dir = "/c";
  EXPECT_EQ(code("last"), Code::not_found);
  for (const std::string_view sel : {"b04", "", "2", "0", "two", "TWO WORDS", "nothing\x1b[2J"}) {
    EXPECT_EQ(code(sel), Code::not_found) << sel;
  }
  EXPECT_EQ(select("x\x1b[2J").find('\x1b'), std::string::npos);
}

TEST_F(SelectTest, SeveralMatchesAreListed) {
  for (int i = 10; i < 22; ++i) {
    add(cat("0190aaaa-00", i), i % 2 == 0 ? "even\nthing" : "odd");
  }
  const auto found = select_session(*store_, "0190aaaa-001", how_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::ambiguous);
  EXPECT_TRUE(found.error().message.starts_with(
      "\"0190aaaa-001\" matches several sessions: 0190aaaa-0019 \"odd\", 0190aaaa-0018 "
      "\"even thing\", "))
      << found.error().message;
  EXPECT_EQ(found.error().message.find("and more"), std::string::npos);
  EXPECT_NE(select("0190").find(", and more"), std::string::npos);
  EXPECT_EQ(code("odd"), Code::ambiguous);
}

TEST_F(SelectTest, AnIdElsewhereIsSaid) {
  add("a45aa0ca", "x");
  how_.states = {SessionState::trashed};
  EXPECT_EQ(select("a45aa0ca"), "session a45aa0ca is active");
}

}  // namespace
}  // namespace reprise
