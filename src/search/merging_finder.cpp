#include "search/merging_finder.h"

#include <algorithm>
#include <cmath>
#include <expected>
#include <iterator>
#include <limits>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/types.h"

namespace reprise::search {
namespace {

using std::chrono::milliseconds;

// The part of a cursor after the time.
struct HitPosition {
  std::int64_t document = 0;
  std::int64_t store = 0;  // 0: the index
  std::string_view place = {};
};

std::optional<HitPosition> parse_hit_position(std::string_view text) {
  if (!text.starts_with('s')) {
    const auto document = parse_number<std::int64_t>(text);
    return document ? std::optional(HitPosition{.document = *document}) : std::nullopt;
  }
  const std::size_t dot = std::min(text.find('.'), text.size());
  const auto store = parse_number<std::int64_t>(text.substr(1, dot - 1));
  const std::string_view place = text.substr(std::min(dot + 1, text.size()));
  return store && *store > 0 && !place.empty()
             ? std::optional(HitPosition{.store = *store, .place = place})
             : std::nullopt;
}

}  // namespace

Error bad_cursor(std::string_view cursor) {
  return {Code::invalid_argument, cat("'", cursor, "' is not a cursor of this search")};
}

std::string cursor_of(const Candidate& candidate) {
  const auto& [time_ms, document] = candidate.key;
  return candidate.store == 0 ? cat(time_ms, ".", document)
                              : cat(time_ms, ".s", candidate.store, ".", candidate.place);
}

MergingFinder::MergingFinder(Finder& finder, const std::vector<WordIndex*>& stores,
                             const WordQuery& query)
    : finder_(finder) {
  streams_.push_back({.store = nullptr, .query = {}});
  for (WordIndex* const store : stores) {
    streams_.push_back({.store = store, .query = query});
  }
}

Result<> MergingFinder::seek(std::string_view cursor) {
  constexpr std::int64_t kTimeMax = 1'000'000'000'000'000;  // does not overflow in microseconds
  const std::size_t dot = std::min(cursor.find('.'), cursor.size());
  const auto time = parse_number<std::int64_t>(cursor.substr(0, dot));
  const auto position = parse_hit_position(cursor.substr(std::min(dot + 1, cursor.size())));
  if (!time || !position || std::abs(*time) > kTimeMax || position->store >= std::ssize(streams_)) {
    return std::unexpected(bad_cursor(cursor));
  }
  streams_.front().before = HitKey{
      *time, position->store == 0 ? position->document : std::numeric_limits<std::int64_t>::min()};
  for (std::int64_t number = 1; number < std::ssize(streams_); ++number) {
    Stream& stream = streams_[static_cast<std::size_t>(number)];
    if (number == position->store) {
      stream.after = position->place;
      continue;
    }
    const Time until(milliseconds(*time + (number > position->store ? 1 : 0)));
    stream.query.until = std::min(stream.query.until.value_or(until), until);
  }
  return {};
}

Result<std::vector<Candidate>> MergingFinder::next(std::size_t count) {
  for (std::size_t number = 0; number < streams_.size(); ++number) {
    REPRISE_TRY(fill(number, count));
  }
  std::vector<Candidate> found;
  while (found.size() < count) {
    Stream* newest = nullptr;
    for (Stream& stream : streams_) {
      if (!stream.ready.empty() && (newest == nullptr || stream.ready.front().key.time_ms >
                                                             newest->ready.front().key.time_ms)) {
        newest = &stream;
      }
    }
    if (newest == nullptr) {
      break;
    }
    found.push_back(std::move(newest->ready.front()));
    newest->ready.pop_front();
  }
  return found;
}

Result<> MergingFinder::fill(std::size_t number, std::size_t count) {
  Stream& stream = streams_[number];
  if (stream.is_at_end || stream.ready.size() >= count) {
    return {};
  }
  const std::size_t required = count - stream.ready.size();
  if (stream.store != nullptr) {
    return fill_from_store(number, required);
  }
  REPRISE_ASSIGN(std::vector<Candidate> found, finder_.newest(required, stream.before));
  stream.is_at_end = found.size() < required;
  if (!found.empty()) {
    stream.before = found.back().key;
  }
  std::ranges::move(found, std::back_inserter(stream.ready));
  return {};
}

Result<> MergingFinder::fill_from_store(std::size_t number, std::size_t count) {
  Stream& stream = streams_[number];
  REPRISE_ASSIGN(std::vector<WordHit> found,
                 stream.store->find_words(stream.query, stream.after, count));
  stream.is_at_end = found.size() < count;
  if (!found.empty()) {
    stream.after = found.back().place;
  }
  for (WordHit& hit : found) {
    stream.ready.push_back({.key = {unix_ms(hit.time), -++store_hits_},
                            .session = 0,
                            .seq = hit.seq,
                            .bytes = hit.bytes,
                            .counts = std::move(hit.counts),
                            .store = number,
                            .id = hit.session.str(),
                            .place = std::move(hit.place),
                            .is_certain = hit.is_certain});
  }
  return {};
}

}  // namespace reprise::search
