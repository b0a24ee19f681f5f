#pragma once

// Other tools' histories as sources, by URL ("claude:", "codex:~/backup/.codex"): read in place,
// also while the tool is writing. Nothing there is written, locked or created.

#include "reprise/open_store.h"  // IWYU pragma: export

namespace reprise {

// A tool whose histories can be read: how its URLs look, and how they are found and opened.
struct SourceKind {
  // A place below the folder that an environment variable names: {"HOME", ".claude"}. The XDG
  // folders have their usual values where the variables are not set.
  struct Usual {
    std::string_view variable = {};
    std::string_view below = {};
  };

  std::string_view name;   // "claude", the scheme of its URLs
  std::string_view title;  // "Claude Code"
  std::string_view form;   // "claude:[FOLDER]", for messages
  // Where the tool keeps it: the first one whose variable is set. All empty: only at a place that
  // is named.
  std::array<Usual, 3> usual = {};
  // Whether a file or folder is one, told by its content.
  Result<bool> (*is_at)(const std::filesystem::path& place);
  // not_found when there is nothing.
  Result<std::unique_ptr<Source>> (*open)(const std::filesystem::path& place,
                                          const StoreOptions& options);
};

// All there are. A path is asked about in this order. Lives as long as the program.
std::span<const SourceKind> source_kinds();

// "claude:[FOLDER], codex:[FOLDER]…", for messages.
std::string source_forms();

// An environment variable; nullopt when it is not set.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

// Where the tool keeps its history, there or not; nullopt when it has no usual place.
std::optional<std::filesystem::path> usual_place(const SourceKind& kind,
                                                 const VariableLookup& variable);
// By the variables of this process.
std::optional<std::filesystem::path> usual_place(const SourceKind& kind);

// The kind of a URL ("claude:…"), or of the file or folder that a bare path names. Null: it is no
// source's; a store's, perhaps.
Result<const SourceKind*> source_kind_of(std::string_view url);

// Whether its scheme is a store's, whatever follows.
bool is_store_url(std::string_view url);

// Opens a source, or a store to read only: nothing is created or changed, whatever `options.access`
// says. Without a place in the URL it is the usual one by `variable`, which are the variables of
// this process when it is empty. invalid_argument for a URL that nobody knows; it names those that
// are known.
Result<std::unique_ptr<Source>> open_source(std::string_view url, StoreOptions options = {},
                                            const VariableLookup& variable = {});

}  // namespace reprise
