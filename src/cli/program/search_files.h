#pragma once

// Where the search index is, and what it calls the store of the settings.

#include <memory>

#include "cli/program/context.h"
#include "reprise/capabilities.h"
#include "reprise/search.h"

namespace reprise::cli {

std::filesystem::path search_index_file(const Context& context);

// Shows how far indexing has come.
Result<std::unique_ptr<SearchIndex>> open_search_index(Context& context);

// Takes the words of purged sessions of the store out of the index, where there is one. What is
// left of them, and why, when that cannot be done.
std::optional<Remnant> forget_in_search(Context& context, std::span<const SessionId> purged);

// The same wherever the program was started, and without a password.
Result<std::string> search_url(Context& context);
std::string search_url(std::string_view store_url);

}  // namespace reprise::cli
