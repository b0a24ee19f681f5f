// reprise list: the newest sessions first.

#include <algorithm>

#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/output/age.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/program/commands.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "cli/program/last_list.h"
#include "cli/settings/settings.h"
#include "reprise/open_store.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kPrefixMin = 8;
constexpr std::string_view kInterrupted = "interrupted";

// How much of an id tells the shown ones apart.
std::size_t prefix_length(const std::vector<SessionInfo>& sessions) {
  std::vector<std::string_view> ids;
  ids.reserve(sessions.size());
  for (const SessionInfo& info : sessions) {
    ids.push_back(info.id.str());
  }
  std::ranges::sort(ids);
  std::size_t length = kPrefixMin;
  for (std::size_t i = 1; i < ids.size(); ++i) {
    const auto ends = std::ranges::mismatch(ids[i - 1], ids[i]);
    length = std::max(length, static_cast<std::size_t>(ends.in1 - ids[i - 1].begin()) + 1);
  }
  return length;
}

class List final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"-a,--all", "", "sessions of all folders", &all_},
                        {"--mode", "NAME", "only those of a mode", &mode_},
                        {"--state",
                         "STATE",
                         "only those in a state",
                         &state_,
                         {"active", "interrupted", "closed", "archived", "trashed"}},
                        {"-n,--limit",
                         "N",
                         "how many to show (50)",
                         &limit_,
                         {},
                         false,
                         {},
                         {.min = 1, .max = kPageMax}},
                        {"--after", "CURSOR", "the page after another one", &after_}},
            .arguments = {}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(const SessionPage page, find_page(context));
    REPRISE_TRY(remember(context, page));
    if (context.globals().json) {
      context.voice().print_json(document(page));
    } else if (page.sessions.empty()) {
      context.voice().remark(all_ ? "no sessions" : "no sessions of this folder; --all shows all");
    } else {
      print(context, page);
    }
    for (const Damage& part : page.damage) {
      context.voice().warn(cat("cannot read ", part.where, ": ", part.reason));
    }
    if (!page.next.empty()) {
      context.voice().remark(cat("more with --after ", page.next));
    }
    return Exit::done;
  }

 private:
  SessionQuery query(Context& context, Source& source) const {
    SessionQuery query;
    if (!all_ && source.capabilities().many_folders) {
      query.working_dir = context.config().project();
    }
    query.mode = mode_;
    if (state_) {
      query.states = {parse_session_state(*state_).value_or(SessionState::active)};
      query.answering_only = *state_ == kInterrupted;
    }
    query.after = after_.value_or("");
    query.limit = static_cast<std::size_t>(limit_.value_or(50));
    return query;
  }

  Result<SessionPage> find_page(Context& context) const {
    const auto source = context.stores().source();
    if (!source && source.error().code == Code::not_found) {
      return SessionPage{};
    }
    if (!source) {
      return std::unexpected(source.error());
    }
    REPRISE_ASSIGN(SessionPage page, (*source)->list(query(context, **source)));
    if (state_ == kInterrupted) {
      std::erase_if(page.sessions, [](const SessionInfo& info) { return !is_interrupted(info); });
    }
    return page;
  }

  static Result<> remember(Context& context, const SessionPage& page) {
    REPRISE_ASSIGN(const Settings* settings, context.config().settings());
    std::vector<SessionId> ids;
    ids.reserve(page.sessions.size());
    for (const SessionInfo& info : page.sessions) {
      ids.push_back(info.id);
    }
    const auto saved =
        save_last_list(context.config().state_folder(), context.config().store_url(*settings), ids);
    if (!saved) {
      context.voice().note(cat("numbers will not name these sessions: ", saved.error().message));
    }
    return {};
  }

  static std::string document(const SessionPage& page) {
    std::string out;
    json::ArrayWriter array(out);
    for (std::size_t i = 0; i < page.sessions.size(); ++i) {
      array.item();
      json::ObjectWriter object(out);
      append_info(object, page.sessions[i]);
      if (i + 1 == page.sessions.size() && !page.next.empty()) {
        object.field("next", page.next);
      }
      object.close();
    }
    array.close();
    return out;
  }

  void print(Context& context, const SessionPage& page) const {
    std::vector<Column> columns = {
        {.heading = "#", .align = Align::right},        {.heading = "id"},
        {.heading = "title", .flexible = true},         {.heading = "state"},
        {.heading = "messages", .align = Align::right}, {.heading = "age"}};
    if (all_) {
      columns.push_back({.heading = "folder", .optional = true});
    }
    const std::size_t prefix = prefix_length(page.sessions);
    const Time now = context.clock().now();
    std::vector<std::vector<std::string>> rows;
    for (const SessionInfo& info : page.sessions) {
      const std::string title = terminal_line(info.title);
      rows.push_back({std::to_string(rows.size() + 1), info.id.str().substr(0, prefix),
                      info.mode.empty() ? title : cat("[", terminal_line(info.mode), "] ", title),
                      cat(state_text(info), info.pinned ? ", pinned" : ""),
                      std::to_string(info.head.value), age_text(info.updated_at, now)});
      if (all_) {
        rows.back().push_back(terminal_line(context.config().short_path(info.working_dir)));
      }
    }
    const bool terminal = context.voice().out().is_terminal();
    const auto width = static_cast<std::size_t>(context.voice().out().columns());
    context.voice().out().write(
        format_table(columns, rows, terminal ? width : std::numeric_limits<std::size_t>::max()));
  }

  bool all_ = false;
  std::optional<std::string> mode_;
  std::optional<std::string> state_;
  std::optional<std::string> after_;
  std::optional<std::int64_t> limit_;
};

}  // namespace

std::unique_ptr<Command> make_list() {
  return std::make_unique<List>();
}

}  // namespace reprise::cli
