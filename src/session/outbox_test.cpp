// Undelivered messages on this machine, including unreadable ones.

#include "session/outbox.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "reprise/outbox.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUrl = "postgres://user@host/history";

class OutboxFolderTest : public testing::Test {
 protected:
  void add_session() const {
    const auto outbox = make_outbox(folder_, kUrl);
    ASSERT_TRUE(outbox->add(
        Session{.info = {.id = *SessionId::parse("s")}},
        {.operation = *OperationId::parse("op"), .messages = {Message{.role = "user"}}}));
  }

  const test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(OutboxFolderTest, CountsSessionsOfOneStore) {
  add_session();
  EXPECT_EQ(*count_outbox_sessions(folder_, kUrl), 1U);
  EXPECT_EQ(*count_outbox_sessions(folder_, "postgres://other/history"), 0U);
  EXPECT_EQ(*count_outbox_sessions(folder_, "sqlite:history.db"), 0U);
}

// What a conversation may still add to.
TEST_F(OutboxFolderTest, AnOutboxInUseIsNotRead) {
  const auto outbox = make_outbox(folder_, kUrl);
  const auto add = [&](std::string_view operation) {
    return outbox->add(
        Session{.info = {.id = *SessionId::parse("t")}},
        {.operation = *OperationId::parse(operation), .messages = {Message{.role = "user"}}});
  };
  ASSERT_TRUE(add("one"));
  add_session();
  const auto outboxes = read_outboxes(folder_, kUrl, [](std::string_view) {});
  ASSERT_TRUE(outboxes) << outboxes.error().message;
  EXPECT_EQ(outboxes->begin.size(), 1U);
  EXPECT_TRUE(outboxes->begin.contains(*SessionId::parse("s")));
  EXPECT_EQ(*count_outbox_sessions(folder_, kUrl), 1U);
}

// Messages that it replaces may be on the server only.
TEST_F(OutboxFolderTest, AStepThatReplacesEarlierMessagesIsWhereTheSessionBegins) {
  const SessionId id = *SessionId::parse("s");
  const auto message = [](std::string_view text) {
    return Message{.role = "user", .blocks = {TextBlock{std::string(text), {}}}};
  };
  {
    const auto outbox = make_outbox(folder_, kUrl);
    const Session session{.info = {.id = id}};
    ASSERT_TRUE(outbox->add(session, {.operation = *OperationId::parse("one"),
                                      .after = Seq{5},
                                      .messages = {message("one"), message("two")}}));
    ASSERT_TRUE(outbox->add(session, {.operation = *OperationId::parse("two"),
                                      .after = Seq{7},
                                      .messages = {message("instead")},
                                      .replace_from = Seq{3}}));
  }
  const auto outboxes = read_outboxes(folder_, kUrl, [](std::string_view) {});
  ASSERT_TRUE(outboxes) << outboxes.error().message;
  EXPECT_EQ(outboxes->begin.at(id), Seq{3});
  const auto messages = read_all(*outboxes->store, id);
  ASSERT_EQ(messages->size(), 1U);
  EXPECT_EQ(plain_text(messages->front()), "instead");
}

// An unreadable file may belong to any store; delivery reports the error.
TEST_F(OutboxFolderTest, CountsUnreadableFiles) {
  fs::create_directory(folder_ / "0.jsonl");
  std::ofstream(folder_ / "1.jsonl") << "no outbox\n";
  EXPECT_EQ(*count_outbox_sessions(folder_, kUrl), 2U);
  EXPECT_EQ(find_outbox_files("", folder_.native(), kUrl)->size(), 2U);
  EXPECT_EQ(find_outbox_files(folder_, "", kUrl)->size(), 2U);
  std::vector<std::string> warnings;
  const auto outboxes = read_outboxes(
      folder_, kUrl, [&warnings](std::string_view text) { warnings.emplace_back(text); });
  ASSERT_TRUE(outboxes);
  EXPECT_TRUE(outboxes->begin.empty());
  EXPECT_EQ(warnings.size(), 2U);
}

}  // namespace
}  // namespace reprise
