#pragma once

// Usage statistics: numbers of sessions and turns, tokens and cost, by day, model, project…

#include <stop_token>

#include "reprise/open_store.h"
#include "session/prices.h"

namespace reprise {

enum class StatisticsBy : std::uint8_t { day, model, project, mode, provider, source };

struct StatisticsQuery {
  StatisticsBy by = StatisticsBy::day;
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
  std::vector<Damage> damage;
};

struct StatisticsSource {
  std::string name;  // "claude:"
  Source* source = nullptr;
};

// Reads every session except those in the trash; memory holds one message, the rows, and 16 bytes
// per request and session. Each request is counted once: by its id, however often and in however
// many sources it is stored, and messages shared by forks with the session they started in.
// cancelled when stopped. `progress` counts sessions.
Result<Statistics> sum_up(std::span<const StatisticsSource> sources, const StatisticsQuery& query,
                          const Prices& prices, const std::stop_token& stop = {},
                          const ProgressSink& progress = {});

}  // namespace reprise
