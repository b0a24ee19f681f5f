// Todos, Artefacts and Blobs.

#include <gtest/gtest.h>

#include <algorithm>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Entries = std::vector<Artefacts::Entry>;

TEST_P(StoreContract, TodosAreEdited) {
  REPRISE_NEEDS(capabilities().todos);
  const SessionId id = create("s", messages(1));
  const Session before = found(id);
  EXPECT_EQ(must(capabilities().todos->todos(id)), std::vector<Todo>{});
  std::vector<Todo> expected = {
      {"write \"it\"", TodoStatus::completed, "", {}},
      {"check it", TodoStatus::in_progress, "checking it", {{"id", raw("1.0")}}},
      {"", TodoStatus::pending, "", {}},
  };
  const auto replace = [&expected](std::vector<Todo>& todos) -> Result<> {
    todos = expected;
    return {};
  };
  EXPECT_EQ(must(capabilities().todos->edit_todos(id, replace)), expected);
  reopen();
  EXPECT_EQ(must(capabilities().todos->todos(id)), expected);
  const auto drop_first = [](std::vector<Todo>& todos) -> Result<> {
    todos.erase(todos.begin());
    return {};
  };
  expected.erase(expected.begin());
  EXPECT_EQ(must(capabilities().todos->edit_todos(id, drop_first)), expected);
  EXPECT_EQ(must(capabilities().todos->todos(id)), expected);
  EXPECT_EQ(found(id), before) << "todos are no activity";
}

TEST_P(StoreContract, ARefusedEditChangesNothing) {
  REPRISE_NEEDS(capabilities().todos);
  const SessionId id = create("s");
  const auto refuse = [](std::vector<Todo>& todos) -> Result<> {
    todos.push_back({"x", TodoStatus::pending, "", {}});
    return fail(Code::ambiguous, "not this one");
  };
  const auto refused = capabilities().todos->edit_todos(id, refuse);
  ASSERT_TRUE(fails(refused, Code::ambiguous));
  EXPECT_EQ(refused.error().message, "not this one");
  EXPECT_EQ(must(capabilities().todos->todos(id)), std::vector<Todo>{});
  const auto nothing = [](std::vector<Todo>& /*todos*/) -> Result<> { return {}; };
  EXPECT_EQ(must(capabilities().todos->edit_todos(id, nothing)), std::vector<Todo>{});
}

TEST_P(StoreContract, TodosOfUnknownSessionsAreNotFound) {
  REPRISE_NEEDS(capabilities().todos);
  const SessionId nobody = session_id("nobody");
  bool called = false;
  const auto edit = [&called](std::vector<Todo>& /*todos*/) -> Result<> {
    called = true;
    return {};
  };
  EXPECT_TRUE(fails(capabilities().todos->todos(nobody), Code::not_found));
  EXPECT_TRUE(fails(capabilities().todos->edit_todos(nobody, edit), Code::not_found));
  EXPECT_FALSE(called);
}

TEST_P(StoreContract, ArtefactsAreSavedAppendedAndListed) {
  REPRISE_NEEDS(capabilities().artefacts);
  Artefacts* artefacts = capabilities().artefacts;
  const SessionId id = create("s");
  const Session before = found(id);
  std::string binary;
  for (int byte = 0; byte < 256; ++byte) {
    binary += static_cast<char>(byte);
  }
  must(artefacts->save_artefact(id, {2}, "prompt.md", "old"));
  must(artefacts->save_artefact(id, {2}, "prompt.md", "new, shorter\n"));
  must(artefacts->save_artefact(id, {10}, "b", binary));
  must(artefacts->append_artefact(id, {10}, "b", binary));
  must(artefacts->append_artefact(id, {2}, "stream.log", ""));
  must(artefacts->append_artefact(id, {0}, "log", "one\n"));
  reopen();
  artefacts = capabilities().artefacts;
  must(artefacts->append_artefact(id, {0}, "log", "two\n"));
  must(artefacts->save_artefact(id, {10}, "Z", ""));
  must(artefacts->save_artefact(id, {10}, "sub/of/.a b", "deep"));
  must(artefacts->save_artefact(id, {10}, "a-1_2.x", "5 b y"));
  EXPECT_EQ(must(artefacts->find_artefact(id, {2}, "prompt.md")), "new, shorter\n");
  EXPECT_EQ(must(artefacts->find_artefact(id, {10}, "b")), binary + binary);
  EXPECT_EQ(must(artefacts->find_artefact(id, {2}, "stream.log")), "");
  EXPECT_EQ(must(artefacts->find_artefact(id, {0}, "log")), "one\ntwo\n");
  EXPECT_EQ(must(artefacts->find_artefact(id, {1}, "log")), std::nullopt);
  EXPECT_EQ(must(artefacts->find_artefact(id, {0}, "LOG")), std::nullopt);
  EXPECT_EQ(must(artefacts->list_artefacts(id)), (Entries{{{0}, "log", 8},
                                                          {{2}, "prompt.md", 13},
                                                          {{2}, "stream.log", 0},
                                                          {{10}, "Z", 0},
                                                          {{10}, "a-1_2.x", 5},
                                                          {{10}, "b", 512},
                                                          {{10}, "sub/of/.a b", 4}}));
  EXPECT_EQ(found(id), before);
}

TEST_P(StoreContract, InvalidArtefactNamesAreRefused) {
  REPRISE_NEEDS(capabilities().artefacts);
  Artefacts& artefacts = *capabilities().artefacts;
  const SessionId id = create("s");
  const std::string longest(200, 'n');
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("/a"), std::string("a/"),
        std::string("a//b"), std::string("../x"), std::string("a/../b"), std::string("a/."),
        std::string("a\0", 2), std::string(256, 'n'), std::string(4001, '/')}) {
    EXPECT_TRUE(fails(artefacts.save_artefact(id, {1}, name, "x"), Code::invalid_argument)) << name;
    EXPECT_TRUE(fails(artefacts.append_artefact(id, {1}, name, "x"), Code::invalid_argument))
        << name;
    EXPECT_TRUE(fails(artefacts.find_artefact(id, {1}, name), Code::invalid_argument)) << name;
  }
  EXPECT_TRUE(fails(artefacts.save_artefact(id, {-1}, "x", "x"), Code::invalid_argument));
  EXPECT_EQ(must(artefacts.list_artefacts(id)), Entries{});
  EXPECT_TRUE(works(artefacts.save_artefact(id, {1}, longest, "x")));
  EXPECT_TRUE(works(artefacts.save_artefact(id, {1}, "a..b", "x")));
}

// File names of other programs may be any bytes, which not every store can hold.
TEST_P(StoreContract, ArtefactNamesThatAreNotUtf8AreRefusedOrStored) {
  REPRISE_NEEDS(capabilities().artefacts);
  Artefacts& artefacts = *capabilities().artefacts;
  const SessionId id = create("s");
  Entries expected;
  for (const std::string name : {"\xff", "a\xc3", "b/\xed\xa0\x80", "c\xc0\xaf"}) {
    const auto saved = artefacts.save_artefact(id, {1}, name, "one ");
    const auto appended = artefacts.append_artefact(id, {1}, name, "two");
    const auto bytes = artefacts.find_artefact(id, {1}, name);
    if (saved) {
      EXPECT_TRUE(works(appended));
      EXPECT_EQ(must(bytes), "one two");
      expected.push_back({{1}, name, 7});
    } else {
      EXPECT_TRUE(fails(saved, Code::invalid_argument));
      EXPECT_TRUE(fails(appended, Code::invalid_argument));
      EXPECT_TRUE(fails(bytes, Code::invalid_argument));
    }
  }
  Entries listed = must(artefacts.list_artefacts(id));
  std::ranges::sort(listed, {}, &Artefacts::Entry::name);
  std::ranges::sort(expected, {}, &Artefacts::Entry::name);
  EXPECT_EQ(listed, expected);
}

TEST_P(StoreContract, ArtefactsBelongToTheirSession) {
  REPRISE_NEEDS(capabilities().artefacts);
  Artefacts& artefacts = *capabilities().artefacts;
  create("one");
  const SessionId nobody = session_id("nobody");
  must(artefacts.save_artefact(session_id("one"), {1}, "x", "1"));
  EXPECT_TRUE(fails(artefacts.save_artefact(nobody, {1}, "x", "x"), Code::not_found));
  EXPECT_TRUE(fails(artefacts.append_artefact(nobody, {1}, "x", "x"), Code::not_found));
  EXPECT_TRUE(fails(artefacts.find_artefact(nobody, {1}, "x"), Code::not_found));
  EXPECT_TRUE(fails(artefacts.list_artefacts(nobody), Code::not_found));
  if (capabilities().many_sessions) {
    create("two");
    EXPECT_EQ(must(artefacts.find_artefact(session_id("two"), {1}, "x")), std::nullopt);
    EXPECT_EQ(must(artefacts.list_artefacts(session_id("two"))), Entries{});
  }
}

std::string read_blob(Blobs& blobs, const BlobHash& hash, std::vector<std::size_t>& pieces) {
  std::string whole;
  must(blobs.read_blob(hash, [&](std::string_view piece) {
    pieces.push_back(piece.size());
    whole += piece;
    return Flow::proceed;
  }));
  return whole;
}

TEST_P(StoreContract, BlobsAreReadInPieces) {
  REPRISE_NEEDS(capabilities().blobs);
  constexpr std::size_t kPieceMax = std::size_t{1} << 20;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kPieceMax, 2 * kPieceMax + 7}) {
    std::string bytes(size, '\0');
    for (std::size_t at_byte = 0; at_byte < size; ++at_byte) {
      bytes[at_byte] = static_cast<char>((at_byte * 31 + (at_byte >> 8)) & 0xFFU);
    }
    const BlobHash hash = must(capabilities().blobs->put_blob(bytes));
    EXPECT_EQ(must(capabilities().blobs->put_blob(bytes)), hash) << "twice is once";
    reopen();
    std::vector<std::size_t> pieces;
    EXPECT_TRUE(read_blob(*capabilities().blobs, hash, pieces) == bytes) << size;
    EXPECT_TRUE(std::ranges::all_of(pieces, [](std::size_t piece) { return piece <= kPieceMax; }));
  }
}

TEST_P(StoreContract, ABlobIsIdentifiedByItsSha256) {
  REPRISE_NEEDS(capabilities().blobs);
  EXPECT_EQ(must(capabilities().blobs->put_blob("abc")).str(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_P(StoreContract, UnknownBlobsAreNotFoundAndReadersMayStop) {
  REPRISE_NEEDS(capabilities().blobs);
  const BlobHash unknown = must(BlobHash::parse(std::string(64, '0')));
  int calls = 0;
  const auto stop = [&calls](std::string_view /*piece*/) {
    ++calls;
    return Flow::stop;
  };
  EXPECT_TRUE(fails(capabilities().blobs->read_blob(unknown, stop), Code::not_found));
  EXPECT_EQ(calls, 0);
  const BlobHash large = must(capabilities().blobs->put_blob(std::string(3'000'000, 'x')));
  EXPECT_TRUE(works(capabilities().blobs->read_blob(large, stop)));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace reprise::test
