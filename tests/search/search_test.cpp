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
using test::must;
using test::user;
using test::works;
using Places = std::vector<std::string>;

// A store, and an index of it.
class SearchBase {
 protected:
  SearchBase(std::string url, std::unique_ptr<Store> store)
      : url_(std::move(url)), store_(std::move(store)) {
    index_ = must(SearchIndex::open(file()));
  }

  std::filesystem::path file() const { return folder_.path() / "state" / "search.db"; }
  SearchSource source() { return {url_, store_.get()}; }

  void add(std::string_view id, std::vector<Message> messages) {
    const SessionId session = test::session_id(id);
    if (!must(store_->find(session))) {
      must(store_->create(test::session(id)));
    }
    must(store_->append(session, std::move(messages), {}));
  }

  SearchPage page(SearchQuery query) {
    const SearchSource all[] = {source()};
    EXPECT_TRUE(must(index_->update_index(source())));
    return must(index_->search(all, query));
  }
  // "ID#SEQ" of the matches.
  Places find(SearchQuery query) { return places(page(std::move(query))); }
  Places find(std::string_view words) { return find({.terms = must(parse_search(words))}); }
  static Places places(const SearchPage& page) {
    Places out;
    for (const SearchHit& hit : page.hits) {
      out.push_back(cat(hit.session.id.str(), "#", hit.seq.value));
    }
    return out;
  }
  // The bytes of all files of the index.
  std::string bytes() const {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(file().parent_path())) {
      all += must(read_file(entry.path()));
    }
    return all;
  }

  test::TemporaryFolder folder_;
  std::string url_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<SearchIndex> index_;
};

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

// The file of the index.
class SearchFileTest : public SearchBase, public testing::Test {
 protected:
  SearchFileTest() : SearchBase("memory:test", open_memory_store()) {}
};

TEST_P(SearchTest, AllWordsInAnyOrder) {
  add("a", {user("the disk is full"), assistant("no space is left on the disk")});
  EXPECT_EQ(find("disk"), (Places{"a#1", "a#0"}));
  EXPECT_EQ(find("full disk"), (Places{"a#0"}));
  EXPECT_EQ(find("disk space"), (Places{"a#1"}));
  EXPECT_EQ(find("full space"), Places{});
}

TEST_P(SearchTest, PhrasesBeginningsAndWhatIsLeftOut) {
  add("a", {user("the disk is full"), assistant("a full disk"), user("migrations migrated")});
  EXPECT_EQ(find("\"full disk\""), (Places{"a#1"}));
  EXPECT_EQ(find("\"disk full\""), Places{});
  EXPECT_EQ(find("disk -the"), (Places{"a#1"}));
  EXPECT_EQ(find("disk -\"full disk\""), (Places{"a#0"}));
  EXPECT_EQ(find("migra*"), (Places{"a#2"}));
  EXPECT_EQ(find("migra"), Places{});
  EXPECT_EQ(find("\"a fu\"*"), (Places{"a#1"}));
}

TEST_P(SearchTest, BeginningsOfFewAndOfManyWords) {
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

TEST_P(SearchTest, CaseAndAccentsFold) {
  add("a", {user("Ein schönes CAFÉ in der Straße"), user("e\u0301te\u0301 Ｗｉｄｅ ﬁne")});
  for (const std::string_view words : {"cafe", "Café", "SCHONES", "strasse", "STRAẞE"}) {
    EXPECT_EQ(find(words), (Places{"a#0"})) << words;
  }
  for (const std::string_view words : {"été", "ete", "wide", "fine"}) {
    EXPECT_EQ(find(words), (Places{"a#1"})) << words;
  }
}

TEST_P(SearchTest, PartsOfChineseJapaneseAndKorean) {
  add("a", {user("我们讨论了数据库迁移的问题"), user("全文検索エンジンを作る"),
            user("데이터베이스를 검색한다"), user("x数据y")});
  EXPECT_EQ(find("数据库"), (Places{"a#0"}));
  EXPECT_EQ(find("数据"), (Places{"a#3", "a#0"}));
  EXPECT_EQ(find("库"), (Places{"a#0"}));
  EXPECT_EQ(find("题"), (Places{"a#0"}));
  EXPECT_EQ(find("エンジン"), (Places{"a#1"}));
  EXPECT_EQ(find("検索 作る"), (Places{"a#1"}));
  EXPECT_EQ(find("베이스"), (Places{"a#2"}));
  EXPECT_EQ(find("색"), (Places{"a#2"}));
  EXPECT_EQ(find("据库数"), Places{});
  EXPECT_EQ(find("x数据y"), (Places{"a#3"}));
}

TEST_P(SearchTest, ToolsThinkingAndTextAreParts) {
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
  EXPECT_EQ(find("apple banana cherry"), (Places{"a#0"}));
  EXPECT_EQ(find("cafe"), (Places{"a#0"}));
  EXPECT_EQ(find("ncherry"), Places{});
  EXPECT_EQ(find("damson"), (Places{"a#1"}));
  EXPECT_EQ(find({.terms = must(parse_search("banana")), .only = SearchPart::text}), Places{});
  EXPECT_EQ(find({.terms = must(parse_search("banana")), .only = SearchPart::thinking}),
            (Places{"a#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("apple -cherry")), .only = SearchPart::text}),
            (Places{"a#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("apple")), .tool = "run_shell"}), (Places{"a#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("apple")), .tool = "read_file"}), Places{});
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
  EXPECT_EQ(find({.terms = terms, .role = "user"}), (Places{"b#0", "a#0"}));
  EXPECT_EQ(find({.terms = terms, .model = "big"}), (Places{"a#1"}));
  EXPECT_EQ(find({.terms = terms, .author = must(Author::parse("Ann"))}), (Places{"b#0"}));
  EXPECT_EQ(find({.terms = terms, .author = must(Author::parse("Bob"))}), Places{});
  EXPECT_EQ(find({.terms = terms, .session = test::session_id("a")}), (Places{"a#1", "a#0"}));
  EXPECT_EQ(find({.terms = terms, .session = test::session_id("none")}), Places{});
  EXPECT_EQ(find({.terms = terms, .working_dir = "/home/b"}), (Places{"b#0"}));
  EXPECT_EQ(find({.terms = terms, .since = at(20)}), (Places{"b#0", "a#1"}));
  EXPECT_EQ(find({.terms = terms, .until = at(20)}), (Places{"a#0"}));
  must(store_->update(test::session_id("b"), {.working_dir = "/elsewhere"}));
  EXPECT_EQ(find({.terms = terms, .working_dir = "/home/b"}), Places{});
  EXPECT_EQ(find("word"), (Places{"b#0", "a#1", "a#0"}));
}

// Old messages that are added late are ordered by time.
TEST_P(SearchTest, NewestFirstWhateverCameWhen) {
  add("a", {user("word", at(1000)), user("word", at(2000))});
  EXPECT_EQ(find("word").size(), 2U);
  add("old", {user("word", at(-200'000)), user("word", at(1500))});
  EXPECT_EQ(find("word"), (Places{"a#1", "old#1", "a#0", "old#0"}));
  add("b", {user("word", at(900)), user("word", at(2500))});
  EXPECT_EQ(find("word"), (Places{"b#1", "a#1", "old#1", "a#0", "b#0", "old#0"}));
  EXPECT_EQ(find({.terms = must(parse_search("word")), .limit = 2}), (Places{"b#1", "a#1"}));
}

TEST_P(SearchTest, PagesGoThroughAllOnce) {
  for (int i = 0; i < 30; ++i) {
    add(cat("s", i % 7), {user("word", at(i * 977 % 100))});
  }
  SearchQuery query{.terms = must(parse_search("word")), .limit = 100};
  const Places all = find(query);
  EXPECT_EQ(all.size(), 30U);
  for (const SearchOrder order : {SearchOrder::newest, SearchOrder::relevance}) {
    query.limit = 4;
    query.order = order;
    query.after.clear();
    Places paged;
    do {
      const SearchPage one = page(query);
      const Places here = places(one);
      paged.insert(paged.end(), here.begin(), here.end());
      query.after = one.next;
    } while (!query.after.empty());
    EXPECT_EQ(paged, all);
  }
  query.after = "nowhere";
  const SearchSource sources[] = {source()};
  EXPECT_TRUE(fails(index_->search(sources, query), Code::invalid_argument));
}

// Messages added in between do not change the following pages.
TEST_P(SearchTest, PagesGoOnAcrossAChange) {
  for (int i = 0; i < 9; ++i) {
    add("a", {user("word", at(i))});
  }
  SearchQuery query{.terms = must(parse_search("word")), .limit = 3};
  const SearchPage first = page(query);
  EXPECT_EQ(places(first), (Places{"a#8", "a#7", "a#6"}));
  add("b", {user("word", at(100)), user("word", at(3))});
  must(store_->capabilities().rewriting->replace_suffix(test::session_id("a"), Seq{5},
                                                        {user("other", at(200))}, {}));
  query.after = first.next;
  const SearchPage second = page(query);
  EXPECT_EQ(places(second), (Places{"a#4", "b#1", "a#3"}));
  query.after = second.next;
  EXPECT_EQ(find(query), (Places{"a#2", "a#1", "a#0"}));
}

// Phrases are found even in messages longer than the positions stored in the index.
TEST_P(SearchTest, PhrasesInLongMessages) {
  std::string text;
  for (int i = 0; i < 15'000; ++i) {
    text += cat("w", i, " common ");
  }
  add("a", {user(cat(text, "the needle stands here")), user(cat(text, "needle and the here"))});
  EXPECT_EQ(find("w14999"), (Places{"a#1", "a#0"}));
  EXPECT_EQ(find("\"needle stands\""), (Places{"a#0"}));
  EXPECT_EQ(find("common -\"the needle\""), (Places{"a#1"}));
  EXPECT_EQ(find("\"w12345 common w12346\" needle"), (Places{"a#1", "a#0"}));
  EXPECT_EQ(find("\"w12345 w12346\""), Places{});
}

TEST_P(SearchTest, TheMostRelevantFirst) {
  add("a", {user("apple and much else that makes this message long, long, longer than others"),
            user("apple apple apple"), user("pear"), user("an apple a day")});
  EXPECT_EQ(find({.terms = must(parse_search("apple")), .order = SearchOrder::relevance}),
            (Places{"a#1", "a#3", "a#0"}));
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

TEST_P(SearchTest, SnippetsMarkWordsAmongOthersOfAnyLetters) {
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

TEST_P(SearchTest, TheTrashIsNotSearched) {
  add("a", {user("word")});
  add("b", {user("word")});
  EXPECT_EQ(find("word").size(), 2U);
  must(store_->capabilities().trash->trash(test::session_id("a"), at(5)));
  const SearchSource all[] = {source()};
  EXPECT_EQ(places(must(index_->search(all, {.terms = must(parse_search("word"))}))),
            (Places{"b#0"}));  // even before the index is updated
  EXPECT_EQ(find("word"), (Places{"b#0"}));
  must(store_->capabilities().trash->restore(test::session_id("a")));
  EXPECT_EQ(find("word").size(), 2U);
}

TEST_F(SearchFileTest, WhatIsPurgedLeavesNoBytes) {
  add("a", {user("zanzibar common"), user("qwertz")});
  add("b", {user("mombasa common")});
  EXPECT_EQ(find("zanzibar"), (Places{"a#0"}));
  EXPECT_NE(bytes().find("anzibar"), std::string::npos);
  must(store_->capabilities().trash->purge(test::session_id("a")));
  must(index_->forget("memory:test", std::vector{test::session_id("a")}));
  EXPECT_EQ(bytes().find("anzibar"), std::string::npos);
  EXPECT_EQ(bytes().find("qwertz"), std::string::npos);
  EXPECT_EQ(find("zanzibar"), Places{});
  EXPECT_EQ(find("common"), (Places{"b#0"}));
}

TEST_F(SearchFileTest, WhatWasPurgedElsewhereLeavesWithTheNextSearch) {
  add("a", {user("zanzibar common"), assistant("ok")});
  add("b", {user("mombasa common")});
  EXPECT_EQ(find("common").size(), 2U);
  must(store_->capabilities().trash->purge(test::session_id("a")));
  EXPECT_EQ(find("common"), (Places{"b#0"}));
  EXPECT_EQ(bytes().find("anzibar"), std::string::npos);
}

TEST_P(SearchTest, ARewindIsFollowed) {
  add("a", {user("one"), assistant("two"), user("three"), assistant("four")});
  EXPECT_EQ(find("four"), (Places{"a#3"}));
  must(store_->capabilities().rewriting->replace_suffix(
      test::session_id("a"), Seq{1}, {assistant("five", at(50)), user("six", at(51))}, {}));
  EXPECT_EQ(find("four"), Places{});
  EXPECT_EQ(find("six"), (Places{"a#2"}));
  EXPECT_EQ(find("one"), (Places{"a#0"}));
  must(store_->capabilities().rewriting->replace_suffix(
      test::session_id("a"), Seq{2},
      {user("seven", at(60)), assistant("eight", at(61)), user("nine", at(62))}, {}));
  EXPECT_EQ(find("six"), Places{});
  EXPECT_EQ(find("seven"), (Places{"a#2"}));
  EXPECT_EQ(find("nine"), (Places{"a#4"}));
}

// Rare words among many messages, and frequent ones in few.
TEST_P(SearchTest, AmongManyMessages) {
  for (int i = 0; i < 4; ++i) {
    std::vector<Message> many;
    for (int j = 0; j < 1500; ++j) {
      many.push_back(user(cat("common word", j, j % 700 == i ? " seldom" : ""), at(j * 4 + i)));
    }
    add(cat("s", i), std::move(many));
  }
  must(store_->update(test::session_id("s2"), {.working_dir = "/home/b"}));
  EXPECT_EQ(find("word7"), (Places{"s3#7", "s2#7", "s1#7", "s0#7"}));
  EXPECT_EQ(find({.terms = must(parse_search("common")), .limit = 3}),
            (Places{"s3#1499", "s2#1499", "s1#1499"}));
  EXPECT_EQ(find("common seldom").size(), 12U);
  EXPECT_EQ(find({.terms = must(parse_search("common seldom")), .limit = 2}),
            (Places{"s3#1403", "s2#1402"}));
  EXPECT_EQ(find({.terms = must(parse_search("common")), .working_dir = "/home/b", .limit = 2}),
            (Places{"s2#1499", "s2#1498"}));
  EXPECT_EQ(find({.terms = must(parse_search("word3")), .since = at(12), .until = at(14)}),
            (Places{"s1#3", "s0#3"}));
  SearchQuery query{.terms = must(parse_search("seldom")), .limit = 5};
  Places paged;
  do {
    const SearchPage one = page(query);
    const Places here = places(one);
    paged.insert(paged.end(), here.begin(), here.end());
    query.after = one.next;
  } while (!query.after.empty());
  EXPECT_EQ(paged, find("seldom"));
}

TEST_P(SearchTest, WhatForksShareIsFoundOnce) {
  add("a", {user("shared"), assistant("only in the first")});
  must(store_->capabilities().forking->fork(test::session_id("a"), Seq{1}, test::session("b")));
  must(store_->append(test::session_id("b"), {assistant("only in the second")}, {}));
  EXPECT_EQ(find("shared"), (Places{"a#0"}));
  EXPECT_EQ(find("second"), (Places{"b#1"}));
  must(store_->capabilities().trash->trash(test::session_id("a"), at(5)));
  EXPECT_EQ(find("shared"), (Places{"b#0"}));
  EXPECT_EQ(find("second"), (Places{"b#1"}));
}

TEST_P(SearchTest, SourcesAreToldApart) {
  add("a", {user("word")});
  const auto other = open_memory_store();
  must(other->create(test::session("a")));
  must(other->append(test::session_id("a"), {user("word other", at(9))}, {}));
  const SearchSource second{"memory:other", other.get()};
  must(index_->update_index(source()));
  must(index_->update_index(second));
  EXPECT_EQ(find("word"), (Places{"a#0"}));
  const SearchSource both[] = {source(), second};
  const SearchPage found = must(index_->search(both, {.terms = must(parse_search("word"))}));
  ASSERT_EQ(found.hits.size(), 2U);
  EXPECT_EQ(found.hits[0].source, 1U);
  EXPECT_EQ(found.hits[1].source, 0U);
  EXPECT_EQ(places(must(index_->search(
                both, {.terms = must(parse_search("word")), .session = test::session_id("a")}))),
            (Places{"a#0", "a#0"}));
}

TEST_F(SearchFileTest, MadeAnewWhenDamaged) {
  std::vector<Message> many;
  for (int i = 0; i < 2000; ++i) {
    many.push_back(user(cat("word number", i), at(i)));
  }
  add("a", std::move(many));
  EXPECT_EQ(find("number77"), (Places{"a#77"}));
  const auto damage = [this](const auto& how) {
    index_.reset();
    for (const std::string_view part : {"-wal", "-shm"}) {
      std::filesystem::remove(file().native() + std::string(part));
    }
    how();
    index_ = must(SearchIndex::open(file()));
    EXPECT_EQ(find("number77"), (Places{"a#77"}));
  };
  damage([this] { std::filesystem::resize_file(file(), 1000); });
  damage(
      [this] { std::ofstream(file()) << "no database at all, but longer than a hundred bytes"; });
  damage([this] {
    must(replace_file(file(), std::string(std::filesystem::file_size(file()), '\xA5')));
  });
  damage([this] { std::filesystem::remove(file()); });
  damage([this] {
    std::string all = must(read_file(file()));
    all[63] = 77;  // user_version
    must(replace_file(file(), all));
  });
}

TEST_F(SearchFileTest, OneCatchesUpAndTheOtherSearches) {
  add("a", {user("word")});
  EXPECT_EQ(find("word"), (Places{"a#0"}));
  add("a", {user("word again")});
  const auto lock = must(LockFile::open(file().native() + ".lock"));
  {
    const auto hold = must(lock->acquire(std::chrono::steady_clock::now()));
    const auto other = must(SearchIndex::open(file()));
    EXPECT_FALSE(must(other->update_index(source())));
    const SearchSource all[] = {source()};
    EXPECT_EQ(places(must(other->search(all, {.terms = must(parse_search("word"))}))),
              (Places{"a#0"}));
  }
  EXPECT_EQ(find("word"), (Places{"a#1", "a#0"}));
}

// Killed repeatedly, indexing is finally completed, and nothing is found twice.
TEST_P(SearchTest, KilledWhileIndexing) {
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

TEST_P(SearchTest, ProgressCanStopIt) {
  std::vector<Message> many;
  for (int i = 0; i < 500; ++i) {
    many.push_back(user(cat("word", i)));
  }
  add("a", std::move(many));
  index_ =
      must(SearchIndex::open(file(), {.on_progress = [](const Progress&) { return Flow::stop; }}));
  EXPECT_FALSE(must(index_->update_index(source())));
  index_ = must(SearchIndex::open(file()));
  EXPECT_EQ(find("word499"), (Places{"a#499"}));
}

// A damaged source affects neither the index nor other sources.
TEST_F(SearchFileTest, ADamagedSourceCostsTheIndexNothing) {
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
  EXPECT_EQ(find("word"), (Places{"a#0"}));
  Damaged damaged;
  const SearchSource broken{"memory:test", &damaged};
  EXPECT_TRUE(fails(index_->update_index(broken), Code::corrupt));
  const SearchSource sources[] = {broken};
  EXPECT_TRUE(works(index_->search(sources, {.terms = must(parse_search("word"))})));
  const SearchSource good[] = {source()};
  EXPECT_EQ(places(must(index_->search(good, {.terms = must(parse_search("word"))}))),
            (Places{"a#0"}));
}

TEST_F(SearchFileTest, AFullDiskLeavesWhatIsThere) {
  const test::TemporaryFolder folder;
  const test::SmallDisk disk(folder.path(), "size=4m");
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "needs root";
  }
  add("a", {user("word")});
  index_ = must(SearchIndex::open(folder.path() / "search.db"));
  EXPECT_EQ(find("word"), (Places{"a#0"}));
  std::vector<Message> many;
  for (int i = 0; i < 2000; ++i) {
    many.push_back(user(cat("more ", i, " ", std::string(40, 'x'), i * 7919)));
  }
  add("b", std::move(many));
  disk.fill();
  EXPECT_TRUE(fails(index_->update_index(source()), Code::io));
  const SearchSource all[] = {source()};
  EXPECT_EQ(places(must(index_->search(all, {.terms = must(parse_search("word"))}))),
            (Places{"a#0"}));
  EXPECT_EQ(must(read_all(*store_, test::session_id("b"))).size(), 2000U);
}

TEST_P(SearchTest, HostileTextsAndHugeMessages) {
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
  EXPECT_EQ(find("beyond"), Places{});
  EXPECT_EQ(find("bb").size(), 1U);
  EXPECT_LT(std::filesystem::file_size(file()), is_postgres() ? 200'000U : 3'000'000U);
}

// Only folded words of a query reach FTS5.
TEST_P(SearchTest, QueriesAreNoSyntax) {
  add("a", {user("text AND or NEAR not col")});
  EXPECT_EQ(find("text AND"), (Places{"a#0"}));
  EXPECT_EQ(find("AND OR NOT"), (Places{"a#0"}));
  EXPECT_EQ(find("\"near\" text:col"), Places{});
  EXPECT_EQ(find("NEAR(text)"), Places{});
  EXPECT_EQ(find("{text}:col"), Places{});
  EXPECT_EQ(find("text^ \"not"), (Places{"a#0"}));
  EXPECT_EQ(find("text' ;drop"), Places{});
}

// Another tool's history is searched in place.
class SearchToolTest : public SearchFileTest {
 protected:
  std::filesystem::path history() const { return folder_.path() / "tool"; }
  void write(std::string_view name, std::string_view lines) const {
    const std::filesystem::path path = history() / "projects/-x" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::app) << lines;
  }
  static std::string line(std::string_view uuid, std::string_view parent, std::string_view text,
                          std::string_view more = "") {
    return cat(R"({"type":"user","uuid":")", uuid, R"(","parentUuid":)",
               parent.empty() ? "null" : cat("\"", parent, "\""),
               R"(,"sessionId":"s","timestamp":"2026-11-20T10:00:00.000Z","message":{"content":")",
               text, "\"}", more, "}\n");
  }
  Places find_in_tool(std::string_view words) {
    const std::string url = cat("claude:", history().native());
    const auto tool = must(open_source(url));
    const SearchSource all[] = {{url, tool.get()}};
    EXPECT_TRUE(must(index_->update_index(all[0])));
    return places(must(index_->search(all, {.terms = must(parse_search(words))})));
  }
};

TEST_F(SearchToolTest, FindsWhatIsAddedWithoutANewTime) {
  const std::string snapshot =
      line("s1", "u1", "", R"(,"isMeta":true,"x":")" + std::string(110'000, 'x') + "\"");
  write("a.jsonl", line("u1", "", "first") + snapshot);
  EXPECT_EQ(find_in_tool("first"), (Places{"a#0"}));
  write("a.jsonl", line("u2", "s1", "second") + snapshot);
  EXPECT_EQ(find_in_tool("second"), (Places{"a#2"}));
  write("a.jsonl", line("u3", "s1", "third") + snapshot);
  EXPECT_EQ(find_in_tool("third").size(), 1U);
}

// Also in branches that were left, and in the sessions of sub-agents.
TEST_F(SearchToolTest, FindsWhatIsNotListed) {
  write("a.jsonl",
        line("u1", "", "first") + line("u2", "u1", "abandoned") + line("u3", "u1", "continued"));
  write("a/subagents/agent-7.jsonl", line("u9", "", "delegated", R"(,"isSidechain":true)"));
  EXPECT_EQ(find_in_tool("first"), (Places{"a#0"}));
  const Places branch = find_in_tool("abandoned");
  ASSERT_EQ(branch.size(), 1U);
  EXPECT_TRUE(branch[0].starts_with("a:") && branch[0].ends_with("#1")) << branch[0];
  EXPECT_EQ(find_in_tool("delegated"), (Places{"a:agent-7#0"}));
  // They stay when nothing has changed, and when others are added.
  EXPECT_EQ(find_in_tool("abandoned"), branch);
  write("a.jsonl", line("u4", "u2", "resumed"));
  EXPECT_EQ(find_in_tool("continued").size(), 1U);
  EXPECT_EQ(find_in_tool("resumed"), (Places{"a#2"}));
}

// The number of its messages is not known when it is listed.
TEST_F(SearchToolTest, WhatBranchesOfALargeFileShareIsFoundOnce) {
  std::string lines = line("u0", "", "first");
  for (int i = 1; i <= 200; ++i) {
    lines += line(cat("u", i), cat("u", i - 1), cat("more ", std::string(1000, 'x')));
  }
  write("a.jsonl", lines + line("v1", "u200", "abandoned") + line("v2", "u200", "abandoned") +
                       line("v3", "u200", "last"));
  EXPECT_EQ(find_in_tool("first"), (Places{"a#0"}));
  EXPECT_EQ(find_in_tool("abandoned").size(), 2U);
  EXPECT_EQ(find_in_tool("last"), (Places{"a#201"}));
}

// A process that is killed leaves sessions whose rows say that they are not indexed.
TEST_F(SearchToolTest, FindsSubAgentsWhoseIndexingWasInterrupted) {
  for (const std::string_view name : {"ab", "a:b", "a:b:c", "a:"}) {
    const auto event = [](std::string_view id, std::string_view text, std::string_view agent) {
      return cat(R"({"type":"user.message","id":")", id, R"(","data":{"content":")", text, "\"}",
                 agent.empty() ? "" : cat(R"(,"agentId":")", agent, "\""), "}\n");
    };
    const std::string id = cat("s", name.size(), name.contains(':') ? "c" : "");
    const std::filesystem::path session = folder_.path() / "copilot/session-state" / id;
    std::filesystem::create_directories(session);
    std::ofstream(session / "events.jsonl")
        << R"({"type":"session.start","id":"e0","data":{"sessionId":"x"}})" << "\n"
        << event("e1", "whole", "") << event("e2", "delegated", name);
  }
  const auto find_delegated = [&] {
    const std::string url = cat("copilot:", (folder_.path() / "copilot").native());
    const auto tool = must(open_source(url));
    const SearchSource all[] = {{url, tool.get()}};
    EXPECT_TRUE(must(index_->update_index(all[0])));
    return places(must(index_->search(all, {.terms = must(parse_search("delegated"))}))).size();
  };
  EXPECT_EQ(find_delegated(), 4U);
  {
    const auto db = must(sqlite::Connection::open(file(), sqlite::OpenMode::write, {}));
    constexpr std::string_view kAgents = "(SELECT key FROM sessions WHERE id LIKE '%:%')";
    must(db->run(cat("UPDATE docs SET seq = -1 - seq WHERE session IN ", kAgents)));
    must(db->run(cat("UPDATE sessions SET head = -1, next = 0 WHERE key IN ", kAgents)));
    must(db->run("UPDATE sources SET mark = ''"));
  }
  EXPECT_EQ(find_delegated(), 4U);
}

TEST_F(SearchToolTest, LeavesOutWhatAnotherSourceHas) {
  write("a.jsonl", line("u1", "", "same") + line("u2", "u1", "same"));
  const std::string url = cat("claude:", history().native());
  const auto tool = must(open_source(url));
  const SearchSource all[] = {
      {url, tool.get(), [](const SessionId& /*id*/) -> Result<Seq> { return Seq{1}; }}};
  EXPECT_TRUE(must(index_->update_index(all[0])));
  EXPECT_EQ(places(must(index_->search(all, {.terms = must(parse_search("same"))}))),
            (Places{"a#1"}));
}

TEST_P(SearchTest, CallsThatTheProviderRan) {
  Message answer = assistant("");
  answer.blocks = {UnknownBlock{
      "web_search_call",
      RawJson::parse(R"({"action":{"type":"search","query":"zebra habitat"}})").value()}};
  add("a", {answer});
  EXPECT_EQ(find("habitat"), (Places{"a#0"}));
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

// More sessions share the usual digits than a page lists by default; the last one shares most.
TEST(SearchHits, HaveTheShortIdsThatSelectSessions) {
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
  const SearchSource all[] = {{"memory:words", &words}};
  const SearchPage page = must(index->search(all, {.terms = must(parse_search("word"))}));
  ASSERT_EQ(page.hits.size(), 1U);
  EXPECT_EQ(page.hits.front().short_id, must(unique_short_id(*store, found)));
  EXPECT_EQ(page.hits.front().short_id, "aaaaaaaa1234");
}

TEST_F(SearchFileTest, ShortIdsGrowWhereSeveralSessionsShareThem) {
  add("01990000-0000-7000-8000-aaaaaaaa1234", {user("a word")});
  add("01990000-0000-7000-8000-bbbbbbbb1235", {user("a word")});
  add("01990000-0000-7000-8000-aaaaaaaaffff", {user("other")});
  for (const SearchOrder order : {SearchOrder::newest, SearchOrder::relevance}) {
    const SearchPage found = page({.terms = must(parse_search("word")), .order = order});
    ASSERT_EQ(found.hits.size(), 2U);
    for (const SearchHit& hit : found.hits) {
      EXPECT_EQ(hit.short_id, must(unique_short_id(*store_, hit.session.id)));
    }
  }
}

TEST(ParseSearch, RefusesWhatFindsNothing) {
  for (const std::string_view bad :
       {"", "   ", "-without", "+++", "a -", "\"\"", "*", "a \"\n\"", "a \"-\""}) {
    EXPECT_TRUE(fails(parse_search(bad), Code::invalid_argument)) << bad;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) {
    many += "word ";
  }
  EXPECT_TRUE(fails(parse_search(many), Code::invalid_argument));
  EXPECT_TRUE(fails(parse_search(std::string(5000, 'a')), Code::invalid_argument));
}

TEST(ParseSearch, Terms) {
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
