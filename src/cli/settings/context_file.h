#pragma once

// Settings from a context file: they override the project's and the user's config, and are
// overridden by variables and flags, which never change the file.

#include "cli/settings/settings.h"  // IWYU pragma: export

namespace reprise::cli {

// The store's URL with its scheme; recognises bare paths.
std::string whole_store_url(std::string_view url);

// How the run's store was chosen.
struct ContextChoice {
  std::filesystem::path file;
  bool was_searched = false;  // by a bare `context:`: found at or above the folder
};
// nullopt for other kinds of stores.
Result<std::optional<ContextChoice>> choose_context_file(std::string_view url,
                                                         const std::filesystem::path& folder);

// Adds problems of the file, and the defaults used instead, to `warnings`.
Result<> apply_context_file(Settings& settings, const ContextChoice& choice,
                            std::vector<std::string>& warnings);

// Where the file's save_path_default writes answers. invalid_argument outside its project's folder.
Result<std::filesystem::path> answer_file(const Settings& settings);

}  // namespace reprise::cli
