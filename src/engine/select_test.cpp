#include "reprise/select.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "engine/testing/messages.h"
#include "reprise/open_store.h"

namespace reprise {
namespace {

SessionId id_of(std::string_view text) {
  return *SessionId::parse(text);
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
  EXPECT_EQ(select("e32c41d0"), one);
  EXPECT_EQ(select("E32C"), one);
  EXPECT_EQ(select("e32c41d087389615"), one) << "lengthened";
  EXPECT_EQ(select("e32"),
            "no session matches 'e32'; `reprise list --all` lists those of all folders");
  EXPECT_EQ(select("two words"), two);
  EXPECT_EQ(select("last"), two);
  how_.working_dir = "/a";
  EXPECT_EQ(select("last"), one);
  how_.working_dir = "/c";
  EXPECT_EQ(code("last"), Code::not_found);
  for (const std::string_view sel : {"b04", "", "2", "0", "two", "nothing\x1b[2J"}) {
    EXPECT_EQ(code(sel), Code::not_found) << sel;
  }
  EXPECT_EQ(select("x\x1b[2J").find('\x1b'), std::string::npos);
}

TEST_F(SelectTest, TitlesAreComparedLikeWordsInASearch) {
  add("00000001", "Cre\u0300me bru\u0302le\u0301e");
  add("00000002", "STRASSE");
  add("00000003", "\uAC00\u304C");
  EXPECT_EQ(select("Cr\u00E8me br\u00FBl\u00E9e"), "00000001");
  EXPECT_EQ(select("creme brulee"), "00000001");
  EXPECT_EQ(select("Stra\u00DFe"), "00000002");
  EXPECT_EQ(select("\u1100\u1161\u304B\u3099"), "00000003") << "decomposed";
  EXPECT_EQ(code("\uAC00\u304B"), Code::not_found) << "another syllable";
  EXPECT_EQ(code("creme"), Code::not_found) << "only a part";
  add("00000004", "strasse");
  EXPECT_EQ(select("strasse"), "00000004") << "letter by letter";
  EXPECT_EQ(select("STRASSE"), "00000002");
  EXPECT_EQ(code("Strasse"), Code::ambiguous);
  how_.states = {SessionState::trashed};
  EXPECT_EQ(select("CREME BRULEE"), "session 00000001 is active");
}

TEST_F(SelectTest, SeveralMatchesAreListed) {
  for (int i = 10; i < 22; ++i) {
    add(cat("0190aaaa-00", i), i % 2 == 0 ? "even\nthing" : "odd");
  }
  const auto found = select_session(*store_, "0190aaaa-001", how_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::ambiguous);
  EXPECT_TRUE(found.error().message.starts_with(
      "'0190aaaa-001' matches several sessions: 0190aaaa-0019 'odd', 0190aaaa-0018 "
      "'even thing', "))
      << found.error().message;
  EXPECT_EQ(found.error().message.find("and more"), std::string::npos);
  EXPECT_NE(select("0190").find(", and more"), std::string::npos);
  EXPECT_EQ(code("odd"), Code::ambiguous);
}

TEST_F(SelectTest, TheBeginningsOfTwoKindsOfIdsAreAmbiguous) {
  const std::string by_time = "abcd1111-0000-7000-8000-000011112222";
  const std::string by_end = "01990000-0000-7000-8000-abcd33334444";
  add(by_time, "one");
  add(by_end, "other");
  EXPECT_EQ(select("abcd"),
            "'abcd' matches several sessions: 00001111 'one', abcd3333 'other'; "
            "name one by its id");
  EXPECT_EQ(select("abcd1"), by_time);
  EXPECT_EQ(select("abcd3"), by_end);
  EXPECT_EQ(select("00001111"), by_time);
}

// UUIDs created at the same time share a prefix: the printed form identifies each of them.
TEST_F(SelectTest, EveryCandidateIsNamedByWhatWasPrinted) {
  const std::vector<SessionId> ids = {
      id_of("01990000-0000-7000-8000-aaaaaaaabbbb"), id_of("01990000-0000-7000-8000-aaaaaaaabbcc"),
      id_of("01990000-0000-7000-8001-aaaaaaaabbbb"), id_of("01990000-0000-7000-8000-a0000000bbbb")};
  for (const SessionId& id : ids) {
    add(id.str(), "x");
  }
  const std::vector<std::string> brief = short_ids(ids);
  EXPECT_EQ(brief, (std::vector<std::string>{"aaaaaaaabbbb8000", "aaaaaaaabbc", "aaaaaaaabbbb8001",
                                             "a0000000"}));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(select(brief[i]), ids[i].str());
  }
}

TEST_F(SelectTest, AShortIdInAnotherStateIsReported) {
  add("01990000-0000-7000-8000-aaaabbbbcccc", "x");
  how_.states = {SessionState::trashed};
  EXPECT_EQ(select("aaaab"), "session aaaabbbb is active");
}

TEST_F(SelectTest, TheLastOneIsOpenIfTheStatesAllowIt) {
  const std::string active = "b0416d7c-2e49-4408-9615-e32c41d08738";
  const std::string trashed = "a45aa0ca-9dd9-4529-a446-d5d87d372d14";
  add(active, "x");
  add(trashed, "y");
  ASSERT_TRUE(store_->capabilities().trash->trash(id_of(trashed), Time()));
  how_.states = {SessionState::active, SessionState::closed, SessionState::archived,
                 SessionState::trashed};
  EXPECT_EQ(select("last"), active) << "the other one is newer";
  how_.states = {SessionState::trashed, SessionState::archived};
  EXPECT_EQ(select("last"), trashed);
}

TEST_F(SelectTest, TheErrorFitsTheCommand) {
  add("a45aa0ca", "x");
  ASSERT_TRUE(store_->capabilities().trash->trash(id_of("a45aa0ca"), Time()));
  how_.program = "reprise --store sqlite:x.db";
  EXPECT_EQ(select("a45aa0ca"),
            "session a45aa0ca is in the trash; `reprise --store sqlite:x.db restore a45aa0ca` "
            "brings it back");
  how_.goal = SessionState::trashed;
  EXPECT_EQ(select("a45aa0ca"),
            "session a45aa0ca is already in the trash; --purge removes it for good");
}

TEST_F(SelectTest, AnIdInAnotherStateIsReported) {
  add("a45aa0ca", "x");
  how_.states = {SessionState::trashed};
  EXPECT_EQ(select("a45aa0ca"), "session a45aa0ca is active");
}

}  // namespace
}  // namespace reprise
