#include "search/hits.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.h"
#include "search/catch_up.h"
#include "search/document.h"
#include "search/finder.h"
#include "search/rank.h"
#include "search/snippet.h"
#include "search/terms.h"

namespace reprise::search {
namespace {

std::optional<std::int64_t> millis_of(const std::optional<Time>& time) {
  if (!time) {
    return std::nullopt;
  }
  return std::chrono::floor<std::chrono::milliseconds>(*time).time_since_epoch().count();
}

// A cursor: "TIME.DOCUMENT" by time, "RANK" by relevance.
std::string cursor_of(const HitKey& key) {
  return cat(key.time_ms, ".", key.document);
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

Error bad_cursor(std::string_view text) {
  return {Code::invalid_argument, cat("'", text, "' is not a place in this search")};
}

Result<HitKey> parse_cursor(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const auto time = parse_whole(text.substr(0, dot));
  const auto document = parse_whole(text.substr(std::min(dot + 1, text.size())));
  if (!time || !document) {
    return std::unexpected(bad_cursor(text));
  }
  return HitKey{*time, *document};
}

class Hits {
 public:
  Hits(sqlite::Connection& db, std::span<const SearchSource> sources, const SearchQuery& query)
      : db_(db), sources_(sources), query_(query) {}

  Result<SearchPage> find() {
    if (query_.limit == 0 || query_.limit > kPageMax) {
      return fail(Code::invalid_argument, cat("a page has 1 to ", kPageMax, " hits"));
    }
    REPRISE_ASSIGN(phrases_, phrases_of(query_.terms));
    REPRISE_ASSIGN(Finder::What what, what_to_find());
    finder_.emplace(db_, std::move(what));
    return query_.order == SearchOrder::newest ? by_time() : by_relevance();
  }

 private:
  Result<Finder::What> what_to_find() {
    std::vector<std::vector<std::string>> tokens;
    const auto add = [&](Fact fact, const std::optional<std::string>& value) {
      if (value) {
        tokens.push_back({fact_token(fact, *value)});
      }
    };
    add(Fact::role, query_.role);
    add(Fact::model, query_.model);
    add(Fact::tool, query_.tool);
    add(Fact::folder, query_.working_dir);
    Finder::What what{.sources = {},
                      .expression = {},
                      .since_ms = millis_of(query_.since),
                      .until_ms = millis_of(query_.until),
                      .with_counts = query_.order == SearchOrder::relevance};
    std::vector<std::string> sessions;  // of the same id in several sources
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      REPRISE_ASSIGN(const std::int64_t row, find_source(db_, sources_[i].url));
      if (query_.session && row != 0) {
        REPRISE_ASSIGN(const std::int64_t key,
                       db_.integer("SELECT key FROM sessions WHERE source = ? AND id = ?", row,
                                   query_.session->str()));
        sessions.push_back(session_token(key));
      }
      if (row != 0) {
        what.sources.push_back(row);
        source_at_[row] = i;
      }
    }
    if (!sessions.empty()) {
      tokens.push_back(std::move(sessions));
    }
    what.expression = match_expression(phrases_, query_.only, tokens);
    return what;
  }

  Result<SearchPage> by_time() {
    SearchPage page;
    std::optional<HitKey> before;
    if (!query_.after.empty()) {
      REPRISE_ASSIGN(before, parse_cursor(query_.after));
    }
    // One more, to know whether there is a next page. More where many were passed over.
    std::size_t count = query_.limit + 1;
    while (true) {
      REPRISE_ASSIGN(const std::vector<Candidate> found, finder_->newest(count, before));
      for (const Candidate& candidate : found) {
        REPRISE_ASSIGN(auto hit, verify(candidate));
        if (hit && page.hits.size() == query_.limit) {
          page.next = cursor_of(*before);
          return page;
        }
        before = candidate.key;
        if (hit) {
          page.hits.push_back(*std::move(hit));
        }
      }
      if (found.size() < count) {
        return page;
      }
      count = std::min<std::size_t>(count * 2, kPageMax);
    }
  }

  Result<SearchPage> by_relevance() {
    std::size_t at = 0;
    if (!query_.after.empty()) {
      const auto rank = parse_whole(query_.after);
      if (!rank || *rank < 0) {
        return std::unexpected(bad_cursor(query_.after));
      }
      at = static_cast<std::size_t>(*rank);
    }
    REPRISE_ASSIGN(std::vector<Candidate> found, finder_->newest(kRankedMax, std::nullopt));
    std::vector<double> rarities;
    for (const Phrase& phrase : phrases_) {
      if (phrase.without) {
        break;
      }
      REPRISE_ASSIGN(const double density,
                     finder_->density(match_expression({phrase}, query_.only, {})));
      rarities.push_back(rarity_of(density));
    }
    rank(found, rarities);
    SearchPage page;
    for (; at < found.size(); ++at) {
      REPRISE_ASSIGN(auto hit, verify(found[at]));
      if (hit && page.hits.size() == query_.limit) {
        page.next = std::to_string(at);
        return page;
      }
      if (hit) {
        page.hits.push_back(*std::move(hit));
      }
    }
    return page;
  }

  // As the source has it now. nullopt: not to be found any more.
  Result<std::optional<SearchHit>> verify(const Candidate& candidate) {
    REPRISE_ASSIGN(const IndexedSession* const indexed, finder_->session(candidate.session));
    if (indexed == nullptr) {
      return std::optional<SearchHit>();
    }
    const std::size_t at = source_at_.at(indexed->source);
    Source& source = *sources_[at].source;
    REPRISE_ASSIGN(const SessionInfo* const info, session_now(source, candidate.session, *indexed));
    if (info == nullptr || candidate.seq >= info->head) {
      return std::optional<SearchHit>();
    }
    SearchHit hit{.source = at,
                  .session = *info,
                  .seq = candidate.seq,
                  .role = {},
                  .time = Time(std::chrono::milliseconds(candidate.key.time_ms)),
                  .snippet = {}};
    bool is_there = false;
    const auto read = source.read(
        info->id, {.from = candidate.seq, .to = candidate.seq.next()}, [&](const Message& message) {
          is_there = message.seq == candidate.seq;
          hit.role = message.role;
          Snippet snippet = snippet_of(texts_of(message), phrases_, query_.only);
          hit.part = snippet.part;
          hit.snippet = std::move(snippet.pieces);
          return Flow::stop;
        });
    if (!read && read.error().code != Code::not_found && read.error().code != Code::corrupt) {
      return std::unexpected(read.error());
    }
    return is_there ? std::optional(std::move(hit)) : std::nullopt;
  }

  // Null when it is gone or in the trash.
  Result<const SessionInfo*> session_now(Source& source, std::int64_t key,
                                         const IndexedSession& indexed) {
    auto found = infos_.find(key);
    if (found == infos_.end()) {
      REPRISE_ASSIGN(const SessionId id, SessionId::parse(indexed.id));
      REPRISE_ASSIGN(auto session, source.find(id));
      std::optional<SessionInfo> info;
      if (session && session->info.state != SessionState::trashed) {
        info = std::move(session->info);
      }
      found = infos_.emplace(key, std::move(info)).first;
    }
    return found->second ? &*found->second : nullptr;
  }

  sqlite::Connection& db_;
  std::span<const SearchSource> sources_;
  const SearchQuery& query_;
  std::vector<Phrase> phrases_;
  std::map<std::int64_t, std::size_t> source_at_;
  std::optional<Finder> finder_;
  std::map<std::int64_t, std::optional<SessionInfo>> infos_;
};

}  // namespace

Result<SearchPage> find_hits(sqlite::Connection& db, std::span<const SearchSource> sources,
                             const SearchQuery& query) {
  return Hits(db, sources, query).find();
}

}  // namespace reprise::search
