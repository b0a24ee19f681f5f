#pragma once

// Words as the server's text search takes them, and within its limits: it keeps positions up to
// 16,383, up to 255 of a word, and 1 MiB of all.
//
// A message with more is marked as long. Its words are all there, but not all of their positions,
// so that a phrase is looked for by its words, and is then to be found in the text.

#include <string>
#include <string_view>

#include "reprise/capabilities.h"

namespace reprise::postgres {

// A word that only long messages have.
inline constexpr std::string_view kLongMark = "''\x03long''";

// A word of the tenant's own, that all its messages have: the index is one of all tenants.
std::string tenant_mark(std::string_view tenant);

// As a text from which the server makes a tsvector.
std::string vector_of(const WordEntry& entry, std::string_view tenant);

// As a text from which the server makes a tsquery.
std::string query_of(const WordQuery& query, std::string_view tenant);

// The words of the phrases that must be there, each as a query, parted by line feeds.
std::string words_to_count(const WordQuery& query);
// The weights of parts by which the server ranks them then.
std::string_view weights_of(const WordQuery& query);
// How often each of these phrases stands in a message, about: no more often than each of its words.
// `ranks` is what the server says of the words.
std::string counts_of(const WordQuery& query, std::string_view ranks);

}  // namespace reprise::postgres
