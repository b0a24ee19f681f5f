#pragma once

// Opens histories of other tools as sources, by URL ("claude:", "codex:/backup/.codex"). They are
// read in place, also while the tool is writing; nothing is written, locked or created there.

#include "reprise/open_store.h"  // IWYU pragma: export

namespace reprise {

// A tool whose histories can be read: the form of its URLs, and how they are located and opened.
struct SourceKind {
  // A path below the folder named by an environment variable: {"HOME", ".claude"}. Unset XDG
  // variables have their standard defaults.
  struct DefaultLocation {
    std::string_view variable = {};
    std::string_view below = {};
  };

  std::string_view name;   // "claude", the scheme of its URLs
  std::string_view title;  // "Claude Code"
  std::string_view form;   // "claude:[FOLDER]", for error messages
  // Where the tool stores its history: the first entry whose variable is set. All empty: the URL
  // must name the location.
  std::array<DefaultLocation, 3> default_locations = {};
  // Whether a file or folder is of this kind, detected by content.
  Result<bool> (*is_at)(const std::filesystem::path& path);
  // not_found when there is nothing.
  Result<std::unique_ptr<Source>> (*open)(const std::filesystem::path& path,
                                          const StoreOptions& options);
  // Files elsewhere that belong to the history at this path; null: there are none.
  std::vector<std::filesystem::path> (*files_elsewhere)(const std::filesystem::path& path) =
      nullptr;
};

// All kinds, in the order in which paths are probed. Static storage.
std::span<const SourceKind> source_kinds();

// "claude:[FOLDER], codex:[FOLDER]…", for error messages.
std::string source_forms();

// Where the tool stores its history, existing or not; nullopt when there is no default location.
std::optional<std::filesystem::path> default_location(const SourceKind& kind,
                                                      const EnvironmentLookup& variable);
// With the environment of this process.
std::optional<std::filesystem::path> default_location(const SourceKind& kind);

// The kind of a URL ("claude:…"), or of the file or folder at a bare path. Null if no source
// matches; it may be a store.
Result<const SourceKind*> source_kind_of(std::string_view url);

// Whether the scheme is one of a store, whatever follows.
bool is_store_url(std::string_view url);

// Opens a source, or a store read-only: nothing is created or changed, whatever `options.access`
// is. A URL without a location means the default one, found with `variable`, or with the
// environment of this process if that is empty. invalid_argument, listing the known kinds, for an
// unknown URL.
Result<std::unique_ptr<Source>> open_source(std::string_view url, StoreOptions options = {},
                                            const EnvironmentLookup& variable = {});

}  // namespace reprise
