#include "search/hits.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/assert.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/select.h"
#include "search/document.h"
#include "search/file_calls.h"
#include "search/finder.h"
#include "search/index_update.h"
#include "search/merging_finder.h"
#include "search/terms.h"
#include "store/sqlite/connection.h"

namespace reprise::search {
namespace {

// Larger gaps between hits are skipped by another read.
constexpr std::int64_t kReadGapMax = 16;

// Identifies a candidate's session.
auto key_of(const Candidate& candidate) {
  return std::tie(candidate.store, candidate.session, candidate.id);
}

class Hits {
 public:
  Hits(sqlite::Connection& db, std::span<const SearchSource> sources, const SearchQuery& query)
      : db_(db), sources_(sources), query_(query) {}

  Result<SearchPage> find() {
    if (query_.limit == 0 || query_.limit > kPageMax) {
      return fail(Code::invalid_argument, cat("a page has 1 to ", kPageMax, " hits"));
    }
    REPRISE_ASSIGN(phrases_, phrases_of(terms()));
    REPRISE_ASSIGN(Finder::Query query, finder_query());
    finder_.emplace(db_, std::move(query));
    merging_.emplace(*finder_, words_, store_query());
    auto page = query_.order == SearchOrder::newest ? by_time() : by_relevance();
    if (page) {
      page->damage = std::move(damage_);
    }
    return page;
  }

 private:
  Finder& finder() {
    REPRISE_ASSERT(finder_);
    return *finder_;
  }
  MergingFinder& merging() {
    REPRISE_ASSERT(merging_);
    return *merging_;
  }

  // The words of a file's name are those of each call that names it.
  std::vector<SearchTerm> terms() const {
    std::vector<SearchTerm> terms = query_.terms;
    if (query_.file) {
      terms.push_back({.text = std::filesystem::path(*query_.file).filename()});
    }
    return terms;
  }

  // For messages.
  std::vector<std::string> attributes() const {
    std::vector<std::string> attributes;
    const auto add = [&](Attribute attribute, const std::optional<std::string>& value) {
      if (value) {
        attributes.push_back(attribute_token(attribute, *value));
      }
    };
    add(Attribute::role, query_.role);
    add(Attribute::model, query_.model);
    if (query_.author) {
      attributes.push_back(attribute_token(Attribute::author, query_.author->str()));
    }
    add(Attribute::tool, query_.tool);
    return attributes;
  }

  Result<Finder::Query> finder_query() {
    std::vector<std::vector<std::string>> tokens;
    for (std::string& attribute : attributes()) {
      tokens.push_back({std::move(attribute)});
    }
    if (query_.working_dir) {
      tokens.push_back({attribute_token(Attribute::folder, *query_.working_dir)});
    }
    Finder::Query query{.sources = {},
                        .phrases = phrases_,
                        .only = query_.only,
                        .tokens = {},
                        .since_ms = query_.since.transform(unix_ms),
                        .until_ms = query_.until.transform(unix_ms),
                        .with_counts = query_.order == SearchOrder::relevance};
    std::vector<std::string> sessions;  // with the same id in several sources
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (WordIndex* const words = sources_[i].source->capabilities().word_index) {
        words_.push_back(words);
        words_at_.push_back(i);
        continue;
      }
      REPRISE_ASSIGN(const std::int64_t row, find_source(db_, sources_[i].url));
      if (query_.session && row != 0) {
        REPRISE_ASSIGN(const std::int64_t key,
                       db_.integer("SELECT key FROM sessions WHERE source = ? AND id = ?", row,
                                   query_.session->str()));
        sessions.push_back(session_token(key));
      }
      if (row != 0) {
        query.sources.push_back(row);
        source_at_[row] = i;
      }
    }
    if (!sessions.empty()) {
      tokens.push_back(std::move(sessions));
    }
    query.tokens = std::move(tokens);
    return query;
  }

  // The same query for stores that index words themselves.
  WordQuery store_query() const {
    const auto floor = [](Time time) {
      return Time(std::chrono::floor<std::chrono::milliseconds>(time));
    };
    WordQuery query{.phrases = {},
                    .attributes = attributes(),
                    .working_dir = query_.working_dir,
                    .session = query_.session,
                    .since = query_.since.transform(floor),
                    .until = query_.until.transform(floor),
                    .with_counts = query_.order == SearchOrder::relevance};
    if (query_.only) {
      query.part = static_cast<std::size_t>(*query_.only);
    }
    for (const Phrase& phrase : phrases_) {
      query.phrases.push_back({phrase.words, phrase.prefix, phrase.without});
    }
    return query;
  }

  Result<SearchPage> by_time() {
    SearchPage page;
    if (!query_.after.empty()) {
      REPRISE_TRY(merging().seek(query_.after));
    }
    std::string last;  // the cursor after the previous batch
    // One more than the limit, to know whether there is a next page. Increased if many hits are
    // skipped.
    std::size_t count = query_.limit + 1;
    while (true) {
      REPRISE_ASSIGN(const std::vector<Candidate> found, merging().next(count));
      REPRISE_ASSIGN(MaybeHits hits, verify(found));
      page.hits.reserve(std::min(query_.limit, page.hits.size() + found.size()));
      for (std::size_t i = 0; i < found.size(); ++i) {
        std::optional<SearchHit>& hit = hits[i];
        if (hit && page.hits.size() == query_.limit) {
          page.next = i > 0 ? cursor_of(found[i - 1]) : std::move(last);
          return page;
        }
        if (hit) {
          page.hits.push_back(*std::move(hit));
        }
      }
      if (found.size() < count) {
        return page;
      }
      last = cursor_of(found.back());
      count = std::min<std::size_t>(count * 2, kPageMax);
    }
  }

  Result<SearchPage> by_relevance() {
    std::size_t at = 0;
    if (!query_.after.empty()) {
      const auto rank = parse_number<std::int64_t>(query_.after);
      if (!rank || *rank < 0) {
        return std::unexpected(bad_cursor(query_.after));
      }
      at = static_cast<std::size_t>(*rank);
    }
    REPRISE_ASSIGN(std::vector<Candidate> found, merging().next(kRankedMax));
    REPRISE_ASSIGN(const std::vector<double> rarities, find_rarities());
    rank(found, rarities);
    SearchPage page;
    while (at < found.size()) {
      const std::size_t count = std::min(query_.limit + 1 - page.hits.size(), found.size() - at);
      REPRISE_ASSIGN(MaybeHits hits, verify(std::span(found).subspan(at, count)));
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

  // The rarities of the included phrases over all searched sources.
  Result<std::vector<double>> find_rarities() {
    std::vector<double> densities;
    for (const Phrase& phrase : phrases_) {
      if (phrase.without) {
        break;
      }
      REPRISE_ASSIGN(const double density,
                     finder().density(match_expression({phrase}, query_.only, {})));
      densities.push_back(density);
    }
    double parts = source_at_.empty() ? 0 : 1;
    for (WordIndex* const words : words_) {
      REPRISE_ASSIGN(const std::vector<double> store_densities,
                     words->word_densities(store_query()));
      for (std::size_t i = 0; i < std::min(store_densities.size(), densities.size()); ++i) {
        densities[i] += store_densities[i];
      }
      ++parts;
    }
    for (double& density : densities) {
      density = rarity_of(density / std::max(parts, 1.0));
    }
    return densities;
  }

  using MaybeHits = std::vector<std::optional<SearchHit>>;

  // A candidate's session.
  struct Owner {
    std::size_t source;
    SessionId id;
    std::int64_t row;  // of the source, in the index
    bool has_unique_short_id;
  };
  struct CachedSession {
    SessionInfo info;
    std::string short_id;
    std::size_t source;
    Seq copied;
  };

  // Reads the candidates from their sources. nullopt: no longer a hit, or another one of a session
  // that is found once.
  Result<MaybeHits> verify(std::span<const Candidate> candidates) {
    MaybeHits hits(candidates.size());
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return std::tuple_cat(key_of(candidates[i]), std::tie(candidates[i].seq));
    });
    REPRISE_TRY(find_messages(candidates, order, hits));
    REPRISE_TRY(read_messages(candidates, order, hits));
    for (std::optional<SearchHit>& hit : hits) {
      if (hit && query_.file && !sessions_found_.insert({hit->source, hit->session.id}).second) {
        hit.reset();
      }
    }
    return hits;
  }

  // Fetches messages of sources that can find several at once, and removes their candidates from
  // `order`.
  Result<> find_messages(std::span<const Candidate> candidates, std::vector<std::size_t>& order,
                         MaybeHits& hits) {
    struct Fetch {
      std::size_t candidate;
      Owner owner;
    };
    std::map<std::size_t, std::vector<Fetch>> fetches_by_source;
    for (const std::size_t i : order) {
      REPRISE_ASSIGN(Owner owner, owner_of(candidates[i]));
      if (finder_of(owner.source) != nullptr) {
        fetches_by_source[owner.source].push_back({i, std::move(owner)});
      }
    }
    std::set<std::size_t> fetched;
    for (const auto& [source, fetches] : fetches_by_source) {
      std::vector<MessageFinder::MessageRef> refs;
      refs.reserve(fetches.size());
      for (const Fetch& fetch : fetches) {
        refs.push_back({fetch.owner.id, candidates[fetch.candidate].seq});
      }
      REPRISE_ASSIGN(auto found, finder_of(source)->find_messages(refs));
      for (std::size_t i = 0; i < fetches.size(); ++i) {
        const auto& [candidate, owner] = fetches[i];
        if (auto& message = found[i]; message) {
          REPRISE_TRY(take(candidates[candidate], owner, std::move(*message), hits[candidate]));
          fetched.insert(candidate);
        }
      }
    }
    std::erase_if(order, [&fetched](std::size_t i) { return fetched.contains(i); });
    return {};
  }

  // Null if messages that another source has, too, must be left out.
  MessageFinder* finder_of(std::size_t source) const {
    const auto& [url, searched, copied] = sources_[source];
    return copied ? nullptr : searched->capabilities().message_finder;
  }

  Result<> take(const Candidate& candidate, const Owner& owner, MessageFinder::Found&& found,
                std::optional<SearchHit>& hit) {
    if (found.session.state == SessionState::trashed) {
      return {};
    }
    REPRISE_ASSIGN(std::string brief,
                   found.has_unique_short_id ? short_id(owner.id) : short_id_of(candidate, owner));
    set_hit(candidate, {std::move(found.session), std::move(brief), owner.source, Seq{}},
            found.message, hit);
    return {};
  }

  // Nearby messages of one session are read together.
  Result<> read_messages(std::span<const Candidate> candidates, std::span<const std::size_t> order,
                         MaybeHits& hits) {
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin + 1;
      while (end < order.size() &&
             key_of(candidates[order[end]]) == key_of(candidates[order[begin]]) &&
             candidates[order[end]].seq.value <=
                 candidates[order[end - 1]].seq.value + kReadGapMax) {
        ++end;
      }
      REPRISE_TRY(read_hits(candidates, order.subspan(begin, end - begin), hits));
      begin = end;
    }
    return {};
  }

  // `indices` are of candidates of one session, ascending.
  Result<> read_hits(std::span<const Candidate> candidates, std::span<const std::size_t> indices,
                     MaybeHits& hits) {
    REPRISE_ASSIGN(const CachedSession* const session,
                   current_session(candidates[indices.front()]));
    if (session == nullptr) {
      return {};
    }
    while (!indices.empty() && candidates[indices.front()].seq < session->copied) {
      indices = indices.subspan(1);
    }
    if (indices.empty()) {
      return {};
    }
    Source& source = *sources_[session->source].source;
    auto next = indices.begin();
    bool has_missed = false;
    const auto read = source.read(
        session->info.id,
        {.from = candidates[indices.front()].seq, .to = candidates[indices.back()].seq.next()},
        [&](const Message& message) {
          while (next != indices.end() && candidates[*next].seq < message.seq) {
            ++next;  // it is unreadable
            has_missed = true;
          }
          if (next != indices.end() && candidates[*next].seq == message.seq) {
            set_hit(candidates[*next], CachedSession(*session), message, hits[*next]);
            ++next;
          }
          return Flow::proceed;
        });
    if (read && (has_missed || next != indices.end()) && !read->damage.empty()) {
      damage_.push_back(read->damage.front());
    }
    return read || read.error().code == Code::not_found
               ? Result<>()
               : skip_unreadable(session->info.id, read.error());
  }

  Result<> skip_unreadable(const SessionId& id, const Error& error) {
    if (error.code != Code::corrupt && error.code != Code::io) {
      return std::unexpected(error);
    }
    damage_.push_back({id.str(), error.message, ""});
    return {};
  }

  // Sets `hit` if the text matches.
  void set_hit(const Candidate& candidate, CachedSession&& session, const Message& message,
               std::optional<SearchHit>& hit) const {
    if (query_.file && !names_file(message, *query_.file, session.info.working_dir)) {
      return;
    }
    const Texts texts = texts_of(message);
    if (!candidate.is_certain && !has_phrases(texts, phrases_, query_.only)) {
      return;
    }
    Snippet snippet = snippet_of(texts, phrases_, query_.only);
    hit.emplace(SearchHit{.source = session.source,
                          .session = std::move(session.info),
                          .short_id = std::move(session.short_id),
                          .seq = message.seq,
                          .role = message.role,
                          .time = Time(std::chrono::milliseconds(candidate.key.time_ms)),
                          .part = snippet.part,
                          .snippet = std::move(snippet.pieces)});
  }

  Result<Owner> owner_of(const Candidate& candidate) {
    if (candidate.store > 0) {
      REPRISE_ASSIGN(SessionId id, SessionId::parse(candidate.id));  // of the store
      return Owner{words_at_.at(candidate.store - 1), std::move(id), 0, false};
    }
    const IndexedSession& indexed = finder().session(candidate.session);
    REPRISE_ASSIGN(SessionId id, parse_indexed(db_, indexed.id));
    const auto source = source_at_.find(indexed.source);
    if (source == source_at_.end()) {
      return db_.wrong_content("a shard has messages of another source");
    }
    return Owner{source->second, std::move(id), indexed.source, indexed.has_unique_short_id};
  }

  // Null if it was deleted or is in the trash.
  Result<const CachedSession*> current_session(const Candidate& candidate) {
    const auto key = key_of(candidate);
    auto cached = sessions_.find(key);
    if (cached == sessions_.end()) {
      REPRISE_ASSIGN(std::optional<CachedSession> session, find_session(candidate));
      cached = sessions_.emplace(key, std::move(session)).first;
    }
    const std::optional<CachedSession>& session = cached->second;
    return session ? &*session : nullptr;
  }

  Result<std::optional<CachedSession>> find_session(const Candidate& candidate) {
    REPRISE_ASSIGN(const Owner owner, owner_of(candidate));
    Source& source = *sources_[owner.source].source;
    auto found = source.find(owner.id);
    if (!found) {
      REPRISE_TRY(skip_unreadable(owner.id, found.error()));
    }
    std::optional<Session> session = found ? *std::move(found) : std::nullopt;
    if (!session || session->info.state == SessionState::trashed) {
      return std::nullopt;
    }
    REPRISE_ASSIGN(std::string brief, short_id_of(candidate, owner));
    Seq copied;
    if (const auto& count_copied = sources_[owner.source].copied) {
      REPRISE_ASSIGN(copied, count_copied(owner.id));
    }
    return CachedSession{std::move(session->info), std::move(brief), owner.source, copied};
  }

  Result<std::string> short_id_of(const Candidate& candidate, const Owner& owner) {
    if (owner.has_unique_short_id) {
      return short_id(owner.id);
    }
    return candidate.store > 0 ? unique_short_id(*sources_[owner.source].source, owner.id)
                               : indexed_short_id(candidate, owner);
  }

  // Uses the index: asking the source would read all its ids.
  Result<std::string> indexed_short_id(const Candidate& candidate, const Owner& owner) {
    REPRISE_ASSIGN(const std::vector<std::string> others,
                   db_.texts("SELECT id FROM sessions WHERE source = ? AND short_id = ?"
                             " AND key <> ?",
                             owner.row, short_id(owner.id), candidate.session));
    std::vector<SessionId> ids = {owner.id};
    for (const std::string& other : others) {
      REPRISE_ASSIGN(SessionId id, parse_indexed(db_, other));
      ids.push_back(std::move(id));
    }
    return short_ids(ids).front();
  }

  sqlite::Connection& db_;
  std::span<const SearchSource> sources_;
  const SearchQuery& query_;
  std::vector<Phrase> phrases_;
  std::map<std::int64_t, std::size_t> source_at_;
  std::vector<WordIndex*> words_;      // of stores that index words themselves
  std::vector<std::size_t> words_at_;  // indices of their sources
  std::optional<Finder> finder_;
  std::optional<MergingFinder> merging_;
  std::vector<Damage> damage_;
  std::set<std::pair<std::size_t, SessionId>> sessions_found_;  // with query_.file
  std::map<std::tuple<std::size_t, std::int64_t, std::string>, std::optional<CachedSession>>
      sessions_;
};

}  // namespace

Result<SearchPage> find_hits(sqlite::Connection& db, std::span<const SearchSource> sources,
                             const SearchQuery& query) {
  return Hits(db, sources, query).find();
}

}  // namespace reprise::search
