// Decoding and encoding.

#include "store/chain/codec.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "chain/chain_fixture.h"
#include "reprise/store.h"
#include "store/document/document_format.h"
#include "support/build.h"
#include "support/print.h"

namespace reprise::store::chain {
namespace {

using test::at;
using test::kOriginalChain;
using Chain = std::vector<ResponseLink>;

Document read(std::string_view bytes) {
  return decode("/somewhere/conversations.json", bytes);
}

std::string write(Document document) {
  return encode(document);
}

std::string replaced(std::string_view in, std::string_view what, std::string_view with) {
  std::string text(in);
  const auto place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), with);
}

Session& row(Document& document, std::size_t place) {
  return document.sessions.at(place).stored.session;
}

TEST(ChainCodec, ReadsWhatTheOriginalWrote) {
  Document document = read(kOriginalChain);
  ASSERT_EQ(document.sessions.size(), 2U);
  EXPECT_FALSE(document.unreadable);
  const Session& first = row(document, 0);
  EXPECT_EQ(first.info.id.str(), "0b1a2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d");
  EXPECT_EQ(first.info.title, "Mana base advice for FRF");
  EXPECT_EQ(first.info.mode, "draft");
  EXPECT_EQ(first.info.working_dir, "/home/me/drafts/FRF");
  EXPECT_EQ(first.info.provider, "openai-responses");
  EXPECT_EQ(first.info.head, Seq{0});
  EXPECT_EQ(first.response_chain,
            (Chain{{"openai-responses", "resp_1"}, {"openai-responses", "resp_2"}}));
  EXPECT_EQ(format_time(first.info.updated_at), "2026-01-18T20:20:00Z");
  EXPECT_EQ(row(document, 1).info.working_dir, "");
  EXPECT_EQ(row(document, 1).response_chain, Chain{});
}

TEST(ChainCodec, WritesBackTheBytesItRead) {
  EXPECT_EQ(write(read(kOriginalChain)), kOriginalChain);
  EXPECT_EQ(write(read("{\"conversations\":[]}")), "{\n  \"conversations\": []\n}");
}

TEST(ChainCodec, FormatsLikeTheOriginal) {
  Document document = read(kOriginalChain);
  for (FileSession& session : document.sessions) {
    session.encoded = {};
  }
  EXPECT_EQ(write(document), kOriginalChain);
}

TEST(ChainCodec, OnlyAChangedRowIsFormattedAgain) {
  std::string text = replaced(kOriginalChain, "\"title\": \"Top", "\"n\": 1.0, \"title\": \"Top");
  text = replaced(text, "2026-01-19T20:15:30.123Z", "2026-01-19T21:15:30.123+01:00");
  text = replaced(text, "[]", "[ ]");
  Document document = read(text);
  row(document, 0).info.title = "Another";
  EXPECT_EQ(write(document), replaced(replaced(text, "Mana base advice for FRF", "Another"),
                                      "\"n\": 1.0, \"title\"", "\"n\": 1.0,\n      \"title\""))
      << "the second row keeps its spelling";
  row(document, 1).info.title = "Changed";
  const std::string both = write(document);
  EXPECT_NE(both.find("\"n\": 1.0"), std::string::npos);
  EXPECT_NE(both.find("2026-01-19T20:15:30.123Z"), std::string::npos);
}

// The original program fails on any other mode.
TEST(ChainCodec, ARowHasAModeThatTheOriginalKnows) {
  const std::string original = replaced(kOriginalChain, "\n      \"mode\": \"draft\",", "");
  for (const auto& [mode, written] : {std::pair("", "explore"),
                                      {"review", "explore"},
                                      {"explore", "explore"},
                                      {"draft", "draft"}}) {
    Document document = read(original);
    EXPECT_EQ(write(document), original) << "unchanged rows stay as they are";
    row(document, 0).info.mode = mode;
    row(document, 0).info.title = "changed";
    const std::string text = write(document);
    EXPECT_EQ(
        text.find("\"title\": \"changed\",\n      \"mode\": \"" + std::string(written) + "\""),
        text.find("\"title\": \"changed\""))
        << text;
    Document again = read(text);
    EXPECT_EQ(row(again, 0).info.mode, mode) << "ours is kept";
    again = read(replaced(text, cat("\"mode\": \"", written, "\""), "\"mode\": \"other\""));
    EXPECT_EQ(row(again, 0).info.mode, "other") << "another program has changed it";
  }
}

TEST(ChainCodec, ABadRowCostsOnlyItself) {
  const std::string_view bad = R"({"conversations": [
    17, {"id": "a", "title": "A"}, {"title": "no id"}, {"id": "../../etc/x"}, {"id": ""}, null,
    {"id": "a", "title": "second"}, {"id": "b", "responseIds": "resp"},
    {"id": "c", "responseIds": ["r", 1.0]}, {"id": "d", "title": 5, "createdAt": "soon"}],
    "version": 1.0})";
  Document document = read(bad);
  ASSERT_EQ(document.sessions.size(), 2U);
  EXPECT_EQ(row(document, 0).info.title, "A");
  EXPECT_EQ(row(document, 1).info.id.str(), "d");
  ASSERT_EQ(document.damage.size(), 8U);
  EXPECT_EQ(document.damage.front().where, "/somewhere/conversations.json: row 1");
  EXPECT_EQ(document.damage[4].reason, "it is not an object");
  EXPECT_EQ(document.damage[5].reason, "another row has its id");
  const std::string written = write(document);
  for (const char* const part :
       {"\n    17,", "\"no id\"", "../../etc/x", "\"second\"", "\"responseIds\": \"resp\"",
        "[\"r\", 1.0]", "\"title\": 5", "\"createdAt\": \"soon\"", "\"version\": 1.0"}) {
    EXPECT_NE(written.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(write(read(written)), written);
  row(document, 1).info.model = "m";
  const std::string changed = write(document);
  EXPECT_NE(changed.find("\"title\": 5"), std::string::npos) << "kept in a row that changes, too";
  EXPECT_NE(changed.find("\"createdAt\": \"soon\""), std::string::npos);
  EXPECT_EQ(row(document, 1), read(changed).sessions.at(1).stored.session);
}

std::ptrdiff_t count_of(std::string_view text, std::string_view part) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The design requires both times. An unknown one stands in the row as the other, until the original
// changes it.
TEST(ChainCodec, RowsHaveBothTimesAndUnknownOnesStayUnknown) {
  Document document;
  for (const auto& [id, time] : {std::pair("known", at(5)), std::pair("unknown", Time{})}) {
    document.sessions.push_back(
        FileSession{{.session = {.info = {.id = test::session_id(id), .updated_at = time}}}});
  }
  const std::string written = write(document);
  EXPECT_EQ(written.find("1970-"), std::string::npos) << written;
  EXPECT_EQ(count_of(written, "\"createdAt\": "), 2);
  EXPECT_EQ(count_of(written, "\"updatedAt\": "), 2);
  Document again = read(written);
  EXPECT_EQ(row(again, 0), row(document, 0));
  EXPECT_EQ(row(again, 1), row(document, 1));
  std::string used = written;
  const std::size_t time = used.rfind("\"updatedAt\": \"") + 14;
  used.replace(time, 4, "2031");
  again = read(used);
  EXPECT_EQ(format_time(row(again, 1).info.updated_at).substr(0, 4), "2031");
  EXPECT_EQ(row(again, 1).info.created_at, Time{});
}

TEST(ChainCodec, HoldsEverythingExceptText) {
  Document document;
  document.sessions.push_back(FileSession{{.session = test::full_session("whole")}});
  document.sessions.push_back(FileSession{{.session = {.info = {.id = test::session_id("e")}}}});
  document.sessions.push_back(FileSession{{.session = test::session("s", at(3, 17))}});
  add_operation(document.sessions.front().stored, test::operation_id("op"), {}, {});
  const std::string written = write(document);
  const Document again = read(written);
  ASSERT_EQ(again.sessions.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again.sessions[i].stored.session, document.sessions[i].stored.session);
  }
  EXPECT_EQ(again.sessions.front().stored.operations.size(), 1U);
  EXPECT_EQ(write(again), written);
  EXPECT_NE(written.find("\"resp_1\",\n        \"resp_2\",\n        \"resp_1\""), std::string::npos)
      << "the ids stand where the original looks for them";
}

TEST(ChainCodec, LaterChangesOfAnotherProgramTakePrecedence) {
  Document document = read(kOriginalChain);
  row(document, 0).response_chain.back().provider = "other";
  row(document, 0).info.updated_at = at(0, 1);
  std::string text = write(document);
  text = replaced(text, "\"resp_2\"\n", "\"resp_2\",\n        \"resp_3\"\n");
  text = replaced(text, "\"updatedAt\": \"2026-01-18T", "\"updatedAt\": \"2027-01-18T");
  Document theirs = read(text);
  EXPECT_EQ(
      row(theirs, 0).response_chain,
      (Chain{{"openai-responses", "resp_1"}, {"other", "resp_2"}, {"openai-responses", "resp_3"}}));
  EXPECT_EQ(format_time(row(theirs, 0).info.updated_at).substr(0, 4), "2027");
}

TEST(ChainCodec, DatesMustHaveOffsets) {
  Document document = read(R"({"conversations": [
    {"id": "a", "updatedAt": "2026-01-18T20:00:00+02:00"}, {"id": "b", "updatedAt": "yesterday"},
    {"id": "c", "updatedAt": 5}, {"id": "d"}]})");
  EXPECT_EQ(format_time(row(document, 0).info.updated_at), "2026-01-18T18:00:00Z");
  for (const std::size_t place : {1U, 2U, 3U}) {
    EXPECT_EQ(row(document, place).info.updated_at, Time{}) << "the oldest of all";
  }
}

TEST(ChainCodec, OtherFilesAreQuarantined) {
  for (const char* const bytes :
       {"", "{}", "null", "[]", "17", "{", "{}x", "\xEF\xBB\xBF{\"conversations\":[]}", "not json",
        R"({"conversations": {}})", R"({"conversations": null})",
        R"({"conversations": [], "conversations": 1})", R"({"conversations": [)"}) {
    const Document document = read(bytes);
    EXPECT_TRUE(document.unreadable) << bytes;
    EXPECT_TRUE(document.sessions.empty()) << bytes;
  }
  const Document twice =
      read(R"({"conversations": [{"id": "a"}], "conversations": [{"id": "b"}]})");
  EXPECT_TRUE(twice.unreadable);
  EXPECT_EQ(twice.sessions.size(), 1U);
  EXPECT_TRUE(read("{\"conversations\":[{\"id\":\"a\",\"title\":\"\xFF\"}]}").unreadable);
}

TEST(ChainCodec, AnyTruncationIsReported) {
  for (std::size_t cut = 0; cut < kOriginalChain.size() - 1; ++cut) {
    ASSERT_TRUE(read(kOriginalChain.substr(0, cut)).unreadable) << cut;
  }
}

TEST(ChainCodec, DeepNestingIsHandled) {
  EXPECT_TRUE(read(cat("{\"conversations\": ", std::string(100'000, '['), "}")).unreadable);
}

}  // namespace
}  // namespace reprise::store::chain
