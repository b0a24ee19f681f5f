#pragma once

// The answer to a query: candidates of the index, verified by and read from their sources.

#include "reprise/search.h"
#include "search/index_file.h"

namespace reprise::search {

Result<SearchPage> find_hits(sqlite::Connection& db, std::span<const SearchSource> sources,
                             const SearchQuery& query);

}  // namespace reprise::search
