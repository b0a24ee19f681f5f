// A source that was not changed is not listed again, and one that was is, at once.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/search.h"
#include "search/change_mark.h"
#include "support/build.h"
#include "support/must.h"
#include "support/temporary_folder.h"

namespace reprise {
namespace {

using test::must;

class CountingSource final : public Source {
 public:
  explicit CountingSource(Store& store) : store_(store) {}
  Result<std::optional<Session>> find(const SessionId& id) override { return store_.find(id); }
  Result<SessionPage> list(const SessionQuery& query) override {
    ++lists;
    return store_.list(query);
  }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return store_.read(id, range, sink);
  }
  const SourceCapabilities& capabilities() const override { return store_.capabilities(); }

  int lists = 0;

 private:
  Store& store_;
};

// As if nothing had been written for an hour.
void let_time_pass(const std::filesystem::path& file) {
  for (const std::string_view part : {"", "-wal"}) {
    struct stat state{};
    const std::string name = cat(file.native(), part);
    ASSERT_EQ(::stat(name.c_str(), &state), 0);
    const timespec times[2] = {{state.st_atim.tv_sec, 0}, {state.st_mtim.tv_sec - 3600, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, name.c_str(), times, 0), 0);
  }
}

TEST(SearchMarks, WhatDidNotChangeIsNotListed) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "reprise.db";
  const auto store = must(open_sqlite_store(file));
  must(store->create(test::session("a")));
  must(store->append(test::session_id("a"), {test::user("one")}, {}));
  CountingSource source(*store);
  const std::string url = "sqlite:" + file.native();
  const SearchSource sources[] = {{url, &source}};
  const auto index = must(SearchIndex::open(folder.path() / "state" / "search.db"));
  const auto find = [&](std::string_view words) {
    EXPECT_TRUE(must(index->catch_up(sources[0])));
    return must(index->search(sources, {.terms = must(parse_search(words))})).hits.size();
  };
  EXPECT_EQ(search::change_mark(url), "");  // just written
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(source.lists, 2);
  let_time_pass(file);
  EXPECT_NE(search::change_mark(url), "");
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(source.lists, 3);
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(source.lists, 3);
  must(store->append(test::session_id("a"), {test::user("two")}, {}));
  EXPECT_EQ(find("two"), 1U);
  EXPECT_EQ(source.lists, 4);
  let_time_pass(file);
  EXPECT_EQ(find("two"), 1U);
  must(index->forget(url, std::vector{test::session_id("b")}));
  must(store->capabilities().trash->trash(test::session_id("a"), test::at(5)));
  EXPECT_EQ(find("two"), 0U);
}

}  // namespace
}  // namespace reprise
