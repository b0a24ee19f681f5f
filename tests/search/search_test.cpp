#include "reprise/search.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "reprise/open_source.h"
#include "reprise/open_store.h"
#include "reprise/select.h"
#include "search/search_fixture.h"
#include "store/sqlite/connection.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/postgres_server.h"
#include "support/small_disk.h"

namespace reprise {
namespace {

using test::assistant;
using test::at;
using test::fails;
using test::HitIds;
using test::must;
using test::SearchBase;
using test::SearchFileTest;
using test::user;
using test::works;

// For a store that the index covers, and one that indexes its words itself.
class SearchTest : public SearchBase, public testing::TestWithParam<std::string> {
 protected:
  SearchTest() : SearchTest(is_postgres() ? new_postgres_url() : "memory:test") {}
  explicit SearchTest(const std::string& url)
      : SearchBase(url, is_postgres() ? must(open_store(url)) : open_memory_store()) {}

  static bool is_postgres() { return GetParam() == "postgres"; }
  static std::string new_postgres_url() {
    return test::postgres_url(make_session_id(system_clock(), system_entropy()).str());
  }
};

TEST_P(SearchTest, FindsAllTermsInAnyOrder) {
  add("a", {user("the disk is full"), assistant("no space is left on the disk")});
  EXPECT_EQ(find("disk"), (HitIds{"a#1", "a#0"}));
  EXPECT_EQ(find("full disk"), (HitIds{"a#0"}));
  EXPECT_EQ(find("disk space"), (HitIds{"a#1"}));
  EXPECT_EQ(find("full space"), HitIds{});
}

TEST_P(SearchTest, FindsPhrasesPrefixesAndExclusions) {
  add("a", {user("the disk is full"), assistant("a full disk"), user("migrations migrated")});
  EXPECT_EQ(find("\"full disk\""), (HitIds{"a#1"}));
  EXPECT_EQ(find("\"disk full\""), HitIds{});
  EXPECT_EQ(find("disk -the"), (HitIds{"a#1"}));
  EXPECT_EQ(find("disk -\"full disk\""), (HitIds{"a#0"}));
  EXPECT_EQ(find("migra*"), (HitIds{"a#2"}));
  EXPECT_EQ(find("migra"), HitIds{});
  EXPECT_EQ(find("\"a fu\"*"), (HitIds{"a#1"}));
}

TEST_P(SearchTest, FindsPrefixesOfFewAndOfManyWords) {
  std::vector<Message> messages;
  for (int i = 0; i < 100; ++i) {
    messages.push_back(user(cat("many", i, " few few", i % 3)));
  }
  messages.push_back(user("other"));
  add("a", std::move(messages));
  const auto count = [&](std::string_view words) {
    return find({.terms = must(parse_search(words)), .limit = kPageMax}).size();
  };
  EXPECT_EQ(count("many*"), 100U);
  EXPECT_EQ(count("few*"), 100U);
  EXPECT_EQ(count("few1*"), 33U);
  EXPECT_EQ(count("few* -few1*"), 67U);
  EXPECT_EQ(count("many* -few*"), 0U);
  EXPECT_EQ(count("o* -few*"), 1U);
  EXPECT_EQ(count("few2* few2* many1*"), 3U);
  EXPECT_EQ(count("none*"), 0U);
}

TEST_P(SearchTest, IgnoresCaseAndAccents) {
  add("a", {user("Ein schönes CAFÉ in der Straße"), user("e\u0301te\u0301 Ｗｉｄｅ ﬁne")});
  for (const std::string_view words : {"cafe", "Café", "SCHONES", "strasse", "STRAẞE"}) {
    EXPECT_EQ(find(words), (HitIds{"a#0"})) << words;
  }
  for (const std::string_view words : {"été", "ete", "wide", "fine"}) {
    EXPECT_EQ(find(words), (HitIds{"a#1"})) << words;
  }
}

TEST_P(SearchTest, FindsPartsOfChineseJapaneseAndKorean) {
  add("a", {user("我们讨论了数据库迁移的问题"), user("全文検索エンジンを作る"),
            user("데이터베이스를 검색한다"), user("x数据y")});
  EXPECT_EQ(find("数据库"), (HitIds{"a#0"}));
  EXPECT_EQ(find("数据"), (HitIds{"a#3", "a#0"}));
  EXPECT_EQ(find("库"), (HitIds{"a#0"}));
  EXPECT_EQ(find("题"), (HitIds{"a#0"}));
  EXPECT_EQ(find("エンジン"), (HitIds{"a#1"}));
  EXPECT_EQ(find("検索 作る"), (HitIds{"a#1"}));
  EXPECT_EQ(find("베이스"), (HitIds{"a#2"}));
  EXPECT_EQ(find("색"), (HitIds{"a#2"}));
  EXPECT_EQ(find("据库数"), HitIds{});
  EXPECT_EQ(find("x数据y"), (HitIds{"a#3"}));
}

TEST_P(SearchTest, SearchesTextThinkingAndTools) {
  Message answer = assistant("the word apple");
  answer.blocks.emplace_back(ThinkingBlock{.text = "about a banana", .signature = {}, .extra = {}});
  answer.blocks.emplace_back(
      ToolUseBlock{.id = "1",
                   .name = "run_shell",
                   .input = test::raw(R"({"command":"ls\ncherry","deep":[{"caf\u00e9":1}]})"),
                   .extra = {}});
  Message result = user("");
  result.blocks = {ToolResultBlock{
      .tool_use_id = "1", .text = "damson", .is_error = false, .blob = {}, .extra = {}}};
  add("a", {answer, result});
  EXPECT_EQ(find("apple banana cherry"), (HitIds{"a#0"}));
  EXPECT_EQ(find("cafe"), (HitIds{"a#0"}));
  EXPECT_EQ(find("ncherry"), HitIds{});
  EXPECT_EQ(find("damson"), (HitIds{"a#1"}));
  EXPECT_EQ(find({.terms = must(parse_search("banana")), .only = SearchPart::text}), HitIds{});
  EXPECT_EQ(find({.terms = must(parse_search("banana")), .only = SearchPart::thinking}),
            (HitIds{"a#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("apple -cherry")), .only = SearchPart::text}),
            (HitIds{"a#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("apple")), .tool = "run_shell"}), (HitIds{"a#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("apple")), .tool = "read_file"}), HitIds{});
}

TEST_P(SearchTest, Filters) {
  Message answer = assistant("word", at(20));
  answer.model = "big";
  Message asked = user("word", at(30));
  asked.author = must(Author::parse("Ann"));
  add("a", {user("word", at(10)), answer});
  add("b", {asked});
  must(store_->update(test::session_id("b"), {.working_dir = "/home/b"}));
  const auto terms = must(parse_search("word"));
  EXPECT_EQ(find({.terms = terms, .role = "user"}), (HitIds{"b#0", "a#0"}));
  EXPECT_EQ(find({.terms = terms, .model = "big"}), (HitIds{"a#1"}));
  EXPECT_EQ(find({.terms = terms, .author = must(Author::parse("Ann"))}), (HitIds{"b#0"}));
  EXPECT_EQ(find({.terms = terms, .author = must(Author::parse("Bob"))}), HitIds{});
  EXPECT_EQ(find({.terms = terms, .session = test::session_id("a")}), (HitIds{"a#1", "a#0"}));
  EXPECT_EQ(find({.terms = terms, .session = test::session_id("none")}), HitIds{});
  EXPECT_EQ(find({.terms = terms, .working_dir = "/home/b"}), (HitIds{"b#0"}));
  EXPECT_EQ(find({.terms = terms, .since = at(20)}), (HitIds{"b#0", "a#1"}));
  EXPECT_EQ(find({.terms = terms, .until = at(20)}), (HitIds{"a#0"}));
  must(store_->update(test::session_id("b"), {.working_dir = "/elsewhere"}));
  EXPECT_EQ(find({.terms = terms, .working_dir = "/home/b"}), HitIds{});
  EXPECT_EQ(find("word"), (HitIds{"b#0", "a#1", "a#0"}));
}

// Old messages that are added late are ordered by time.
TEST_P(SearchTest, FindsSessionsByTheFilesOfTheirCalls) {
  const auto call = [](std::string_view input) {
    Message message{.role = std::string(role::kAssistant)};
    message.blocks.emplace_back(ToolUseBlock{
        .id = "1", .name = "tool", .input = test::raw(std::string(input)), .extra = {}});
    return message;
  };
  const auto with = [this, &call](std::string_view id, std::string_view folder,
                                  std::vector<std::string_view> inputs) {
    Session session = test::session(id);
    session.info.working_dir = folder;
    must(store_->create(session));
    std::vector<Message> messages;
    std::ranges::transform(inputs, std::back_inserter(messages), call);
    must(store_->append(session.info.id, std::move(messages), {}));
  };
  with("whole", "/p", {R"({"path":"/p/src/main.c"})", R"({"path":"/p/src/main.c"})"});
  with("relative", "/p", {R"({"edits":[{"file":"./src/main.c"}]})"});
  with("shell", "/p", {R"({"command":"grep -n 'x' src/main.c|head"})"});
  with("other", "/q", {R"({"path":"src/main.c"})"});
  with("names", "/p", {R"({"path":"/p/src/domain.c"})", R"({"path":"main.c.bak"})"});
  const auto found = [this](std::string file) {
    HitIds ids = find({.file = std::move(file)});
    std::ranges::sort(ids);
    return ids;
  };
  EXPECT_EQ(found("/p/src/main.c"), (HitIds{"relative#0", "shell#0", "whole#1"}));
  EXPECT_EQ(found("src/main.c"), (HitIds{"other#0", "relative#0", "shell#0", "whole#1"}));
  EXPECT_EQ(found("main.c").size(), 4U);
  EXPECT_EQ(found("rc/main.c"), HitIds{});
  EXPECT_EQ(find({.terms = must(parse_search("grep")), .file = "main.c"}), (HitIds{"shell#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("absent")), .file = "main.c"}), HitIds{});
}

TEST_P(SearchTest, OrdersByTimeNotByIndexing) {
  add("a", {user("word", at(1000)), user("word", at(2000))});
  EXPECT_EQ(find("word").size(), 2U);
  add("old", {user("word", at(-200'000)), user("word", at(1500))});
  EXPECT_EQ(find("word"), (HitIds{"a#1", "old#1", "a#0", "old#0"}));
  add("b", {user("word", at(900)), user("word", at(2500))});
  EXPECT_EQ(find("word"), (HitIds{"b#1", "a#1", "old#1", "a#0", "b#0", "old#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("word")), .limit = 2}), (HitIds{"b#1", "a#1"}));
}

TEST_P(SearchTest, PagesHaveEachHitOnce) {
  for (int i = 0; i < 30; ++i) {
    add(cat("s", i % 7), {user("word", at(i * 977 % 100))});
  }
  SearchQuery query{.terms = must(parse_search("word")), .limit = 100};
  const HitIds expected = find(query);
  EXPECT_EQ(expected.size(), 30U);
  for (const SearchOrder order : {SearchOrder::newest, SearchOrder::relevance}) {
    query.limit = 4;
    query.order = order;
    query.after.clear();
    HitIds paged;
    do {
      const SearchPage result = page(query);
      const HitIds hits = hit_ids(result);
      paged.insert(paged.end(), hits.begin(), hits.end());
      query.after = result.next;
    } while (!query.after.empty());
    EXPECT_EQ(paged, expected);
  }
  query.after = "nowhere";
  const SearchSource sources[] = {source()};
  EXPECT_TRUE(fails(index_->search(sources, query), Code::invalid_argument));
}

// Messages added in between do not change the following pages.
TEST_P(SearchTest, PagesContinueAfterAChange) {
  for (int i = 0; i < 9; ++i) {
    add("a", {user("word", at(i))});
  }
  SearchQuery query{.terms = must(parse_search("word")), .limit = 3};
  const SearchPage first = page(query);
  EXPECT_EQ(hit_ids(first), (HitIds{"a#8", "a#7", "a#6"}));
  add("b", {user("word", at(100)), user("word", at(3))});
  must(store_->capabilities().rewriting->replace_suffix(test::session_id("a"), Seq{5},
                                                        {user("other", at(200))}, {}));
  query.after = first.next;
  const SearchPage second = page(query);
  EXPECT_EQ(hit_ids(second), (HitIds{"a#4", "b#1", "a#3"}));
  query.after = second.next;
  EXPECT_EQ(find(query), (HitIds{"a#2", "a#1", "a#0"}));
}

// Phrases are found even in messages longer than the positions stored in the index.
TEST_P(SearchTest, FindsPhrasesInLongMessages) {
  std::string text;
  for (int i = 0; i < 15'000; ++i) {
    text += cat("w", i, " common ");
  }
  add("a", {user(cat(text, "the needle stands here")), user(cat(text, "needle and the here"))});
  EXPECT_EQ(find("w14999"), (HitIds{"a#1", "a#0"}));
  EXPECT_EQ(find("\"needle stands\""), (HitIds{"a#0"}));
  EXPECT_EQ(find("common -\"the needle\""), (HitIds{"a#1"}));
  EXPECT_EQ(find("\"w12345 common w12346\" needle"), (HitIds{"a#1", "a#0"}));
  EXPECT_EQ(find("\"w12345 w12346\""), HitIds{});
}

TEST_P(SearchTest, OrdersByRelevance) {
  add("a", {user("apple and much else that makes this message long, long, longer than others"),
            user("apple apple apple"), user("pear"), user("an apple a day")});
  EXPECT_EQ(find({.terms = must(parse_search("apple")), .order = SearchOrder::relevance}),
            (HitIds{"a#1", "a#3", "a#0"}));
}

TEST_P(SearchTest, SnippetsMarkTheTerms) {
  add("a", {user(cat(std::string(5000, 'x'), " before\n\tthe   full disk after ",
                     std::string(900, 'y')))});
  const SearchPage found = page({.terms = must(parse_search("disk FULL"))});
  ASSERT_EQ(found.hits.size(), 1U);
  EXPECT_EQ(found.hits[0].snippet.at(0).text, "…before the ");
  EXPECT_EQ(found.hits[0].snippet.at(1), (SearchPiece{"full", true}));
  EXPECT_EQ(found.hits[0].snippet.at(2), (SearchPiece{" ", false}));
  EXPECT_EQ(found.hits[0].snippet.at(3), (SearchPiece{"disk", true}));
  EXPECT_TRUE(found.hits[0].snippet.at(4).text.ends_with("y…"));
}

TEST_P(SearchTest, SnippetsMarkWholeWordsOnly) {
  add("a", {user("naïve über-CAFÉ x9café: decafé日café本 cafés, cafe\u0301; caf xé é—café")});
  const auto marked = [this](std::string_view words) {
    const SearchPage found = page({.terms = must(parse_search(words))});
    std::string line;
    for (const SearchHit& hit : found.hits) {
      for (const SearchPiece& piece : hit.snippet) {
        line += piece.matches ? cat("[", piece.text, "]") : piece.text;
      }
    }
    return line;
  };
  EXPECT_EQ(marked("café"),
            "naïve über-[CAFÉ] x9café: decafé日[café]本 cafés, [cafe\u0301]; caf xé é—[café]");
  EXPECT_EQ(marked("e"), "…cafés, cafe\u0301; caf xé [é]—café");
}

TEST_P(SearchTest, OmitsTheTrash) {
  add("a", {user("word")});
  add("b", {user("word")});
  EXPECT_EQ(find("word").size(), 2U);
  must(store_->capabilities().trash->trash(test::session_id("a"), at(5)));
  const SearchSource sources[] = {source()};
  EXPECT_EQ(hit_ids(must(index_->search(sources, {.terms = must(parse_search("word"))}))),
            (HitIds{"b#0"}));  // even before the index is updated
  EXPECT_EQ(find("word"), (HitIds{"b#0"}));
  must(store_->capabilities().trash->restore(test::session_id("a")));
  EXPECT_EQ(find("word").size(), 2U);
}

TEST_F(SearchFileTest, ForgettingLeavesNoBytes) {
  add("a", {user("zanzibar common"), user("qwertz")});
  add("b", {user("mombasa common")});
  EXPECT_EQ(find("zanzibar"), (HitIds{"a#0"}));
  EXPECT_NE(bytes().find("anzibar"), std::string::npos);
  must(store_->capabilities().trash->purge(test::session_id("a")));
  must(index_->forget("memory:test", std::vector{test::session_id("a")}));
  EXPECT_EQ(bytes().find("anzibar"), std::string::npos);
  EXPECT_EQ(bytes().find("qwertz"), std::string::npos);
  EXPECT_EQ(find("zanzibar"), HitIds{});
  EXPECT_EQ(find("common"), (HitIds{"b#0"}));
}

TEST_F(SearchFileTest, TheNextUpdateRemovesPurgedSessions) {
  add("a", {user("zanzibar common"), assistant("ok")});
  add("b", {user("mombasa common")});
  EXPECT_EQ(find("common").size(), 2U);
  must(store_->capabilities().trash->purge(test::session_id("a")));
  EXPECT_EQ(find("common"), (HitIds{"b#0"}));
  EXPECT_EQ(bytes().find("anzibar"), std::string::npos);
}

TEST_P(SearchTest, ReindexesAfterARewind) {
  add("a", {user("one"), assistant("two"), user("three"), assistant("four")});
  EXPECT_EQ(find("four"), (HitIds{"a#3"}));
  must(store_->capabilities().rewriting->replace_suffix(
      test::session_id("a"), Seq{1}, {assistant("five", at(50)), user("six", at(51))}, {}));
  EXPECT_EQ(find("four"), HitIds{});
  EXPECT_EQ(find("six"), (HitIds{"a#2"}));
  EXPECT_EQ(find("one"), (HitIds{"a#0"}));
  must(store_->capabilities().rewriting->replace_suffix(
      test::session_id("a"), Seq{2},
      {user("seven", at(60)), assistant("eight", at(61)), user("nine", at(62))}, {}));
  EXPECT_EQ(find("six"), HitIds{});
  EXPECT_EQ(find("seven"), (HitIds{"a#2"}));
  EXPECT_EQ(find("nine"), (HitIds{"a#4"}));
}

// Rare words among many messages, and frequent ones in few.
TEST_P(SearchTest, SearchesManyMessages) {
  for (int i = 0; i < 4; ++i) {
    std::vector<Message> many;
    for (int j = 0; j < 1500; ++j) {
      many.push_back(user(cat("common word", j, j % 700 == i ? " seldom" : ""), at(j * 4 + i)));
    }
    add(cat("s", i), std::move(many));
  }
  must(store_->update(test::session_id("s2"), {.working_dir = "/home/b"}));
  EXPECT_EQ(find("word7"), (HitIds{"s3#7", "s2#7", "s1#7", "s0#7"}));
  EXPECT_EQ(find({.terms = must(parse_search("common")), .limit = 3}),
            (HitIds{"s3#1499", "s2#1499", "s1#1499"}));
  EXPECT_EQ(find("common seldom").size(), 12U);
  EXPECT_EQ(find({.terms = must(parse_search("common seldom")), .limit = 2}),
            (HitIds{"s3#1403", "s2#1402"}));
  EXPECT_EQ(find({.terms = must(parse_search("common")), .working_dir = "/home/b", .limit = 2}),
            (HitIds{"s2#1499", "s2#1498"}));
  EXPECT_EQ(find({.terms = must(parse_search("word3")), .since = at(12), .until = at(14)}),
            (HitIds{"s1#3", "s0#3"}));
  SearchQuery query{.terms = must(parse_search("seldom")), .limit = 5};
  HitIds paged;
  do {
    const SearchPage result = page(query);
    const HitIds hits = hit_ids(result);
    paged.insert(paged.end(), hits.begin(), hits.end());
    query.after = result.next;
  } while (!query.after.empty());
  EXPECT_EQ(paged, find("seldom"));
}

TEST_P(SearchTest, FindsSharedMessagesOfForksOnce) {
  add("a", {user("shared"), assistant("only in the first")});
  must(store_->capabilities().forking->fork(test::session_id("a"), Seq{1}, test::session("b")));
  must(store_->append(test::session_id("b"), {assistant("only in the second")}, {}));
  EXPECT_EQ(find("shared"), (HitIds{"a#0"}));
  EXPECT_EQ(find("second"), (HitIds{"b#1"}));
  must(store_->capabilities().trash->trash(test::session_id("a"), at(5)));
  EXPECT_EQ(find("shared"), (HitIds{"b#0"}));
  EXPECT_EQ(find("second"), (HitIds{"b#1"}));
}

TEST_P(SearchTest, DistinguishesSources) {
  add("a", {user("word")});
  const auto other = open_memory_store();
  must(other->create(test::session("a")));
  must(other->append(test::session_id("a"), {user("word other", at(9))}, {}));
  const SearchSource second{"memory:other", other.get()};
  must(index_->update_index(source()));
  must(index_->update_index(second));
  EXPECT_EQ(find("word"), (HitIds{"a#0"}));
  const SearchSource both[] = {source(), second};
  const SearchPage found = must(index_->search(both, {.terms = must(parse_search("word"))}));
  ASSERT_EQ(found.hits.size(), 2U);
  EXPECT_EQ(found.hits[0].source, 1U);
  EXPECT_EQ(found.hits[1].source, 0U);
  EXPECT_EQ(hit_ids(must(index_->search(
                both, {.terms = must(parse_search("word")), .session = test::session_id("a")}))),
            (HitIds{"a#0", "a#0"}));
}

TEST_F(SearchFileTest, RebuildsADamagedIndex) {
  std::vector<Message> many;
  for (int i = 0; i < 2000; ++i) {
    many.push_back(user(cat("word number", i), at(i)));
  }
  add("a", std::move(many));
  EXPECT_EQ(find("number77"), (HitIds{"a#77"}));
  const auto damage = [this](const auto& corrupt) {
    index_.reset();
    for (const std::string_view part : {"-wal", "-shm"}) {
      std::filesystem::remove(file().native() + std::string(part));
    }
    corrupt();
    index_ = must(SearchIndex::open(file()));
    EXPECT_EQ(find("number77"), (HitIds{"a#77"}));
  };
  damage([this] { std::filesystem::resize_file(file(), 1000); });
  damage(
      [this] { std::ofstream(file()) << "no database at all, but longer than a hundred bytes"; });
  damage([this] {
    must(replace_file(file(), std::string(std::filesystem::file_size(file()), '\xA5')));
  });
  damage([this] { std::filesystem::remove(file()); });
  damage([this] {
    std::string bytes = must(read_file(file()));
    bytes[63] = 77;  // user_version
    must(replace_file(file(), bytes));
  });
}

TEST_F(SearchFileTest, SearchesWhileAnotherProcessIndexes) {
  add("a", {user("word")});
  EXPECT_EQ(find("word"), (HitIds{"a#0"}));
  add("a", {user("word again")});
  const auto lock = must(LockFile::open(file().native() + ".lock"));
  {
    const auto hold = must(lock->acquire(std::chrono::steady_clock::now()));
    const auto other = must(SearchIndex::open(file()));
    EXPECT_FALSE(must(other->update_index(source())));
    const SearchSource sources[] = {source()};
    EXPECT_EQ(hit_ids(must(other->search(sources, {.terms = must(parse_search("word"))}))),
              (HitIds{"a#0"}));
  }
  EXPECT_EQ(find("word"), (HitIds{"a#1", "a#0"}));
}

// Killed repeatedly, indexing is finally completed, and nothing is found twice.
TEST_P(SearchTest, SurvivesKillsWhileIndexing) {
  constexpr int kSessions = 40;
  constexpr int kMessages = 1000;
  for (int i = 0; i < kSessions; ++i) {
    std::vector<Message> many;
    for (int j = 0; j < kMessages; ++j) {
      many.push_back(user(cat("word session", i, " message", j), at((i * 13 + j) % 5000)));
    }
    add(cat("s", i), std::move(many));
  }
  index_.reset();
  for (int round = 1; round <= 4; ++round) {
    const pid_t child = test::in_child([&] {
      std::int64_t calls = 0;
      const auto index = must(SearchIndex::open(file(), {.on_progress = [&](const Progress&) {
                                                  if (++calls == round * 170) {
                                                    ::raise(SIGKILL);
                                                  }
                                                  return Flow::proceed;
                                                }}));
      const auto own = is_postgres() ? must(open_store(url_)) : nullptr;
      must(index->update_index({url_, own ? own.get() : store_.get()}));
      return 0;
    });
    int status = 0;
    ::waitpid(child, &status, 0);
  }
  index_ = must(SearchIndex::open(file()));
  EXPECT_EQ(find({.terms = must(parse_search("message999")), .limit = 1000}).size(),
            static_cast<std::size_t>(kSessions));
  EXPECT_EQ(find({.terms = must(parse_search("session7")), .limit = 1000}).size(),
            static_cast<std::size_t>(kMessages));
}

TEST_P(SearchTest, ProgressCanStopIndexing) {
  std::vector<Message> many;
  for (int i = 0; i < 500; ++i) {
    many.push_back(user(cat("word", i)));
  }
  add("a", std::move(many));
  index_ =
      must(SearchIndex::open(file(), {.on_progress = [](const Progress&) { return Flow::stop; }}));
  EXPECT_FALSE(must(index_->update_index(source())));
  index_ = must(SearchIndex::open(file()));
  EXPECT_EQ(find("word499"), (HitIds{"a#499"}));
}

// A damaged source affects neither the index nor other sources.
TEST_F(SearchFileTest, ADamagedSourceDoesNotAffectTheIndex) {
  class Damaged final : public Source {
   public:
    Result<std::optional<Session>> find(const SessionId& /*id*/) override {
      return fail(Code::corrupt, "damaged");
    }
    Result<SessionPage> list(const SessionQuery& /*query*/) override {
      return fail(Code::corrupt, "damaged");
    }
    Result<ReadReport> read(const SessionId& /*id*/, ReadRange /*range*/,
                            const MessageSink& /*sink*/) override {
      return fail(Code::corrupt, "damaged");
    }
    const SourceCapabilities& capabilities() const override { return capabilities_; }

   private:
    SourceCapabilities capabilities_;
  };
  add("a", {user("word")});
  EXPECT_EQ(find("word"), (HitIds{"a#0"}));
  Damaged damaged;
  const SearchSource broken{"memory:test", &damaged};
  EXPECT_TRUE(fails(index_->update_index(broken), Code::corrupt));
  const SearchSource sources[] = {broken};
  EXPECT_TRUE(works(index_->search(sources, {.terms = must(parse_search("word"))})));
  const SearchSource good[] = {source()};
  EXPECT_EQ(hit_ids(must(index_->search(good, {.terms = must(parse_search("word"))}))),
            (HitIds{"a#0"}));
}

TEST_F(SearchFileTest, AFullDiskLeavesTheIndexUnchanged) {
  const test::TemporaryFolder folder;
  const test::SmallDisk disk(folder.path(), "size=4m");
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "needs root";
  }
  add("a", {user("word")});
  index_ = must(SearchIndex::open(folder.path() / "search.db"));
  EXPECT_EQ(find("word"), (HitIds{"a#0"}));
  std::vector<Message> many;
  for (int i = 0; i < 2000; ++i) {
    many.push_back(user(cat("more ", i, " ", std::string(40, 'x'), i * 7919)));
  }
  add("b", std::move(many));
  disk.fill();
  EXPECT_TRUE(fails(index_->update_index(source()), Code::io));
  const SearchSource sources[] = {source()};
  EXPECT_EQ(hit_ids(must(index_->search(sources, {.terms = must(parse_search("word"))}))),
            (HitIds{"a#0"}));
  EXPECT_EQ(must(read_all(*store_, test::session_id("b"))).size(), 2000U);
}

TEST_P(SearchTest, IndexesHostileAndHugeMessages) {
  std::vector<Message> messages;
  for (const std::string& text : test::hard_texts()) {
    messages.push_back(user(text));
  }
  messages.push_back(user("\x01s1 \x02 needle \x01r"));
  messages.push_back(user(std::string(3'000'000, 'a') + " beyond"));
  std::string long_one;
  for (int i = 0; i < 400'000; ++i) {
    long_one += "bb ";
  }
  messages.push_back(user(long_one));
  add("a", messages);
  EXPECT_EQ(find("needle").size(), 1U);
  EXPECT_EQ(find("beyond"), HitIds{});
  EXPECT_EQ(find("bb").size(), 1U);
  EXPECT_LT(std::filesystem::file_size(file()), is_postgres() ? 200'000U : 3'000'000U);
}

// Only folded words of a query reach FTS5.
TEST_P(SearchTest, QueriesAreNotFts5Syntax) {
  add("a", {user("text AND or NEAR not col")});
  EXPECT_EQ(find("text AND"), (HitIds{"a#0"}));
  EXPECT_EQ(find("AND OR NOT"), (HitIds{"a#0"}));
  EXPECT_EQ(find("\"near\" text:col"), HitIds{});
  EXPECT_EQ(find("NEAR(text)"), HitIds{});
  EXPECT_EQ(find("{text}:col"), HitIds{});
  EXPECT_EQ(find("text^ \"not"), (HitIds{"a#0"}));
  EXPECT_EQ(find("text' ;drop"), HitIds{});
}

TEST_P(SearchTest, FindsCallsRunByTheProvider) {
  Message answer = assistant("");
  answer.blocks = {UnknownBlock{
      "web_search_call",
      RawJson::parse(R"({"action":{"type":"search","query":"zebra habitat"}})").value()}};
  add("a", {answer});
  EXPECT_EQ(find("habitat"), (HitIds{"a#0"}));
}

INSTANTIATE_TEST_SUITE_P(Stores, SearchTest, testing::Values("memory", "postgres"),
                         [](const auto& param) { return param.param; });

// A store that indexes its words itself, and finds one message whatever is searched.
class WordStore final : public Source, public WordIndex {
 public:
  WordStore(Store& store, SessionId found) : store_(store), found_(std::move(found)) {
    capabilities_ = store.capabilities();
    capabilities_.word_index = this;
  }
  Result<std::optional<Session>> find(const SessionId& id) override { return store_.find(id); }
  Result<SessionPage> list(const SessionQuery& query) override { return store_.list(query); }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return store_.read(id, range, sink);
  }
  const SourceCapabilities& capabilities() const override { return capabilities_; }
  Result<bool> index_words(const std::function<WordEntry(const Message&)>& /*entry_of*/,
                           const IndexProgress& /*on_progress*/) override {
    return true;
  }
  Result<std::vector<WordHit>> find_words(const WordQuery& /*query*/, std::string_view after,
                                          std::size_t /*limit*/) override {
    std::vector<WordHit> hits;
    if (after.empty()) {
      hits.push_back({.session = found_, .seq = {}, .time = at(1), .place = "end"});
    }
    return hits;
  }
  Result<std::vector<double>> word_densities(const WordQuery& query) override {
    return std::vector<double>(query.phrases.size(), 0.5);
  }

 private:
  Store& store_;
  SessionId found_;
  SourceCapabilities capabilities_;
};

// More sessions have the same first digits than a page lists by default.
TEST(SearchHits, HaveUniqueShortIds) {
  const auto store = open_memory_store();
  const SessionId found = test::session_id("01990000-0000-7000-8000-aaaaaaaa1234");
  must(store->create(test::session(found.str(), at(2))));
  must(store->append(found, {user("a word", at(2))}, {}));
  must(store->create(test::session("01990000-0000-7000-8000-aaaaaaaa1235", at(1))));
  for (int i = 10; i < 70; ++i) {
    must(store->create(test::session(cat("01990000-0000-7000-8000-aaaaaaaaff", i), at(100 + i))));
  }
  WordStore words(*store, found);
  const test::TemporaryFolder folder;
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  const SearchSource sources[] = {{"memory:words", &words}};
  const SearchPage page = must(index->search(sources, {.terms = must(parse_search("word"))}));
  ASSERT_EQ(page.hits.size(), 1U);
  EXPECT_EQ(page.hits.front().short_id, must(unique_short_id(*store, found)));
  EXPECT_EQ(page.hits.front().short_id, "aaaaaaaa1234");
}

TEST_F(SearchFileTest, LengthensAmbiguousShortIds) {
  add("01990000-0000-7000-8000-aaaaaaaa1234", {user("a word")});
  add("01990000-0000-7000-8000-bbbbbbbb1235", {user("a word")});
  const SearchPage before = page({.terms = must(parse_search("word"))});
  ASSERT_EQ(before.hits.size(), 2U);
  for (const SearchHit& hit : before.hits) {
    EXPECT_EQ(hit.short_id, short_id(hit.session.id));
  }
  add("01990000-0000-7000-8000-aaaaaaaaffff", {user("other")});
  for (const SearchOrder order : {SearchOrder::newest, SearchOrder::relevance}) {
    const SearchPage found = page({.terms = must(parse_search("word")), .order = order});
    ASSERT_EQ(found.hits.size(), 2U);
    for (const SearchHit& hit : found.hits) {
      EXPECT_EQ(hit.short_id, must(unique_short_id(*store_, hit.session.id)));
    }
  }
}

TEST(ParseSearch, RejectsEmptyAndTooLargeQueries) {
  for (const std::string_view text :
       {"", "   ", "-without", "+++", "a -", "\"\"", "*", "a \"\n\"", "a \"-\""}) {
    EXPECT_TRUE(fails(parse_search(text), Code::invalid_argument)) << text;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) {
    many += "word ";
  }
  EXPECT_TRUE(fails(parse_search(many), Code::invalid_argument));
  EXPECT_TRUE(fails(parse_search(std::string(5000, 'a')), Code::invalid_argument));
}

TEST(ParseSearch, ParsesTerms) {
  EXPECT_EQ(must(parse_search("a -b c* \"d e\" -\"f g\" \"h")),
            (std::vector<SearchTerm>{{"a", false, false},
                                     {"b", false, true},
                                     {"c", true, false},
                                     {"d e", false, false},
                                     {"f g", false, true},
                                     {"h", false, false}}));
}

}  // namespace
}  // namespace reprise
