// Several stores that index words themselves: their hits are merged by time.

#include <gtest/gtest.h>

#include <array>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "search/search_fixture.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using test::HitIds;
using test::must;

// Finds all messages of its one session, whatever the words.
class StoreOfWords final : public Source, public WordIndex {
 public:
  StoreOfWords(std::string_view id, std::vector<Message> messages) : id_(test::session_id(id)) {
    must(store_->create(test::session(id)));
    must(store_->append(id_, std::move(messages), {}));
    capabilities_.word_index = this;
  }
  Result<std::optional<Session>> find(const SessionId& id) override { return store_->find(id); }
  Result<SessionPage> list(const SessionQuery& query) override { return store_->list(query); }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return store_->read(id, range, sink);
  }
  const SourceCapabilities& capabilities() const override { return capabilities_; }

  Result<bool> index_words(const std::function<WordEntry(const Message&)>& /*entry_of*/,
                           const IndexProgress& /*on_progress*/) override {
    return true;
  }
  // The place of a hit is its seq.
  Result<std::vector<WordHit>> find_words(const WordQuery& query, std::string_view after,
                                          std::size_t limit) override {
    const auto before = parse_number<std::int64_t>(after);
    std::vector<WordHit> hits;
    REPRISE_TRY(store_->read(id_, {.newest_first = true}, [&](const Message& message) {
      if ((!before || message.seq.value < *before) &&
          (!query.until || message.created_at < *query.until)) {
        hits.push_back({.session = id_,
                        .seq = message.seq,
                        .time = message.created_at,
                        .place = cat(message.seq.value)});
      }
      return hits.size() < limit ? Flow::proceed : Flow::stop;
    }));
    return hits;
  }
  Result<std::vector<double>> word_densities(const WordQuery& /*query*/) override {
    return std::vector<double>{1.0};
  }

 private:
  std::unique_ptr<Store> store_ = open_memory_store();
  SessionId id_;
  SourceCapabilities capabilities_;
};

// Also of messages with the same time.
TEST(WordStores, PagesHaveEachHitOnce) {
  std::array stores = {
      StoreOfWords("a", {test::user("one", test::at(1)), test::user("two", test::at(2))}),
      StoreOfWords("b", {test::user("one", test::at(1)), test::user("two", test::at(2))}),
      StoreOfWords("c", {test::user("one", test::at(2)), test::user("two", test::at(3))})};
  const SearchSource sources[] = {
      {"words:a", &stores[0]}, {"words:b", &stores[1]}, {"words:c", &stores[2]}};
  const test::TemporaryFolder folder;
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, kPageMax}) {
    SearchQuery query{.terms = must(parse_search("word")), .limit = limit};
    HitIds found;
    do {
      const SearchPage page = must(index->search(sources, query));
      for (const SearchHit& hit : page.hits) {
        found.push_back(cat(hit.session.id.str(), "#", hit.seq.value));
      }
      query.after = page.next;
    } while (!query.after.empty());
    EXPECT_EQ(found, (HitIds{"c#1", "a#1", "b#1", "c#0", "a#0", "b#0"})) << limit;
  }
}

}  // namespace
}  // namespace reprise
