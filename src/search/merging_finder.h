#pragma once

// Merges the matches of all sources, newest first. In the same millisecond, matches of the index
// precede those of stores with their own index, which come in the stores' order.

#include <chrono>  // IWYU pragma: export
#include <deque>

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "search/finder.h"         // IWYU pragma: export

namespace reprise::search {

class MergingFinder {
 public:
  // All references must outlive this. `query` is the query for the stores.
  MergingFinder(Finder& finder, const std::vector<WordIndex*>& stores, const WordQuery& query);

  // Continues after the hit with this cursor: "TIME.DOCUMENT", or "TIME.sSTORE.PLACE" for a store's
  // hit.
  Result<> seek(std::string_view cursor);
  // Fewer than `count` only at the end.
  Result<std::vector<Candidate>> next(std::size_t count);

 private:
  struct Stream {
    WordIndex* store;  // null for the index
    WordQuery query;
    std::optional<HitKey> before = std::nullopt;  // for the index
    std::string after = {};                       // for a store
    std::deque<Candidate> ready = {};
    bool is_at_end = false;
  };
  Result<> fill(std::size_t number, std::size_t count);
  Result<> fill_from_store(std::size_t number, std::size_t count);

  Finder& finder_;
  std::vector<Stream> streams_;  // the index, then the stores
  std::int64_t store_hits_ = 0;  // received from stores so far
};

std::string cursor_of(const Candidate& candidate);
Error bad_cursor(std::string_view cursor);

}  // namespace reprise::search
