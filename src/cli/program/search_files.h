#pragma once

// What is on this machine: the search index, the names of stores in it, other tools' histories, and
// stores.

#include "cli/program/context.h"   // IWYU pragma: export
#include "reprise/capabilities.h"  // IWYU pragma: export
#include "reprise/search.h"        // IWYU pragma: export

namespace reprise::cli {

std::filesystem::path search_index_file(const Context& context);

// Reports progress while it is indexing.
Result<std::unique_ptr<SearchIndex>> open_search_index(
    Context& context, std::function<void(const Damage&)> on_damage = {});

// Removes purged sessions of the store from the index, if there is one. If that fails, returns what
// remains and why.
std::optional<Remnant> forget_in_search(Context& context, std::span<const SessionId> purged);

// The name of a store or source in the index: independent of the working folder, and without
// passwords.
std::string search_url(std::string_view url, const ProcessEnvironment& environment);
// The name of the settings' store.
Result<std::string> search_url(Context& context);

// The name of a tool for --from, which may be given as in its URL ("claude:"). invalid_argument
// lists the tools.
Result<std::string> parse_tool(std::string_view from);

// The readable histories of other tools in their default locations; with `only` (a kind's name), of
// that tool. Warns of those that cannot be read.
struct FoundHistory {
  std::string url;  // as commands accept it: "claude:"
  std::unique_ptr<Source> source;
};
std::vector<FoundHistory> find_histories(Context& context, std::string_view only = {});

// The URLs of existing stores in the working folder, its parents, and the default locations,
// without duplicates. Skips what cannot be read.
std::vector<std::string> find_stores_around(Context& context);

}  // namespace reprise::cli
