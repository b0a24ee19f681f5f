// Authors of messages, and lists by author.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "contract/store_contract.h"
#include "reprise/sessions.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Names = std::vector<std::string>;

Author author(std::string_view name) {
  return must(Author::parse(name));
}

Message message_by(std::string_view name, std::string_view text = "Why?", Time when = at(1)) {
  Message message = user(text, when);
  message.author = author(name);
  return message;
}

Names sessions_of(Store& store, std::string_view name, SessionQuery query = {}) {
  query.author = author(name);
  return ids_of(must(list_by_author(store, query)).sessions);
}

TEST_P(StoreContract, AMessageHasItsAuthor) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details);
  std::vector<Message> all;
  for (const char* name : {"Ann", "Zo\u00eb \"Z\" O'Brien \\ 100 %_", "\u65e5\u672c", "<b>&amp;"}) {
    all.push_back(message_by(name));
    all.push_back(assistant("Because.", at(2)));
  }
  all.push_back(user("Nobody asks this.", at(3)));
  all.push_back(assistant("I see.", at(4)));
  const SessionId id = create("s", all);
  EXPECT_EQ(stored(id), numbered(all));
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
  // More messages than fit into one statement, most of them without an author.
  std::vector<Message> many = messages(40, "more", at(5));
  many[20].author = author("Bob");
  append(id, many);
  all.insert(all.end(), many.begin(), many.end());
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
}

TEST_P(StoreContract, SessionsAreListedByAuthor) {
  REPRISE_NEEDS(capabilities().messages && capabilities().message_details &&
                capabilities().many_sessions);
  for (int number = 0; number < 6; ++number) {
    const Time when = at(100 * number);
    const std::string name = number % 2 == 0 ? "Ann" : "Bob";
    create(session("s" + std::to_string(number), when),
           {message_by(name, "Why?", when), assistant("So.", when)});
  }
  create(session("s6", at(600)), {user("Why?", at(600)), assistant("So.", at(600))});
  append(session_id("s1"), {message_by("Ann", "And I?", at(101)), assistant("So.", at(101))});
  EXPECT_EQ(sessions_of(store(), "Ann"), (Names{"s4", "s2", "s1", "s0"}));
  EXPECT_EQ(sessions_of(store(), "Bob"), (Names{"s5", "s3", "s1"}));
  EXPECT_EQ(sessions_of(store(), "An"), Names{});
  EXPECT_EQ(sessions_of(store(), "ann"), Names{});
  reopen();
  EXPECT_EQ(sessions_of(store(), "Ann", {.limit = 2}), (Names{"s4", "s2"}));
  const SessionPage page = must(list_by_author(store(), {.author = author("Ann"), .limit = 2}));
  ASSERT_FALSE(page.next.empty());
  const SessionPage rest =
      must(list_by_author(store(), {.author = author("Ann"), .after = page.next, .limit = 2}));
  EXPECT_EQ(ids_of(rest.sessions), (Names{"s1", "s0"}));
  EXPECT_EQ(rest.next, "");
  EXPECT_EQ(sessions_of(store(), "Ann", {.title_contains = "of s1"}), Names{"s1"});
  EXPECT_EQ(sessions_of(store(), "Ann", {.title_contains = "of s2"}), Names{"s2"});
  EXPECT_EQ(sessions_of(store(), "Ann", {.states = {SessionState::closed}}), Names{});
}

TEST_P(StoreContract, SharedMessagesHaveTheirAuthors) {
  REPRISE_NEEDS(capabilities().forking);
  const SessionId parent =
      create("parent", {message_by("Ann"), assistant("So."), message_by("Bob"), assistant("So.")});
  Forking& forking = *capabilities().forking;
  must(forking.fork(parent, {2}, session("of-ann")));
  must(forking.fork(parent, {3}, session("of-both")));
  must(forking.fork(session_id("of-both"), {1}, session("again")));
  must(forking.fork(parent, {0}, session("empty")));
  append(session_id("empty"), {message_by("Cid"), assistant("So.")});
  EXPECT_EQ(sessions_of(store(), "Ann", {.id_prefix = "of-ann"}), Names{"of-ann"});
  EXPECT_EQ(sessions_of(store(), "Ann").size(), 4U);
  EXPECT_EQ(sessions_of(store(), "Bob").size(), 2U);
  EXPECT_EQ(sessions_of(store(), "Bob", {.id_prefix = "of-"}), Names{"of-both"});
  EXPECT_EQ(sessions_of(store(), "Cid"), Names{"empty"});
}

TEST_P(StoreContract, ReplacedMessagesHaveNoAuthor) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id =
      create("s", {message_by("Ann"), assistant("So."), message_by("Bob"), assistant("So.")});
  must(
      capabilities().rewriting->replace_suffix(id, {2}, {message_by("Cid"), assistant("So.")}, {}));
  EXPECT_EQ(sessions_of(store(), "Ann"), Names{"s"});
  EXPECT_EQ(sessions_of(store(), "Bob"), Names{});
  EXPECT_EQ(sessions_of(store(), "Cid"), Names{"s"});
}

TEST_P(StoreContract, AStoreThatCannotListByAuthorRefuses) {
  REPRISE_NEEDS(!capabilities().lists_by_author);
  EXPECT_TRUE(fails(store().list({.author = author("Ann")}), Code::unsupported));
}

}  // namespace
}  // namespace reprise::test
