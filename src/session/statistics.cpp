#include "session/statistics.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <stop_token>
#include <unordered_map>

#include "base/text.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "reprise/session.h"
#include "reprise/sessions.h"
#include "reprise/source.h"
#include "session/import.h"
#include "session/prices.h"
#include "store/usage_sum.h"

namespace reprise {
namespace {

std::vector<SessionState> counted_states() {
  return {SessionState::active, SessionState::closed, SessionState::archived};
}

class StatisticsCollector {
 public:
  StatisticsCollector(const StatisticsQuery& query, const Prices& prices, std::stop_token stop)
      : query_(query), prices_(prices), stop_(std::move(stop)) {}

  Result<> add(const StatisticsSource& source, const ProgressSink& progress) {
    source_ = &source;
    session_ids_ = {};
    shared_messages_ = {};
    forks_.clear();
    sessions_ = 0;
    Result<> added = collect_sessions();
    added = added ? add_sessions(progress) : added;
    if (!added && is_history() && added.error().code != Code::cancelled) {
      add_damage({{source.name, std::move(added.error().message), ""}});
      added = {};
    }
    return added;
  }

  Statistics finish() {
    for (auto& [key, row] : rows_) {
      statistics_.rows.push_back(std::move(row));
    }
    if (query_.by != StatisticsGrouping::day) {
      std::ranges::stable_sort(statistics_.rows, std::greater{}, [](const StatisticsRow& row) {
        return (row.usage.input + row.usage.output).value;
      });
    }
    return std::move(statistics_);
  }

 private:
  // Collects all session ids, and where forks start.
  Result<> collect_sessions() {
    return for_each_page([this](const std::vector<SessionInfo>& sessions) -> Result<> {
      for (const SessionInfo& info : sessions) {
        session_ids_.insert(info.id.str());
        ++sessions_;
        if (info.forked_from) {
          forks_.emplace(info.id.str(), *info.forked_from);
        }
      }
      return {};
    });
  }

  Result<> add_sessions(const ProgressSink& progress) {
    std::int64_t done = 0;
    return for_each_page([&](const std::vector<SessionInfo>& sessions) -> Result<> {
      constexpr std::size_t kTogether = 64;
      for (std::size_t at = 0; at < sessions.size(); at += kTogether) {
        const auto batch =
            std::span(sessions).subspan(at, std::min(kTogether, sessions.size() - at));
        REPRISE_TRY(read_short(batch));
        for (const SessionInfo& info : batch) {
          if (progress) {
            progress({.work = "reading", .done = done++, .total = sessions_});
          }
          if (!is_too_old(info)) {
            REPRISE_TRY(add_session(info));
            REPRISE_TRY(is_history() ? add_branches(info.id) : Result<>());
          }
        }
      }
      return {};
    });
  }

  // Adds what is in the session's files besides it: abandoned branches, whose requests were made,
  // too, and sub-agents. What they share with the session is not counted again.
  Result<> add_branches(const SessionId& id) {
    REPRISE_ASSIGN(const FoundSessions found, find_branches(*source_->source, id));
    add_damage(found.damage);
    std::vector<const SessionInfo*> added;
    for (const SessionInfo& info : found.sessions) {
      if (session_ids_.insert(info.id.str())) {
        added.push_back(&info);
        if (info.forked_from) {
          forks_.emplace(info.id.str(), *info.forked_from);
        }
      }
    }
    for (const SessionInfo* const info : added) {
      REPRISE_TRY(add_session(*info));
    }
    return {};
  }

  bool is_too_old(const SessionInfo& info) const {
    return query_.since && is_known(info.updated_at) && info.updated_at < *query_.since;
  }

  // Reads the short ones of the sessions together, if the source can.
  Result<> read_short(std::span<const SessionInfo> sessions) {
    short_sessions_.clear();
    ShortSessionReader* const reader = source_->source->capabilities().short_session_reader;
    if (reader == nullptr) {
      return {};
    }
    std::vector<SessionId> ids;
    for (const SessionInfo& info : sessions) {
      if (!is_too_old(info)) {
        ids.push_back(info.id);
      }
    }
    REPRISE_ASSIGN(auto read, reader->short_sessions(ids));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (auto& messages = read[i]; messages) {
        short_sessions_.emplace(ids[i], *std::move(messages));
      }
    }
    return {};
  }

  template <class Visit>
  Result<> for_each_page(const Visit& visit) {
    SessionQuery query;
    query.states = counted_states();
    query.ungrouped = true;
    query.children = is_history();
    query.limit = largest_page(*source_->source);
    do {
      REPRISE_ASSIGN(const SessionPage page, source_->source->list(query));
      if (stop_.stop_requested()) {
        return fail(Code::cancelled, "stopped");
      }
      REPRISE_TRY(visit(page.sessions));
      add_damage(page.damage);
      query.after = page.next;
    } while (!query.after.empty());
    return {};
  }

  // The list is read twice; its damage is reported once.
  void add_damage(const std::vector<Damage>& damage) {
    for (const Damage& part : damage) {
      if (std::ranges::find(statistics_.damage, part) == statistics_.damage.end()) {
        statistics_.damage.push_back(part);
      }
    }
  }

  // Determines where the session came from, and whether an imported copy of it was counted before.
  Result<> find_origin(const SessionInfo& info) {
    const std::string& name = source_->name;
    origin_ = name;
    extra_usage_.reset();
    if (is_imported_id(info.id)) {
      REPRISE_ASSIGN(const std::optional<Session> session, source_->source->find(info.id));
      const auto origin = session ? origin_of(*session) : std::nullopt;
      origin_ = origin ? cat(origin->tool, ":") : name;
      extra_usage_ = origin ? origin->usage : std::nullopt;
      imported_ids_.insert(info.id.str());
    }
    const std::string_view tool = std::string_view(name).substr(0, name.find(':'));
    has_imported_copy_ =
        std::ranges::any_of(std::array{UuidVersion::v4, UuidVersion::v7}, [&](UuidVersion new_ids) {
          const auto copy = imported_id(tool, info.id.str(), new_ids);
          return copy && imported_ids_.contains(copy->str());
        });
    return {};
  }

  Result<> add_session(const SessionInfo& info) {
    session_keys_.clear();
    session_usage_ = {};
    counted_.clear();
    REPRISE_TRY(find_origin(info));
    Result<> stopped;
    const auto report = read(info.id, [&](const Message& message) {
      if (stop_.stop_requested()) {
        stopped = fail(Code::cancelled, "stopped");
        return Flow::stop;
      }
      add_message(info, message);
      if (is_history()) {
        store::count_usage(session_usage_, counted_, message);
      }
      return Flow::proceed;
    });
    REPRISE_TRY(stopped);
    if (!report) {  // it may have been purged after it was listed
      return report.error().code == Code::not_found ? Result<>() : std::unexpected(report.error());
    }
    REPRISE_TRY(add_extra_usage(info));
    add_damage(report->damage);
    statistics_.total.sessions += session_keys_.empty() ? 0 : 1;
    return {};
  }

  Result<ReadReport> read(const SessionId& id, const MessageSink& sink) {
    const auto known = short_sessions_.find(id);
    if (known == short_sessions_.end()) {
      return source_->source->read(id, {}, sink);
    }
    for (Message& message : known->second) {
      if (sink(std::move(message)) == Flow::stop) {
        break;
      }
    }
    return ReadReport();
  }

  // Whether the source is another tool's history.
  bool is_history() const { return source_->name.ends_with(':'); }

  // Some tools store tokens and cost for a session, not for its messages: these count as one
  // request.
  Result<> add_extra_usage(const SessionInfo& info) {
    if (is_history()) {
      REPRISE_ASSIGN(const std::optional<Session> session, source_->source->find(info.id));
      extra_usage_ = session ? store::usage_beyond(session->usage, session_usage_) : std::nullopt;
    }
    if (extra_usage_) {
      const std::string_view tool(source_->name);
      if (is_history()) {
        extra_usage_->request_id =
            request_id_of_session(tool.substr(0, tool.size() - 1), info.id.str());
      }
      add_message(info, {.seq = info.head,
                         .role = std::string(role::kAssistant),
                         .created_at = info.updated_at,
                         .usage = extra_usage_});
    }
    return {};
  }

  // Whether a message shared by forks is counted with another session.
  bool is_counted_elsewhere(const SessionInfo& info, Seq seq) {
    auto fork = forks_.find(info.id.str());
    if (fork == forks_.end() || seq >= fork->second.at) {
      return false;
    }
    std::string origin;
    for (std::size_t steps = 0; fork != forks_.end() && seq < fork->second.at; ++steps) {
      origin = fork->second.session.str();
      if (steps > forks_.size()) {
        break;  // a cycle, made by hand
      }
      fork = forks_.find(origin);
    }
    return session_ids_.contains(origin) || !shared_messages_.insert(cat(origin, "#", seq.value));
  }

  // Other tools fork by copying lines, without a reference to the origin.
  bool is_copied_turn(const Message& message) {
    return origin_.ends_with(':') && is_known(message.created_at) &&
           !turns_.insert(cat(format_time(message.created_at), "#", plain_text(message)));
  }

  void add_message(const SessionInfo& info, const Message& message) {
    const Time time = is_known(message.created_at) ? message.created_at : info.updated_at;
    if ((query_.since && time < *query_.since) || (query_.until && time >= *query_.until) ||
        is_counted_elsewhere(info, message.seq)) {
      return;
    }
    const bool is_turn = is_question(message) && !has_imported_copy_ && !is_copied_turn(message);
    bool has_usage = message.usage.has_value();
    if (has_usage && !message.usage->request_id.empty()) {
      has_usage = requests_.insert(message.usage->request_id);
    }
    if (!is_turn && !has_usage) {
      return;
    }
    const std::string key = key_of(info, message, time);
    StatisticsRow& row = rows_[key];
    row.key = key;
    row.sessions += session_keys_.insert(key).second ? 1 : 0;
    for (StatisticsRow* const sum : {&row, &statistics_.total}) {
      sum->turns += is_turn ? 1 : 0;
      if (has_usage) {
        add_request(*sum, message);
      }
    }
  }

  void add_request(StatisticsRow& row, const Message& message) {
    Usage usage = message.usage.value_or(Usage{});
    if (!usage.cost) {
      usage.cost = prices_.cost(usage, message.model);
      usage.price_source = usage.cost ? "prices" : "";
    }
    if (!usage.cost) {
      ++row.unpriced;
      if (!message.model.empty()) {
        statistics_.unpriced_models.insert(message.model);
      }
    }
    ++row.requests;
    store::add_usage(row.usage, usage);
  }

  std::string key_of(const SessionInfo& info, const Message& message, Time time) const {
    switch (query_.by) {
      case StatisticsGrouping::day:
        return is_known(time) ? query_.day_of(time) : "";
      case StatisticsGrouping::model:
        // A question is attributed to the model that answers.
        return message.model.empty() ? info.model : message.model;
      case StatisticsGrouping::project:
        return info.working_dir;
      case StatisticsGrouping::mode:
        return info.mode;
      case StatisticsGrouping::provider:
        return message.provider.empty() ? info.provider : message.provider;
      case StatisticsGrouping::source:
        return origin_;
    }
    return "";
  }

  const StatisticsSource* source_ = nullptr;
  const StatisticsQuery& query_;
  const Prices& prices_;
  std::stop_token stop_;
  Statistics statistics_;
  std::map<std::string, StatisticsRow> rows_;
  std::set<std::string> session_keys_;  // keys of rows, for the current session
  HashSet session_ids_;                 // sessions
  HashSet requests_;
  HashSet turns_;                     // of other tools
  HashSet imported_ids_;              // sessions of other tools that are in the store
  std::string origin_;                // of the current session
  std::optional<Usage> extra_usage_;  // of the current session, beyond its messages
  Usage session_usage_;               // of the current session's messages
  store::CountedRequests counted_;
  bool has_imported_copy_ = false;  // whether its turns were counted before
  HashSet shared_messages_;         // messages that forks share with deleted sessions
  std::unordered_map<std::string, ForkOrigin> forks_;
  std::map<SessionId, std::vector<Message>> short_sessions_;  // that were read together
  std::int64_t sessions_ = 0;
};

}  // namespace

Result<Statistics> compute_statistics(std::span<const StatisticsSource> sources,
                                      const StatisticsQuery& query, const Prices& prices,
                                      const std::stop_token& stop, const ProgressSink& progress) {
  StatisticsCollector collector(query, prices, stop);
  for (const StatisticsSource& source : sources) {
    REPRISE_TRY(collector.add(source, progress));
  }
  return collector.finish();
}

}  // namespace reprise
