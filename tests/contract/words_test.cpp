// The words of messages, in stores that index them.

#include <gtest/gtest.h>

#include "base/text.h"
#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

// The words of a text are separated by blanks.
WordEntry entry_of(const Message& message) {
  WordEntry entry{.parts = {{}}, .attributes = {cat("\x01", message.role)}};
  for (const Block& block : message.blocks) {
    if (const auto* const text = std::get_if<TextBlock>(&block)) {
      std::string_view rest = text->text;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        entry.parts[0].emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }
  return entry;
}

using Locations = std::vector<std::string>;

Locations places(const std::vector<WordHit>& hits) {
  Locations all;
  for (const WordHit& hit : hits) {
    all.push_back(cat(hit.session.str(), "#", hit.seq.value));
  }
  return all;
}

WordQuery query_for(std::vector<WordPhrase> phrases) {
  return {.phrases = std::move(phrases)};
}

TEST_P(StoreContract, WordsAreFound) {
  REPRISE_NEEDS(capabilities().word_index && capabilities().trash && capabilities().forking);
  WordIndex& words = *capabilities().word_index;
  const auto find = [&](const WordQuery& query) {
    EXPECT_TRUE(must(words.index_words(entry_of, [](auto, auto) { return Flow::proceed; })));
    return places(must(words.find_words(query, "", 100)));
  };
  EXPECT_EQ(find(query_for({{.words = {"disk"}}})), Locations{});
  const SessionId a =
      create("a", {user("the disk is full", at(1)), assistant("a full disk", at(2))});
  const SessionId b = create("b", {user("disks", at(3))});
  EXPECT_EQ(find(query_for({{.words = {"disk"}}})), (Locations{"a#1", "a#0"}));
  EXPECT_EQ(find(query_for({{.words = {"full", "disk"}}})), Locations{"a#1"});
  EXPECT_EQ(find(query_for({{.words = {"disk"}, .prefix = true}})),
            (Locations{"b#0", "a#1", "a#0"}));
  EXPECT_EQ(find(query_for({{.words = {"disk"}}, {.words = {"the"}, .without = true}})),
            Locations{"a#1"});
  WordQuery queried = query_for({{.words = {"disk"}}});
  queried.attributes = {"\x01user"};
  EXPECT_EQ(find(queried), Locations{"a#0"});
  queried.attributes = {};
  queried.since = at(2);
  EXPECT_EQ(find(queried), Locations{"a#1"});
  queried.since = std::nullopt;
  queried.session = b;
  EXPECT_EQ(find(queried), Locations{});
  queried.session = a;
  queried.with_counts = true;
  const std::vector<WordHit> hits = must(words.find_words(queried, "", 1));
  ASSERT_EQ(places(hits), Locations{"a#1"});
  EXPECT_EQ(hits[0].counts, "\x01");
  EXPECT_TRUE(hits[0].is_certain);
  EXPECT_EQ(places(must(words.find_words(queried, hits[0].place, 9))), Locations{"a#0"});
  EXPECT_TRUE(fails(words.find_words(queried, "nowhere", 9), Code::invalid_argument));
  EXPECT_EQ(must(words.word_densities(queried)).size(), 1U);

  // Words too long for an index.
  create("d", {user(cat("disk ", std::string(5000, 'y')), at(5))});
  EXPECT_EQ(find(query_for({{.words = {"disk"}}})), (Locations{"d#0", "a#1", "a#0"}));

  must(capabilities().forking->fork(a, Seq{1}, session("c")));
  EXPECT_EQ(find(query_for({{.words = {"full"}}})), (Locations{"a#1", "a#0"}));
  must(capabilities().trash->trash(a, at(9)));
  EXPECT_EQ(find(query_for({{.words = {"full"}}})), Locations{"c#0"});
  must(capabilities().trash->purge(b));
  EXPECT_EQ(find(query_for({{.words = {"disks"}}})), Locations{});
}

}  // namespace
}  // namespace reprise::test
