#pragma once

// A context file as settings: it beats the project's and the user's config and is beaten by
// variables and flags, which never change it.

#include "cli/settings/settings.h"  // IWYU pragma: export

namespace reprise::cli {

// The store's URL with its kind, also for a bare path that is recognised.
std::string whole_store_url(std::string_view url);

// How the store of a run was named.
struct ContextChoice {
  std::filesystem::path file;
  bool was_searched = false;  // by `context:` alone: found in or above the folder
};
// nullopt for a URL of another kind of store.
Result<std::optional<ContextChoice>> choose_context_file(std::string_view url,
                                                         const std::filesystem::path& folder);

// What is wrong with the file, and what is used then, is in `warnings`.
Result<> apply_context_file(Settings& settings, const ContextChoice& choice,
                            std::vector<std::string>& warnings);

// Where the answers of a file's project go: nowhere outside of its folder. invalid_argument.
Result<std::filesystem::path> answer_file(const Settings& settings);

}  // namespace reprise::cli
