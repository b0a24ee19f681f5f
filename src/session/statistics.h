#pragma once

// What sessions used: their number, turns, tokens and cost, by day, model, project…

#include <stop_token>

#include "reprise/open_store.h"
#include "session/prices.h"

namespace reprise {

enum class StatisticsBy : std::uint8_t { day, model, project, mode, provider, source };

struct StatisticsQuery {
  StatisticsBy by = StatisticsBy::day;
  std::optional<Time> since = {};  // of the messages
  std::optional<Time> until = {};  // not included
  // "2026-01-18": the day of a time, where the person is.
  std::function<std::string(Time)> day_of = {};
};

struct StatisticsRow {
  std::string key;            // "" for what has none: a time that is not known, no model…
  std::int64_t sessions = 0;  // with messages in it
  std::int64_t turns = 0;     // questions of people
  std::int64_t requests = 0;  // answers with usage
  std::int64_t unpriced = 0;  // requests of no known price; the cost is without them
  Usage usage = {};           // the sums; a cost once any request had one
};

struct Statistics {
  std::vector<StatisticsRow> rows;  // days in order, all else by tokens, the most first
  StatisticsRow total;
  std::vector<Damage> damage;
};

struct StatisticsSource {
  std::string name;  // "claude:"
  Source* source = nullptr;
};

// Reads every session but those in the trash; memory holds one message, the rows, and 16 bytes for
// each request and session. Each request is counted once: by its id, however often and in however
// many sources it is stored, and, where forks share their beginning, with the session that it began
// in. cancelled when stopped. `progress` is told of sessions.
Result<Statistics> sum_up(std::span<const StatisticsSource> sources, const StatisticsQuery& query,
                          const Prices& prices, const std::stop_token& stop = {},
                          const ProgressSink& progress = {});

}  // namespace reprise
