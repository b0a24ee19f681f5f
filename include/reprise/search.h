#pragma once

// Full-text search over the messages of stores and other sources.
//
// The index is derived: one SQLite database of its own, which follows what it indexes when somebody
// searches (catch_up), and is made anew when it is missing, damaged or of another version. No store
// knows of it, so an append costs nothing. It holds words and where they stand, no texts: those are
// read from their source when a hit is shown. Stores with a WordIndex (capabilities.h) keep the
// words themselves, for all who search.
//
//  (1) What is in the trash is not found.
//  (2) forget() leaves no word of a session in the bytes of the index, once it has returned. What
//  was
//      purged elsewhere leaves with the next catch_up().
//  (3) One process catches up, the others search what is there meanwhile.
//  (4) A process that is killed while it catches up loses at most the batch it was working on.

#include <filesystem>   // IWYU pragma: export
#include <memory>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export

#include "reprise/open_store.h"  // IWYU pragma: export

namespace reprise {

// What a message is made of, as far as it is searched.
enum class SearchPart : std::uint8_t { text, thinking, tools };
std::string_view to_string(SearchPart part);
std::optional<SearchPart> parse_search_part(std::string_view text);

// A word, a phrase or the beginning of a word.
struct SearchTerm {
  std::string text;      // as it was typed, without quotes and signs
  bool prefix = false;   // its last word may go on
  bool without = false;  // messages that have it are not found
  friend bool operator==(const SearchTerm&, const SearchTerm&) = default;
};

// Blanks part terms: `word`, `"a phrase"`, `begin*`, `-without`, `-"without this phrase"`. Case and
// accents do not matter. Any bytes are accepted; invalid_argument, in one line, for terms without a
// letter or digit, for nothing but terms to be without, and for more than kSearchTermsMax.
Result<std::vector<SearchTerm>> parse_search(std::string_view text);
inline constexpr std::size_t kSearchTermsMax = 64;

enum class SearchOrder : std::uint8_t {
  newest,
  // The most relevant first: how often the terms stand in a message, rare terms counting more, long
  // messages less. Of the newest kRankedMax messages that match; older ones are not looked at.
  relevance,
};
inline constexpr std::int64_t kRankedMax = 8'000;

struct SearchQuery {
  std::vector<SearchTerm> terms;  // all of them, in any order
  std::optional<std::string> working_dir = std::nullopt;
  std::optional<Time> since = std::nullopt;
  std::optional<Time> until = std::nullopt;  // not included
  std::optional<std::string> role = std::nullopt;
  std::optional<std::string> tool = std::nullopt;  // messages that call it
  std::optional<std::string> model = std::nullopt;
  std::optional<SessionId> session = std::nullopt;
  std::optional<SearchPart> only = std::nullopt;
  SearchOrder order = SearchOrder::newest;
  std::string after = {};  // SearchPage::next of the page before; "" for the first
  std::size_t limit = 20;  // 1 to kPageMax
};

struct SearchPiece {
  std::string text;
  bool matches = false;  // a term
  friend bool operator==(const SearchPiece&, const SearchPiece&) = default;
};

struct SearchHit {
  std::size_t source = 0;  // which of those that were searched
  SessionInfo session;
  std::string short_id;  // of it, unique in its source as far as that is indexed
  Seq seq;
  std::string role;
  Time time = {};  // of the message, or the nearest that is known
  SearchPart part = SearchPart::text;
  // One line around the terms, as it stands in the message: not fit for a terminal as it is. The
  // pieces follow one another.
  std::vector<SearchPiece> snippet;
};

struct SearchPage {
  std::vector<SearchHit> hits;
  std::string next;  // "" when this was the last page
};

// What is searched. The URL names it in the index, and must be the same each time. That of a store
// over SQLite is "sqlite:FILE" with the absolute path of its file: by that file's times the index
// tells that there is nothing new.
struct SearchSource {
  std::string url;
  Source* source;
};

struct SearchIndexOptions {
  // Told how far catch_up() has come. After Flow::stop it ends early; what it has done stays.
  std::function<Flow(const Progress&)> on_progress = {};
};

// One thread at a time. Errors common to all functions: io (full disk, no permission), busy.
class SearchIndex {
 public:
  // Creates the file (0600, in folders of 0700) when it is missing.
  static Result<std::unique_ptr<SearchIndex>> open(const std::filesystem::path& file,
                                                   SearchIndexOptions options = {});
  virtual ~SearchIndex() = default;

  // Indexes what is new in the source, and forgets what is gone. False, at once, while another
  // process is at it; also when on_progress stopped it.
  virtual Result<bool> catch_up(const SearchSource& source) = 0;

  // What is there now. Sessions that are gone or in the trash by now are passed over.
  // invalid_argument for terms that parse_search() would refuse, and a limit or cursor out of
  // range.
  virtual Result<SearchPage> search(std::span<const SearchSource> sources,
                                    const SearchQuery& query) = 0;

  // Takes all words of these sessions out. What shared a part of the index with them is indexed
  // again by the next catch_up().
  virtual Result<> forget(std::string_view url, std::span<const SessionId> sessions) = 0;
};

}  // namespace reprise
