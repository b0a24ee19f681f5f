// Tests of the picker's message search, and where Enter opens a session.

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

State picking_texts() {
  State state = empty_state(kUsual);
  begin(state, {.pick = true, .all_folders = true});
  PickerRow row;
  row.id = "id-1";
  row.title = "a session";
  row.words = row.title;
  update(state, PageLoaded{.generation = 1, .rows = {row}, .next = ""});
  key(state, "Ctrl-F");
  return state;
}

PickerRow message(std::string id, std::int64_t seq, std::string snippet) {
  PickerRow row;
  row.id = std::move(id);
  row.title = "Release notes";
  row.seq = Seq{seq};
  row.snippet = std::move(snippet);
  row.match = "Needle";
  return row;
}

TEST(PickerTexts, SearchesAsTheUserTypes) {
  State state = picking_texts();
  EXPECT_NE(shown(state).find("Search all messages"), std::string::npos);
  EXPECT_NE(shown(state).find("type to search messages"), std::string::npos);
  EXPECT_EQ(shown(state).find("a session"), std::string::npos);
  const auto first = only<SearchTexts>(type(state, "needle"));
  EXPECT_EQ(first.words, "needle");
  EXPECT_TRUE(first.all_folders);
  const auto second = only<SearchTexts>(type(state, " hay"));
  EXPECT_EQ(second.words, "needle hay");
  // The response to an earlier search is ignored.
  update(state, TextsFound{.generation = first.generation, .rows = {{message("id-1", 7, "old")}}});
  EXPECT_EQ(shown(state).find("old"), std::string::npos);
  update(state, TextsFound{.generation = second.generation,
                           .rows = {{message("id-1", 7, "a Needle in the hay"),
                                     message("id-1", 3, "hay on a Needle")}}});
  EXPECT_NE(shown(state).find("a Needle in the hay"), std::string::npos);
  EXPECT_NE(shown(state).find("2 messages"), std::string::npos) << shown(state);
  const auto third = only<SearchTexts>(key(state, "Backspace"));
  EXPECT_EQ(third.words, "needle ha");
  // The list is unchanged meanwhile.
  EXPECT_NE(shown(state).find("a Needle in the hay"), std::string::npos);
  update(state, TextsFound{.generation = third.generation,
                           .rows = std::nullopt,
                           .note = "indexing: 4,096 of 9,000 messages"});
  EXPECT_NE(shown(state).find("indexing: 4,096 of 9,000 messages"), std::string::npos);
}

TEST(PickerTexts, ReturnsToTheSessions) {
  State state = picking_texts();
  type(state, "x");
  key(state, "Backspace");
  const Effects effects = key(state, "Ctrl-F");
  EXPECT_TRUE(std::ranges::any_of(
      effects, [](const Effect& effect) { return std::holds_alternative<LoadPage>(effect); }));
  EXPECT_NE(shown(state).find("Resume a session"), std::string::npos);
}

TEST(PickerTexts, DoesNotDeleteOrRename) {
  State state = picking_texts();
  const auto requested = only<SearchTexts>(type(state, "needle"));
  update(state,
         TextsFound{.generation = requested.generation, .rows = {{message("id-1", 7, "Needle")}}});
  EXPECT_TRUE(key(state, "Delete").empty());
  EXPECT_TRUE(key(state, "F2").empty());
  EXPECT_FALSE(state.picker->new_title);
}

std::vector<Entry> history(std::int64_t from, std::int64_t to) {
  std::vector<Entry> entries;
  for (std::int64_t i = from; i < to; ++i) {
    entries.push_back({.kind = Entry::Kind::answer,
                       .text = i % 40 == 7 ? "a needle in message " + std::to_string(i)
                                           : "message " + std::to_string(i),
                       .seq = Seq{i}});
  }
  return entries;
}

// Opens the session at the hit; messages from `oldest` on are loaded.
State opened_at(std::int64_t seq, std::int64_t oldest) {
  State state = picking_texts();
  const auto requested = only<SearchTexts>(type(state, "needle"));
  update(state, TextsFound{.generation = requested.generation,
                           .rows = {{message("id-1", seq, "Needle")}}});
  const auto open = only<OpenSession>(key(state, "Enter"));
  EXPECT_EQ(open.sel, "id-1");
  EXPECT_FALSE(state.picker);
  const Effects effects = update(state, TabOpened{.tab = open.tab,
                                                  .metadata = {.id = "id-1"},
                                                  .entries = history(oldest, 500),
                                                  .oldest = Seq{oldest},
                                                  .prompts = {}});
  if (seq < oldest) {
    const auto older = only<LoadOlder>(effects);
    EXPECT_EQ(older.before, Seq{oldest});
    EXPECT_GE(older.count, oldest - seq);
    update(state, OlderLoaded{.tab = open.tab,
                              .entries = history(oldest - older.count, oldest),
                              .oldest = Seq{oldest - older.count}});
  }
  return state;
}

TEST(PickerTexts, EnterOpensTheSessionAtTheMessage) {
  const State state = opened_at(407, 300);
  EXPECT_NE(shown(state).find("a needle in message 407"), std::string::npos) << shown(state);
  EXPECT_EQ(shown(state).find("message 499"), std::string::npos);
}

TEST(PickerTexts, EnterLoadsOlderMessagesFirst) {
  const State state = opened_at(87, 300);
  EXPECT_NE(shown(state).find("a needle in message 87"), std::string::npos) << shown(state);
}

TEST(PickerTexts, ShowsTheMessageEvenWithoutAMatch) {
  const State state = opened_at(410, 300);
  EXPECT_NE(shown(state).find("message 410"), std::string::npos) << shown(state);
}

}  // namespace
}  // namespace reprise::cli::app
