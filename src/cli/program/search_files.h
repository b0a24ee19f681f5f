#pragma once

// Where the search index is, and what it calls the store of the settings.

#include "cli/program/context.h"  // IWYU pragma: export
#include "reprise/capabilities.h"
#include "reprise/search.h"

namespace reprise::cli {

std::filesystem::path search_index_file(const Context& context);

// Shows how far indexing has come.
Result<std::unique_ptr<SearchIndex>> open_search_index(Context& context);

// Takes the words of purged sessions of the store out of the index, where there is one. What is
// left of them, and why, when that cannot be done.
std::optional<Remnant> forget_in_search(Context& context, std::span<const SessionId> purged);

// How the index names a store or source: the same wherever the program was started, and without a
// password.
std::string search_url(std::string_view url, const ProcessEnvironment& environment);
// Of the settings' one.
Result<std::string> search_url(Context& context);

// The histories of other tools in their usual places on this machine, as far as they can be read;
// with `only` (a kind's name) those of one tool. What is there and cannot be read is warned of.
struct FoundHistory {
  std::string url;  // "claude:", as commands take it
  std::unique_ptr<Source> source;
};
std::vector<FoundHistory> find_histories(Context& context, std::string_view only = {});

}  // namespace reprise::cli
