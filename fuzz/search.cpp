// Typed queries: either a one-line error or a valid search. SQLite must never reject the generated
// query, and matches are marked.

#include "reprise/search.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "fuzzing.h"
#include "reprise/open_store.h"

using reprise::fuzz::require;

namespace {

namespace fs = std::filesystem;

struct Parts {
  std::unique_ptr<reprise::Store> store = reprise::open_memory_store();
  fs::path folder;
  std::unique_ptr<reprise::SearchIndex> index;

  Parts() {
    std::string name = (fs::temp_directory_path() / "fuzz_search.XXXXXX").native();
    folder = ::mkdtemp(name.data());
    index = *reprise::SearchIndex::open(folder / "search.db");
    const auto id = reprise::SessionId::parse("a");
    require(store->create({.info = {.id = *id}}).has_value(), "create");
    reprise::Message message{.role = "user",
                             .blocks = {reprise::TextBlock{"one two 三四五 sìx", {}}}};
    require(store->append(*id, {message}, {}).has_value(), "append");
    require(index->update_index({"fuzz:", store.get()}).value_or(false), "catch up");
  }
  ~Parts() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

void check(const reprise::SearchPage& page) {
  for (const reprise::SearchHit& hit : page.hits) {
    require(hit.seq == reprise::Seq{0} && !hit.snippet.empty(), "a hit that is none");
    require(std::ranges::any_of(hit.snippet, &reprise::SearchPiece::matches), "nothing is marked");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Parts parts;
  const auto text = reprise::fuzz::text_of(data, size);
  const auto terms = reprise::parse_search(text);
  if (!terms) {
    require(terms.error().code == reprise::Code::invalid_argument, "another error");
    require(!terms.error().message.empty() && !terms.error().message.contains('\n'),
            "an error that is no line");
    return 0;
  }
  const reprise::SearchSource sources[] = {{"fuzz:", parts.store.get()}};
  for (const auto order : {reprise::SearchOrder::newest, reprise::SearchOrder::relevance}) {
    const auto page = parts.index->search(sources, {.terms = *terms, .order = order});
    require(page.has_value(), "the search failed");
    check(*page);
  }
  return 0;
}
