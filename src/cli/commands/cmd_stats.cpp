// reprise stats: usage and cost of sessions.

#include <algorithm>
#include <ranges>
#include <set>

#include "base/terminal_text.h"
#include "choice/settings.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/output/table.h"
#include "cli/program/interrupts.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/settings/time_value.h"
#include "model/json_fields.h"
#include "session/prices.h"
#include "session/statistics.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kBarColumns = 20;
constexpr std::string_view kBarColour = "\x1b[36m";
constexpr std::string_view kNoColour = "\x1b[0m";

constexpr auto kBy = std::to_array<std::pair<std::string_view, StatisticsGrouping>>({
    {"day", StatisticsGrouping::day},
    {"model", StatisticsGrouping::model},
    {"project", StatisticsGrouping::project},
    {"mode", StatisticsGrouping::mode},
    {"provider", StatisticsGrouping::provider},
    {"source", StatisticsGrouping::source},
});

std::vector<std::string_view> by_names() {
  std::vector<std::string_view> names;
  names.reserve(kBy.size());
  for (const auto& [name, by] : kBy) {
    names.push_back(name);
  }
  return names;
}

std::string local_day(Time time) {
  constexpr std::size_t kDateBytes = 10;  // "2026-01-18"
  return local_time(time).substr(0, kDateBytes);
}

// "$12.34", "$0.0042"; a "+" means that some requests have no known price.
std::string row_cost_text(const StatisticsRow& row) {
  if (!row.usage.cost) {
    return "-";
  }
  const std::int64_t nanos = row.usage.cost->nanos;
  const bool is_small = nanos < 1'000'000'000;
  const std::int64_t unit = is_small ? 100'000 : 10'000'000;
  const std::int64_t digits = is_small ? 10'000 : 100;
  const std::int64_t parts = nanos / unit + (nanos % unit >= unit / 2 ? 1 : 0);
  const std::string fraction = std::to_string(digits + parts % digits).substr(1);
  return cat("$", parts / digits, ".", fraction, row.unpriced > 0 ? "+" : "");
}

// " (model-a, model-b…)"; "" without models.
std::string names_of(const std::set<std::string>& models) {
  constexpr std::size_t kShownMax = 3;
  if (models.empty()) {
    return "";
  }
  return cat(" (", joined(std::views::take(models, kShownMax)),
             models.size() > kShownMax ? "…" : "", ")");
}

std::int64_t tokens_of(const StatisticsRow& row) {
  return (row.usage.input + row.usage.output).value;
}

class Stats final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"--by", "WHAT",
                     "group by day, model, project, mode, provider or source (default: day)", &by_,
                     by_names()},
                    {"--since", "WHEN", "only messages since then: '2 weeks' or a date", &since_},
                    {"--until", "WHEN", "only messages until then; a date is included", &until_},
                    {"--all-sources", "", "also count other tools' histories on this machine",
                     &all_sources_}},
        .arguments = {}};
  }

  Result<Exit> run(Context& context) override {
    const auto query = make_query(context);
    if (!query) {
      return refuse_value(context, query.error());
    }
    REPRISE_ASSIGN(const Prices prices, own_prices(context));
    REPRISE_TRY(find_sources(context));
    const Interrupts interrupts;
    REPRISE_ASSIGN(const Statistics statistics,
                   compute_statistics(sources_, *query, prices, interrupts.token(),
                                      [&context](const Progress& progress) {
                                        context.console().progress(progress);
                                      }));
    context.console().end_progress();
    if (context.globals().json) {
      context.console().print_json(document(statistics));
    } else {
      print(context, statistics);
    }
    for (const Damage& part : statistics.damage) {
      context.console().warn(cat(part.where, ": ", part.reason));
    }
    return statistics.damage.empty() ? Exit::success : Exit::failed;
  }

 private:
  Result<StatisticsQuery> make_query(Context& context) const {
    StatisticsQuery query{.by = StatisticsGrouping::day, .day_of = local_day};
    for (const auto& [name, by] : kBy) {
      query.by = by_ == name ? by : query.by;
    }
    REPRISE_ASSIGN(const TimeRange range, parse_time_range(context, since_, until_));
    query.since = range.since;
    query.until = range.until;
    return query;
  }

  static Result<Prices> own_prices(Context& context) {
    REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
    std::vector<Price> own;
    for (const std::string& text : settings->prices) {
      REPRISE_ASSIGN(own.emplace_back(), parse_price(text));
    }
    return Prices(std::move(own));
  }

  Result<> find_sources(Context& context) {
    REPRISE_ASSIGN(Source* const source, context.stores().existing_source());
    if (source != nullptr) {
      REPRISE_ASSIGN(const SourceKind* const kind, context.stores().source_kind());
      sources_.push_back({kind == nullptr ? "reprise" : cat(kind->name, ":"), source});
    }
    if (all_sources_) {
      histories_ = find_histories(context);
      for (const FoundHistory& history : histories_) {
        sources_.push_back({history.url, history.source.get()});
      }
    }
    return {};
  }

  static void append_row(std::string& out, const StatisticsRow& row, bool with_key) {
    json::ObjectWriter object(out);
    if (with_key) {
      object.field("key", row.key);
    }
    object.field("sessions", row.sessions)
        .field("turns", row.turns)
        .field("requests", row.requests);
    model::append_fields(object, row.usage);
    object.field("unpriced_requests", row.unpriced).close();
  }

  std::string document(const Statistics& statistics) const {
    std::string rows;
    json::ArrayWriter array(rows);
    for (const StatisticsRow& row : statistics.rows) {
      array.item();
      append_row(rows, row, true);
    }
    array.close();
    std::string total;
    append_row(total, statistics.total, false);
    const PriceList& standard = standard_prices();
    const std::vector<std::string> source_urls(standard.sources.begin(), standard.sources.end());
    std::string prices;
    json::ObjectWriter(prices)
        .field("as_of", standard.as_of)
        .raw("sources", json::array_of(source_urls))
        .close();
    std::string out;
    json::ObjectWriter(out)
        .field("by", by_.value_or("day"))
        .raw("rows", rows)
        .raw("total", total)
        .raw("unpriced_models", json::array_of(std::vector(statistics.unpriced_models.begin(),
                                                           statistics.unpriced_models.end())))
        .raw("prices", prices)
        .raw("damage", damage_document(statistics.damage))
        .close();
    return out;
  }

  void print(Context& context, const Statistics& statistics) const {
    if (statistics.rows.empty()) {
      context.console().notice("no usage recorded");
      return;
    }
    Output& out = context.console().out();
    const bool is_coloured = context.is_coloured(out.is_terminal());
    const bool has_bars = out.is_terminal() || is_coloured;
    const auto columns = static_cast<std::size_t>(out.columns());
    const std::string text = table(statistics, columns - (has_bars ? kBarColumns + 2 : 0));
    out.write(has_bars ? with_bars(text, statistics.rows, is_coloured) : text);
    const PriceList& standard = standard_prices();
    if (statistics.total.usage.cost) {
      context.console().notice(cat("costs come from the provider, or from the prices of ",
                                   standard.as_of, " and your own"));
    }
    if (statistics.total.unpriced > 0) {
      const bool is_single = statistics.total.unpriced == 1;
      context.console().notice(cat(counted(statistics.total.unpriced, "request"),
                                   is_single ? " has" : " have", " no known price",
                                   names_of(statistics.unpriced_models),
                                   "; add it to the setting 'prices'"));
    }
  }

  std::string table(const Statistics& statistics, std::size_t width) const {
    std::vector<std::vector<std::string>> rows;
    const auto add = [&rows](const StatisticsRow& row, const std::string& name) {
      rows.push_back({name, std::to_string(row.sessions), std::to_string(row.turns),
                      compact_count(row.usage.input.value), compact_count(row.usage.cached.value),
                      compact_count(row.usage.output.value), row_cost_text(row)});
    };
    for (const StatisticsRow& row : statistics.rows) {
      add(row, row.key.empty() ? "-" : terminal_line(row.key));
    }
    add(statistics.total, "total");
    return format_table({{.heading = std::string(by_.value_or("day")), .flexible = true},
                         {.heading = "sessions", .align = Alignment::right},
                         {.heading = "turns", .align = Alignment::right},
                         {.heading = "in", .align = Alignment::right},
                         {.heading = "cached", .align = Alignment::right},
                         {.heading = "out", .align = Alignment::right},
                         {.heading = "cost", .align = Alignment::right}},
                        rows, width);
  }

  // Appends a bar to each line except the headings and the total.
  static std::string with_bars(std::string_view table, const std::vector<StatisticsRow>& rows,
                               bool is_coloured) {
    std::int64_t most = 0;
    for (const StatisticsRow& row : rows) {
      most = std::max(most, tokens_of(row));
    }
    std::string out;
    for (std::size_t line = 0; !table.empty(); ++line) {
      const std::size_t end = std::min(table.find('\n'), table.size());
      out += table.substr(0, end);
      table.remove_prefix(std::min(end + 1, table.size()));
      if (line > 0 && line <= rows.size()) {
        const std::string drawn = bar(tokens_of(rows[line - 1]), most, kBarColumns);
        out += drawn.empty()
                   ? ""
                   : cat("  ", is_coloured ? kBarColour : "", drawn, is_coloured ? kNoColour : "");
      }
      out += '\n';
    }
    return out;
  }

  std::optional<std::string> by_;
  std::optional<std::string> since_;
  std::optional<std::string> until_;
  bool all_sources_ = false;
  std::vector<FoundHistory> histories_;
  std::vector<StatisticsSource> sources_;
};

}  // namespace

std::unique_ptr<Command> make_stats() {
  return std::make_unique<Stats>();
}

}  // namespace reprise::cli
