#include "store/rules.h"

#include <gtest/gtest.h>

#include "reprise/store.h"

namespace reprise::store {
namespace {

Session session(SessionState state) {
  Session session{.info = {.id = *SessionId::parse("s")}};
  session.info.state = state;
  return session;
}

TEST(ApplyPatch, ARefusedPatchChangesNothing) {
  for (const SessionState state : {SessionState::active, SessionState::trashed}) {
    for (const SessionState listed : {SessionState::archived, SessionState::trashed}) {
      Session changed = session(state);
      const auto applied = apply_patch(changed, {.title = "x", .state = listed});
      ASSERT_FALSE(applied);
      EXPECT_EQ(applied.error().code, Code::invalid_argument);
      EXPECT_EQ(changed, session(state));
    }
  }
}

TEST(ApplyPatch, CannotMoveASessionOutOfTrashOrArchive) {
  Session trashed = session(SessionState::trashed);
  EXPECT_FALSE(apply_patch(trashed, {.state = SessionState::active}));
  EXPECT_TRUE(apply_patch(trashed, {.title = "x"}));
  EXPECT_EQ(trashed.info.title, "x");
  Session archived = session(SessionState::archived);
  EXPECT_FALSE(apply_patch(archived, {.state = SessionState::active}));
  EXPECT_TRUE(apply_patch(archived, {.title = "x"}));
}

TEST(Clamp, NoRangeExceedsTheMaximumHead) {
  for (const Seq head : {kSeqMax, kSeqMax.next(), kSeqEnd}) {
    EXPECT_EQ(clamp({}, head).to, kSeqMax.value);
    EXPECT_EQ(clamp({.from = kSeqEnd}, head).from, kSeqMax.value);
  }
  EXPECT_EQ(clamp({.from = Seq{2}}, Seq{std::numeric_limits<std::int64_t>::min()}).to, 0);
}

TEST(CheckAppend, RefusesMoreMessagesThanASessionCanHave) {
  const SessionId id = *SessionId::parse("s");
  const AppendState almost_full{.id = id, .head = {kSeqMax.value - 2}, .answer = {}};
  EXPECT_TRUE(check_append(almost_full, almost_full.head, 2, {}));
  const auto refused = check_append(almost_full, almost_full.head, 3, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_TRUE(check_append(almost_full, Seq{0}, 3, {})) << "replaces the others";
  for (const Seq wrong : {Seq{-1}, kSeqMax.next(), kSeqEnd}) {
    const auto damaged = check_append({.id = id, .head = wrong, .answer = {}}, Seq{0}, 0, {});
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code, Code::corrupt);
  }
}

TEST(CheckArtefact, NamesCannotLeaveTheirFolder) {
  for (const char* name :
       {"a", "A-Z_0.9", "a..b", "-", "_", ".a", "a/b", "a/.b/c d", "~", "a:b", "żółć", "a\\b"}) {
    EXPECT_TRUE(check_artefact({0}, name)) << name;
  }
  for (const char* name :
       {"", ".", "..", "/", "/a", "a/", "a//b", "../a", "a/../b", "a/.", "./a"}) {
    EXPECT_FALSE(check_artefact({0}, name)) << name;
  }
  EXPECT_FALSE(check_artefact({0}, std::string_view("a\0b", 3)));
  EXPECT_TRUE(check_artefact({0}, std::string(255, 'x')));
  EXPECT_FALSE(check_artefact({0}, std::string(256, 'x')));
  EXPECT_FALSE(check_artefact({-1}, "x"));
}

TEST(BlobsIn, IncludesThoseOfResultsAndImages) {
  const BlobHash one = *BlobHash::parse(std::string(64, '1'));
  const BlobHash two = *BlobHash::parse(std::string(64, '2'));
  EXPECT_EQ(blobs_in({TextBlock{one.str(), {}}, ToolResultBlock{"t", "", false, one, {}},
                      ToolResultBlock{"u", "", false, {}, {}}, ImageBlock{"", two, "", {}},
                      ImageBlock{"", {}, "url", {}}, UnknownBlock{"x", RawJson()}}),
            (std::vector<BlobHash>{one, two}));
}

TEST(Clamp, LimitsRangesToExistingMessages) {
  const auto clamped = [](std::int64_t from, std::int64_t to) {
    const Span span = clamp({.from = {from}, .to = {to}}, {5});
    return std::vector<std::int64_t>{span.from, span.to};
  };
  using Pair = std::vector<std::int64_t>;
  EXPECT_EQ(clamped(0, INT64_MAX), (Pair{0, 5}));
  EXPECT_EQ(clamped(INT64_MIN, 3), (Pair{0, 3}));
  EXPECT_EQ(clamped(2, 2), (Pair{2, 2}));
  EXPECT_EQ(clamped(4, 1), (Pair{4, 4})) << "empty";
  EXPECT_EQ(clamped(9, 12), (Pair{5, 5})) << "empty";
  EXPECT_EQ(clamped(0, INT64_MIN), (Pair{0, 0})) << "empty";
}

}  // namespace
}  // namespace reprise::store
