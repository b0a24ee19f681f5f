#include "search/hits.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

#include "base/assert.h"
#include "base/text.h"
#include "search/catch_up.h"
#include "search/document.h"
#include "search/finder.h"
#include "search/terms.h"

namespace reprise::search {
namespace {

constexpr std::int64_t kNear = 16;  // messages that are read for nothing rather than apart

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
  Finder& finder() {
    REPRISE_ASSERT(finder_);
    return *finder_;
  }

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
      REPRISE_ASSIGN(const std::vector<Candidate> found, finder().newest(count, before));
      REPRISE_ASSIGN(std::vector<std::optional<SearchHit>> hits, verify(found));
      for (std::size_t i = 0; i < found.size(); ++i) {
        std::optional<SearchHit>& hit = hits[i];
        if (hit && page.hits.size() == query_.limit) {
          REPRISE_ASSERT(before);  // the key of the last hit, or of what came after it
          page.next = cursor_of(*before);
          return page;
        }
        before = found[i].key;
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
    REPRISE_ASSIGN(std::vector<Candidate> found, finder().newest(kRankedMax, std::nullopt));
    std::vector<double> rarities;
    for (const Phrase& phrase : phrases_) {
      if (phrase.without) {
        break;
      }
      REPRISE_ASSIGN(const double density,
                     finder().density(match_expression({phrase}, query_.only, {})));
      rarities.push_back(rarity_of(density));
    }
    rank(found, rarities);
    SearchPage page;
    while (at < found.size()) {
      const std::size_t count = std::min(query_.limit + 1 - page.hits.size(), found.size() - at);
      REPRISE_ASSIGN(std::vector<std::optional<SearchHit>> hits,
                     verify(std::span(found).subspan(at, count)));
      for (std::size_t i = 0; i < count; ++i) {
        std::optional<SearchHit>& hit = hits[i];
        if (hit && page.hits.size() == query_.limit) {
          page.next = std::to_string(at + i);
          return page;
        }
        if (hit) {
          page.hits.push_back(*std::move(hit));
        }
      }
      at += count;
    }
    return page;
  }

  // As their sources have them now. nullopt: not to be found any more. Messages of a session that
  // stand near one another are read at once.
  Result<std::vector<std::optional<SearchHit>>> verify(std::span<const Candidate> candidates) {
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return std::pair(candidates[i].session, candidates[i].seq);
    });
    std::vector<std::optional<SearchHit>> hits(candidates.size());
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin + 1;
      while (end < order.size() &&
             candidates[order[end]].session == candidates[order[begin]].session &&
             candidates[order[end]].seq.value <= candidates[order[end - 1]].seq.value + kNear) {
        ++end;
      }
      REPRISE_TRY(read_hits(candidates, std::span(order).subspan(begin, end - begin), hits));
      begin = end;
    }
    return hits;
  }

  // `some` are of one session and ascend.
  Result<> read_hits(std::span<const Candidate> candidates, std::span<const std::size_t> some,
                     std::vector<std::optional<SearchHit>>& hits) {
    const Candidate& first = candidates[some.front()];
    REPRISE_ASSIGN(const IndexedSession* const indexed, finder().session(first.session));
    if (indexed == nullptr) {
      return {};
    }
    const std::size_t at = source_at_.at(indexed->source);
    Source& source = *sources_[at].source;
    REPRISE_ASSIGN(const Known* const known, session_now(source, first.session, *indexed));
    if (known == nullptr) {
      return {};
    }
    auto next = some.begin();
    const auto read =
        source.read(known->info.id, {.from = first.seq, .to = candidates[some.back()].seq.next()},
                    [&](const Message& message) {
                      while (next != some.end() && candidates[*next].seq < message.seq) {
                        ++next;  // it cannot be read
                      }
                      if (next != some.end() && candidates[*next].seq == message.seq) {
                        Snippet snippet = snippet_of(texts_of(message), phrases_, query_.only);
                        hits[*next] = SearchHit{
                            .source = at,
                            .session = known->info,
                            .short_id = known->short_id,
                            .seq = message.seq,
                            .role = message.role,
                            .time = Time(std::chrono::milliseconds(candidates[*next].key.time_ms)),
                            .part = snippet.part,
                            .snippet = std::move(snippet.pieces)};
                      }
                      return Flow::go_on;
                    });
    if (!read && read.error().code != Code::not_found && read.error().code != Code::corrupt) {
      return std::unexpected(read.error());
    }
    return {};
  }

  struct Known {
    SessionInfo info;
    std::string short_id;
  };

  // Null when it is gone or in the trash.
  Result<const Known*> session_now(Source& source, std::int64_t key,
                                   const IndexedSession& indexed) {
    auto found = known_.find(key);
    if (found == known_.end()) {
      REPRISE_ASSIGN(const SessionId id, SessionId::parse(indexed.id));
      auto session = source.find(id);
      if (!session && session.error().code != Code::corrupt) {
        return std::unexpected(session.error());
      }
      std::optional<Known> known;
      if (session) {
        auto& there = *session;
        if (there && there->info.state != SessionState::trashed) {
          REPRISE_ASSIGN(std::string brief, unique_short_id(indexed.source, id));
          known = Known{std::move(there->info), std::move(brief)};
        }
      }
      found = known_.emplace(key, std::move(known)).first;
    }
    const std::optional<Known>& known = found->second;
    return known ? &*known : nullptr;
  }

  // To ask the source for it would be a look at all its ids.
  Result<std::string> unique_short_id(std::int64_t source, const SessionId& id) {
    std::vector<SessionId> ids = {id};
    const std::string brief = short_id(id);
    REPRISE_ASSIGN(auto rows, db_.query("SELECT id FROM sessions WHERE source = ? AND short_id = ?"
                                        " AND id <> ?",
                                        source, brief, id.str()));
    REPRISE_TRY(rows.each([&]() -> Result<> {
      REPRISE_ASSIGN(SessionId other, SessionId::parse(rows.text("id")));
      ids.push_back(std::move(other));
      return {};
    }));
    return short_ids(ids).front();
  }

  sqlite::Connection& db_;
  std::span<const SearchSource> sources_;
  const SearchQuery& query_;
  std::vector<Phrase> phrases_;
  std::map<std::int64_t, std::size_t> source_at_;
  std::optional<Finder> finder_;
  std::map<std::int64_t, std::optional<Known>> known_;
};

}  // namespace

Result<SearchPage> find_hits(sqlite::Connection& db, std::span<const SearchSource> sources,
                             const SearchQuery& query) {
  // One view of the index, which also spares a lock for each statement.
  REPRISE_ASSIGN(const auto view, sqlite::Transaction::begin(db, "BEGIN"));
  return Hits(db, sources, query).find();
}

}  // namespace reprise::search
