// The commands /session and /cost.

#include "base/terminal_text.h"
#include "base/text.h"
#include "choice/settings.h"
#include "cli/output/session_json.h"
#include "cli/output/session_text.h"
#include "cli/output/table.h"
#include "cli/repl/chat_session.h"
#include "cli/session/start_session.h"
#include "cli/settings/program_config.h"
#include "model/known_time.h"
#include "store/usage_sum.h"

namespace reprise::cli {

std::string ChatSession::brief_id() {
  const SessionId id = current_session().info.id;
  return store() == nullptr ? short_id(id) : cli::brief_id(*store(), id);
}

std::string ChatSession::name() {
  const SessionInfo info = current_session().info;
  if (store() != nullptr) {
    return session_name(*store(), info);
  }
  return info.title.empty() ? "new session" : cat("'", info.title, "'");
}

Result<std::string> ChatSession::describe() {
  const Session session = current_session();
  const SessionInfo& info = session.info;
  const auto line = [](std::string_view name, std::string_view value) {
    return value.empty() ? "" : cat(name, terminal_line(value), "\n");
  };
  REPRISE_ASSIGN(const Settings* settings, context_.config().settings());
  const std::string url =
      started_->store == nullptr ? "not saved" : context_.config().store_url(*settings);
  return cat(
      line("id        ", info.id.str()), line("short id  ", brief_id()),
      line("title     ", info.title), line("mode      ", info.mode),
      line("provider  ", provider_name()), line("model     ", model()),
      line("folder    ", info.working_dir), line("store     ", url),
      line("messages  ", std::to_string(info.head.value)),
      line("tokens    ",
           cat(session.usage.input.value, " in, ", session.usage.output.value, " out")),
      line("started   ", is_known(info.created_at) ? format_time(info.created_at) : "unknown"));
}

Result<std::string> ChatSession::cost() {
  REPRISE_ASSIGN(Store* const store, saved_store("show its cost"));
  std::map<std::string, std::pair<int, Usage>> models;
  std::size_t turns = 0;
  REPRISE_TRY(read_turns(*store, id(), [&](const TurnSummary& turn) {
    ++turns;
    auto& [count, usage] = models[terminal_line(turn.model)];
    ++count;
    store::add_usage(usage, turn.usage);
  }));
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](std::string name, std::size_t count, const Usage& usage) {
    rows.push_back({std::move(name), std::to_string(count), std::to_string(usage.input.value),
                    std::to_string(usage.output.value), std::to_string(usage.cached.value),
                    cost_text(usage)});
  };
  for (const auto& [name, used] : models) {
    add(name, static_cast<std::size_t>(used.first), used.second);
  }
  add("total", turns, current_session().usage);
  return format_table({{.heading = "model"},
                       {.heading = "turns", .align = Alignment::right},
                       {.heading = "in", .align = Alignment::right},
                       {.heading = "out", .align = Alignment::right},
                       {.heading = "cached", .align = Alignment::right},
                       {.heading = "cost", .align = Alignment::right}},
                      rows, 78);
}

}  // namespace reprise::cli
