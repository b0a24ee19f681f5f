#pragma once

// A store, an index of it, and searches in both.

#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "reprise/search.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {

// Counts the calls to a store.
class CountingSource final : public Source {
 public:
  explicit CountingSource(Store& store) : store_(store), capabilities_(store.capabilities()) {}
  Result<std::optional<Session>> find(const SessionId& id) override { return store_.find(id); }
  Result<SessionPage> list(const SessionQuery& query) override {
    ++lists;
    return store_.list(query);
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    ++reads;
    return store_.read(id, range, sink);
  }
  const SourceCapabilities& capabilities() const override { return capabilities_; }
  SourceCapabilities& capabilities_for_test() { return capabilities_; }

  int lists = 0;
  int reads = 0;

 private:
  Store& store_;
  SourceCapabilities capabilities_;
};

using HitIds = std::vector<std::string>;

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
    const SearchSource sources[] = {source()};
    EXPECT_TRUE(must(index_->update_index(source())));
    return must(index_->search(sources, query));
  }
  // "ID#SEQ" of the matches.
  HitIds find(SearchQuery query) { return hit_ids(page(std::move(query))); }
  HitIds find(std::string_view words) { return find({.terms = must(parse_search(words))}); }
  static HitIds hit_ids(const SearchPage& page) {
    HitIds out;
    for (const SearchHit& hit : page.hits) {
      out.push_back(cat(hit.session.id.str(), "#", hit.seq.value));
    }
    return out;
  }
  // The bytes of all files of the index.
  std::string bytes() const {
    std::string bytes;
    for (const auto& entry : std::filesystem::directory_iterator(file().parent_path())) {
      bytes += must(read_file(entry.path()));
    }
    return bytes;
  }

  test::TemporaryFolder folder_;
  std::string url_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<SearchIndex> index_;
};

// The file of the index.
class SearchFileTest : public SearchBase, public testing::Test {
 protected:
  SearchFileTest() : SearchBase("memory:test", open_memory_store()) {}
};

}  // namespace reprise::test
