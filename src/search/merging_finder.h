#pragma once

// What matches in all sources, in one order: the newest first. Of those of the same millisecond,
// what is in the index comes before what stores index themselves, and these come in their order.

#include <deque>

#include "reprise/capabilities.h"
#include "search/finder.h"

namespace reprise::search {

class MergingFinder {
 public:
  // All of it outlives it. The stores' part of the query is `query`.
  MergingFinder(Finder& finder, std::vector<WordIndex*> stores, WordQuery query);

  // Goes on behind what this is the cursor of: "TIME.DOCUMENT", or "TIME.sSTORE.PLACE" for a
  // store's.
  Result<> seek(std::string_view cursor);
  // Fewer only at the end.
  Result<std::vector<Candidate>> next(std::size_t count);

 private:
  struct Stream {
    WordIndex* store;  // null for the index
    WordQuery query;
    std::optional<HitKey> before = std::nullopt;  // of the index
    std::string after = {};                       // of a store
    std::deque<Candidate> ready = {};
    bool is_over = false;
  };
  Result<> fill(std::size_t number, std::size_t count);
  Result<> fill_from_store(std::size_t number, std::size_t count);

  Finder& finder_;
  std::vector<Stream> streams_;  // the index, then the stores
  std::int64_t places_ = 0;      // that stores were asked for
};

std::string cursor_of(const Candidate& candidate);
Error bad_cursor(std::string_view cursor);
std::optional<std::int64_t> parse_whole(std::string_view text);

}  // namespace reprise::search
