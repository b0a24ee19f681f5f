#pragma once

// Full-text search over the messages of stores and other sources.
//
// The index is a separate SQLite database. It follows its sources when somebody searches
// (update_index), and is rebuilt when it is missing, damaged or of another version. Stores do not
// know of it, so an append costs nothing more. It holds words and their positions, not texts: those
// are read from the source when a hit is shown. Stores with a WordIndex (capabilities.h) index the
// words themselves, shared by all clients.
//
// (1) Sessions in the trash are not found.
// (2) When forget() returns, no word of the session is left in the bytes of the index. Sessions
//     purged elsewhere are removed by the next update_index().
// (3) While one process catches up, others search what is already indexed. If more than the newest
//     messages is missing (the index is new, or a purge removed a part of it), they wait for it.
// (4) A process that is killed while catching up loses at most its current batch.

#include <filesystem>   // IWYU pragma: export
#include <functional>   // IWYU pragma: export
#include <memory>       // IWYU pragma: export
#include <span>         // IWYU pragma: export
#include <string_view>  // IWYU pragma: export

#include "reprise/source.h"  // IWYU pragma: export

namespace reprise {

// The part of a message that is searched.
enum class SearchPart : std::uint8_t { text, thinking, tools };
std::string_view to_string(SearchPart part);
std::optional<SearchPart> parse_search_part(std::string_view text);

// A word, a phrase or the beginning of a word.
struct SearchTerm {
  std::string text;      // as typed, without quotes and operators
  bool prefix = false;   // the last word is a prefix
  bool without = false;  // exclude messages that contain it
  friend bool operator==(const SearchTerm&, const SearchTerm&) = default;
};

// Terms are separated by blanks: `word`, `"a phrase"`, `prefix*`, `-without`, `-"without this
// phrase"`. Case and accents are ignored. Any bytes are accepted; invalid_argument for terms
// without a letter or digit, for a query of excluded terms only, and for more than kSearchTermsMax.
Result<std::vector<SearchTerm>> parse_search(std::string_view text);
inline constexpr std::size_t kSearchTermsMax = 64;

enum class SearchOrder : std::uint8_t {
  newest,
  // The most relevant first: by the number of occurrences, rare terms counting more and long
  // messages less. Ranks only the newest kRankedMax messages that match.
  relevance,
};
inline constexpr std::int64_t kRankedMax = 8'000;

struct SearchQuery {
  std::vector<SearchTerm> terms = {};  // all must match, in any order; may be empty with `file`
  // The newest message of each session whose tool calls name this file: an absolute path, which may
  // be relative to the session's folder in the call, or the last components of one.
  std::optional<std::string> file = std::nullopt;
  std::optional<std::string> working_dir = std::nullopt;
  std::optional<Time> since = std::nullopt;
  std::optional<Time> until = std::nullopt;  // exclusive
  std::optional<std::string> role = std::nullopt;
  std::optional<std::string> tool = std::nullopt;  // messages that call it
  std::optional<std::string> model = std::nullopt;
  std::optional<Author> author = std::nullopt;  // questions by this person
  std::optional<SessionId> session = std::nullopt;
  std::optional<SearchPart> only = std::nullopt;
  SearchOrder order = SearchOrder::newest;
  std::string after = {};  // SearchPage::next of the previous page; "" for the first
  std::size_t limit = 20;  // 1 to kPageMax
};

struct SearchPiece {
  std::string text;
  bool matches = false;  // this piece is a term
  friend bool operator==(const SearchPiece&, const SearchPiece&) = default;
};

struct SearchHit {
  std::size_t source = 0;  // index of the searched sources
  SessionInfo session;
  std::string short_id;  // unique among the indexed sessions of its source
  Seq seq;
  std::string role;
  Time time = {};  // of the message, or the nearest known time
  SearchPart part = SearchPart::text;
  // One line around the terms, unescaped: sanitize it for a terminal. The pieces are consecutive.
  std::vector<SearchPiece> snippet;
};

struct SearchPage {
  std::vector<SearchHit> hits;
  std::string next;                 // "" for the last page
  std::vector<Damage> damage = {};  // what is indexed and cannot be read: it may have hits
};

// A source to search. The URL identifies it in the index and must not change. For a SQLite store it
// is "sqlite:FILE" with the absolute path: the index compares that file's modification times to
// skip a store without changes.
struct SearchSource {
  std::string url;
  Source* source;
  // The number of a session's first messages that another searched source has, too, such as a store
  // into which it was imported: they are no hits here. Empty: none.
  std::function<Result<Seq>(const SessionId&)> copied = {};
};

struct SearchIndexOptions {
  // Receives the progress of update_index(). After Flow::stop it ends early; the work done is kept.
  std::function<Flow(const Progress&)> on_progress = {};
  // Receives each session that update_index() could not read, which is not found then; every update
  // tries again.
  std::function<void(const Damage&)> on_damage = {};
};

// One call at a time: a second one, from another thread or from on_progress, is refused with
// invalid_argument. Errors common to all functions: io (full disk, no permission), busy.
class SearchIndex {
 public:
  // Creates the file (0600, in 0700 folders) when missing. If it cannot be written, it is searched
  // as it is, and update_index() returns the reason.
  static Result<std::unique_ptr<SearchIndex>> open(const std::filesystem::path& file,
                                                   SearchIndexOptions options = {});
  // Removes the index with all words in it, even if it cannot be read.
  static Result<> remove(const std::filesystem::path& file);
  virtual ~SearchIndex() = default;

  // Indexes what is new in the source, and removes what was deleted. Returns false at once while
  // another process is indexing it; also when on_progress stopped it. busy if more than the newest
  // messages is missing, and another process has not indexed them within ten seconds.
  virtual Result<bool> update_index(const SearchSource& source) = 0;

  // Searches what is indexed. Hits in sessions that were deleted or trashed meanwhile are skipped.
  // invalid_argument for terms that parse_search() rejects, and for a limit or cursor out of range.
  virtual Result<SearchPage> search(std::span<const SearchSource> sources,
                                    const SearchQuery& query) = 0;

  // Removes all words of these sessions. Other sessions in the same parts of the index are indexed
  // again by the next update_index().
  virtual Result<> forget(std::string_view url, std::span<const SessionId> sessions) = 0;
};

}  // namespace reprise
