#pragma once

// Usage statistics: numbers of sessions and turns, tokens and cost, by day, model, project…

#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/encode.h"
#include "reprise/open_store.h"
#include "session/prices.h"

namespace reprise {

// A set of texts that stores only 64-bit hashes: 8 to 16 bytes per text. The probability that any
// two of a million texts collide is 1 in 30 million.
class HashSet {
 public:
  // Returns whether it is new.
  bool insert(std::string_view text) {
    if (2 * (count_ + 1) > slots_.size()) {
      grow();
    }
    const bool is_new = put(hash_of(text));
    count_ += is_new ? 1 : 0;
    return is_new;
  }
  bool contains(std::string_view text) const {
    return !slots_.empty() && slots_[slot_of(hash_of(text))] != 0;
  }

 private:
  // 0 marks an empty slot.
  static std::uint64_t hash_of(std::string_view text) {
    const std::uint64_t hash = fnv1a(text);
    const std::uint64_t mixed = (hash ^ (hash >> 32U)) * 0x9e3779b97f4a7c15U;
    return mixed == 0 ? 1 : mixed;
  }
  // The slot of the hash, or the empty one to insert it.
  std::size_t slot_of(std::uint64_t hash) const {
    std::size_t at = (hash >> 20U) & (slots_.size() - 1);
    while (slots_[at] != 0 && slots_[at] != hash) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  bool put(std::uint64_t hash) {
    std::uint64_t& slot = slots_[slot_of(hash)];
    const bool is_new = slot == 0;
    slot = hash;
    return is_new;
  }
  void grow() {
    std::vector<std::uint64_t> before(slots_.empty() ? 64 : 2 * slots_.size());
    before.swap(slots_);
    for (const std::uint64_t hash : before) {
      if (hash != 0) {
        put(hash);
      }
    }
  }

  std::vector<std::uint64_t> slots_;  // the size is a power of two, at least half are empty
  std::size_t count_ = 0;
};

enum class StatisticsGrouping : std::uint8_t { day, model, project, mode, provider, source };

struct StatisticsQuery {
  StatisticsGrouping by = StatisticsGrouping::day;
  std::optional<Time> since = {};  // of the messages
  std::optional<Time> until = {};  // exclusive
  // "2026-01-18": the local day of a time.
  std::function<std::string(Time)> day_of = {};
};

struct StatisticsRow {
  std::string key;            // "" if there is none: an unknown time, no model…
  std::int64_t sessions = 0;  // with messages in this row
  std::int64_t turns = 0;     // questions of users
  std::int64_t requests = 0;  // answers with usage
  std::int64_t unpriced = 0;  // requests without a known price, which the cost does not include
  Usage usage = {};           // sums; the cost is set if any request had one
};

struct Statistics {
  std::vector<StatisticsRow> rows;  // days in order, others by tokens, descending
  StatisticsRow total;
  std::set<std::string> unpriced_models;  // of total.unpriced; without requests of unknown models
  std::vector<Damage> damage;
};

struct StatisticsSource {
  std::string name;  // "claude:"
  Source* source = nullptr;
};

// Reads every session except those in the trash; memory holds one message, the rows, and 16 bytes
// per request and session. Each request is counted once: by its id, however often and in however
// many sources it is stored, and messages shared by forks with the session they started in.
// A history of another tool that cannot be read is damage, a store that cannot is an error.
// cancelled when stopped. `progress` counts sessions.
Result<Statistics> compute_statistics(std::span<const StatisticsSource> sources,
                                      const StatisticsQuery& query, const Prices& prices,
                                      const std::stop_token& stop = {},
                                      const ProgressSink& progress = {});

}  // namespace reprise
