#include "engine/copied_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/json_scan.h"
#include "base/testing/temporary_folder.h"
#include "engine/blobs.h"
#include "engine/testing/copying.h"

namespace reprise {
namespace {

using testing::IsEmpty;

SessionId parsed_id(std::string_view text) {
  return *SessionId::parse(text);
}

bool is_version_4(const SessionId& id) {
  static const std::regex form(
      "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  return std::regex_match(id.str(), form);
}

TEST(Version4Id, FollowsFromTheId) {
  const SessionId four = parsed_id("550e8400-e29b-41d4-a716-446655440000");
  EXPECT_EQ(*version_4_id(four), four);
  const SessionId seven = parsed_id("01a2274c-aca7-73c5-9423-1a3333024069");
  const SessionId derived = *version_4_id(seven);
  EXPECT_TRUE(is_version_4(derived)) << derived.str();
  EXPECT_EQ(*version_4_id(seven), derived);
  EXPECT_EQ(*version_4_id(derived), derived);
  EXPECT_EQ(short_id(derived), short_id(seven));
  EXPECT_NE(*version_4_id(parsed_id("01a2274c-aca7-73c5-9423-1a333302406a")), derived);
  for (const char* const other : {"my-session", "01A2274C-ACA7-73C5-9423-1A3333024069",
                                  "01a2274c-aca7-43c5-c423-1a3333024069"}) {
    EXPECT_TRUE(is_version_4(*version_4_id(parsed_id(other)))) << other;
  }
}

// A store with ids of version 4, and others.
class CopiedIds : public Copying {
 protected:
  CopiedSession copied(Source& from, Store& to, const SessionId& id) {
    auto copied = copy_session(from, to, id);
    EXPECT_TRUE(copied) << copied.error().message;
    return copied.value_or(CopiedSession());
  }
  SessionId id_of_copy(Source& from, Store& to, const SessionId& id) {
    return copied(from, to, id).id.value_or(id);
  }
  static std::vector<std::string> ids_in(Store& store) {
    std::vector<std::string> ids;
    const SessionPage page = *store.list({});
    for (const SessionInfo& info : page.sessions) {
      ids.push_back(info.id.str());
    }
    return ids;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Store> four_ = *open_sessions_store(folder_.path() / "sessions");
};

TEST_F(CopiedIds, ACopyIsFoundAgainAndGetsItsIdBack) {
  add(*source_, id_, 0, 4, "m");
  const SessionId four = id_of_copy(*source_, *four_, id_);
  EXPECT_TRUE(is_version_4(four));
  EXPECT_EQ(copied(*source_, *four_, id_).outcome, CopyOutcome::unchanged);
  add(*source_, id_, 4, 6, "m");
  EXPECT_EQ(copied(*source_, *four_, id_).outcome, CopyOutcome::continued);
  EXPECT_EQ(ids_in(*four_), std::vector{four.str()});

  const CopiedSession back = copied(*four_, *target_, four);
  EXPECT_EQ(back.id, id_);
  EXPECT_EQ(get(*target_, id_)->extra, get(*source_, id_)->extra);
  EXPECT_EQ(*read_all(*target_, id_), *read_all(*source_, id_));
  add(*four_, four, 6, 7, "m");
  const CopiedSession grown = copied(*four_, *source_, four);
  EXPECT_EQ(grown.id, id_);
  EXPECT_EQ(grown.outcome, CopyOutcome::continued);
  EXPECT_EQ(ids_in(*source_), std::vector{id_.str()});
}

TEST_F(CopiedIds, ADifferenceIsAConflictWithTheCopy) {
  add(*source_, id_, 0, 2, "m");
  const SessionId four = id_of_copy(*source_, *four_, id_);
  add(*four_, four, 2, 3, "theirs");
  add(*source_, id_, 2, 3, "ours");
  EXPECT_EQ(copied(*source_, *four_, id_).outcome, CopyOutcome::conflict);
  EXPECT_EQ(copied(*four_, *source_, four).outcome, CopyOutcome::conflict);
}

TEST_F(CopiedIds, LinksToTheParentAreThoseOfTheStore) {
  add(*source_, id_, 0, 2, "m");
  Session child{.info = {.id = make_session_id(system_clock(), system_entropy())}};
  ASSERT_TRUE(source_->capabilities().forking->fork(id_, {1}, child));
  add(*source_, child.info.id, 1, 2, "c");
  const SessionId parent = id_of_copy(*source_, *four_, id_);
  const CopiedSession fork = copied(*source_, *four_, child.info.id);
  EXPECT_THAT(fork.losses, IsEmpty());
  EXPECT_EQ(get(*four_, *fork.id)->info.forked_from, (ForkOrigin{parent, {1}}));
  (void)copied(*four_, *target_, parent);
  EXPECT_EQ(copied(*four_, *target_, *fork.id).id, child.info.id);
  EXPECT_EQ(get(*target_, child.info.id)->info.forked_from, (ForkOrigin{id_, {1}}));
}

// It has the extra fields of its parent, and so the note of the parent's copy.
TEST_F(CopiedIds, AForkOfACopyIsAnotherSession) {
  add(*source_, id_, 0, 2, "m");
  const SessionId parent = id_of_copy(*source_, *four_, id_);
  Session child = *get(*four_, parent);
  child.info.id = make_session_id(system_clock(), system_entropy(), UuidVersion::v4);
  child.info.forked_from = ForkOrigin{parent, {2}};
  ASSERT_TRUE(four_->create(child));
  add(*four_, child.info.id, 0, 2, "m");
  const CopiedSession fork = copied(*four_, *source_, child.info.id);
  EXPECT_EQ(fork.id, child.info.id);
  EXPECT_EQ(get(*source_, *fork.id)->info.forked_from, (ForkOrigin{id_, {2}}));
  EXPECT_EQ(json::find_field(get(*source_, *fork.id)->extra, "copied_from"), nullptr);
}

// As builds before the first release copied them.
TEST_F(CopiedIds, ACopyWithTheSameIdIsContinued) {
  Session before = *get(*source_, id_);
  ASSERT_TRUE(four_->create(before));
  EXPECT_EQ(copied(*source_, *four_, id_).id, id_);
  EXPECT_EQ(ids_in(*four_), std::vector{id_.str()});
}

TEST_F(CopiedIds, BlobsAreBlobsAgainAfterComingBack) {
  const auto sqlite = *open_sqlite_store(folder_.path() / "a.db");
  ASSERT_TRUE(sqlite->create(*get(*source_, id_)));
  Message question = message("user", "see", 1);
  question.blocks.emplace_back(
      *put_image(sqlite.get(), ImageBlock{"image/png", {}, "data:image/png;base64,aGVsbG8=", {}}));
  Message result = message("tool", "", 2);
  result.blocks = {tool_result_block(sqlite.get(), "t1", std::string(kInlineBytesMax + 1, 'x'))};
  ASSERT_TRUE(sqlite->append(id_, {question, result}, {}));
  const SessionId four = id_of_copy(*sqlite, *four_, id_);
  EXPECT_EQ(copied(*four_, *sqlite, four).outcome, CopyOutcome::unchanged);
  const auto other = *open_sqlite_store(folder_.path() / "b.db");
  const CopiedSession back = copied(*four_, *other, four);
  EXPECT_EQ(back.outcome, CopyOutcome::copied);
  EXPECT_THAT(back.losses, IsEmpty());
  EXPECT_EQ(*read_all(*other, id_), *read_all(*sqlite, id_));
  EXPECT_EQ(copied(*four_, *other, four).outcome, CopyOutcome::unchanged);
}

TEST_F(CopiedIds, WhatCouldNotBeStoredIsDeliveredUnderSuchAnId) {
  OutboxSession outbox{.session = *get(*source_, id_),
                       .fork = make_session_id(system_clock(), system_entropy())};
  outbox.steps.push_back(
      {.operation = *OperationId::parse("op"), .messages = {message("user", "q", 1)}});
  for (int deliveries = 0; deliveries < 2; ++deliveries) {
    ASSERT_TRUE(replay_outbox(outbox, *four_));
    EXPECT_EQ(ids_in(*four_), std::vector{version_4_id(id_)->str()});
  }
}

TEST_F(CopiedIds, TheTimeOfTheLastActivityIsCopied) {
  add(*source_, id_, 0, 2, "m");
  const Time later = Time(std::chrono::seconds(1'700'009'000));
  ASSERT_TRUE(source_->update(id_, {.updated_at = later}));
  EXPECT_THAT(copied(*source_, *target_, id_).losses, IsEmpty());
  EXPECT_EQ(get(*target_, id_)->info.updated_at, later);
}

}  // namespace
}  // namespace reprise
