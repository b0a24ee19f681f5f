#pragma once

// Settings from a context file: they override the project's and the user's config, and are
// overridden by variables and flags, which never change the file.

#include "choice/settings.h"  // IWYU pragma: export

namespace reprise::cli {

// The store's URL with its scheme; recognises bare paths.
std::string resolved_store_url(std::string_view url);

// The URL of a store or of another tool's history with an absolute path, for a URL that is relative
// to `folder`. Others are unchanged.
std::string absolute_store_url(std::string_view url, const std::filesystem::path& folder);

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

// The config of a new session, with which its file is created: the user's provider. null for the
// default provider, and for other stores.
RawJson new_context_config(const Settings& settings);

// Writes an answer to the file's save_path_default. invalid_argument outside its project's folder;
// conflict if the folder is not trusted and the file is not the last answer.
Result<> save_answer(const Settings& settings, const std::filesystem::path& state_folder,
                     std::string_view text);

// The file that save_answer() writes to, if it exists.
std::optional<std::filesystem::path> find_saved_answer(const Settings& settings);

}  // namespace reprise::cli
