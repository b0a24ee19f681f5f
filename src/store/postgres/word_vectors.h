#pragma once

// Words in the form of the server's text search, and within its limits: positions up to 16,383, at
// most 255 per word, and 1 MiB in total.
//
// A message that exceeds them is marked as long. It has all its words, but not all of their
// positions, so a phrase is searched by its words, and must then be verified in the text.

#include <string>
#include <string_view>

#include "reprise/capabilities.h"

namespace reprise::postgres {

// A marker word of long messages.
inline constexpr std::string_view kLongMarker = "''\x03long''";

// A marker word in all messages of a tenant, because all tenants share the index.
std::string tenant_marker(std::string_view tenant);

// The text of a tsvector.
std::string vector_of(const WordEntry& entry, std::string_view tenant);

// The text of a tsquery.
std::string query_of(const WordQuery& query, std::string_view tenant);

// The words of the required phrases, each as a query, separated by line feeds.
std::string words_to_count(const WordQuery& query);
// The weights of parts for the server's ranking.
std::string_view weights_of(const WordQuery& query);
// The estimated number of occurrences of each phrase in a message: at most that of each of its
// words. `ranks` is the server's ranking of the words.
std::string counts_of(const WordQuery& query, std::string_view ranks);

}  // namespace reprise::postgres
