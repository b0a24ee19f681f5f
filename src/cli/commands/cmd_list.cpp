// reprise list: sessions, newest first.

#include <algorithm>
#include <iterator>

#include "base/command_line.h"
#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/program/search_files.h"
#include "cli/program/store_opener.h"
#include "cli/settings/time_value.h"
#include "reprise/sessions.h"
#include "session/import.h"
#include "store/query.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kScannedMax = 10'000;  // searching for incomplete answers
constexpr std::size_t kTitleColumnsMax = 120;
constexpr std::string_view kInterrupted = "interrupted";

class List final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"-a,--all", "", "sessions of all folders", &all_},
                    {"--branches", "", "include abandoned branches and sub-agents of other tools",
                     &branches_},
                    {"--from", "TOOL", "only sessions imported from a tool", &from_},
                    {"--gone", "",
                     "only imported sessions that the tool has removed, or parts of them", &gone_},
                    {"--grep", "TEXT", "only sessions with this text in the title", &grep_},
                    {"--mode", "NAME", "only sessions in this mode", &mode_},
                    {"--author", "NAME", "only sessions with a question by this person", &author_},
                    {"--state",
                     "STATE",
                     "only active, interrupted, closed, archived or trashed sessions",
                     &state_,
                     {"active", "interrupted", "closed", "archived", "trashed"}},
                    {"-n,--limit",
                     "N",
                     "show at most N sessions (default: 50)",
                     &limit_,
                     {},
                     false,
                     {},
                     {.min = 1, .max = kPageMax}},
                    {"--after", "CURSOR", "continue a list after this cursor", &after_}},
        .arguments = {}};
  }

  Result<Exit> run(Context& context) override {
    auto query = make_query();
    if (!query) {
      return refuse_value(context, std::move(query).error());
    }
    REPRISE_ASSIGN(const SessionPage page, find_page(context, *std::move(query)));
    REPRISE_TRY(context.stores().remember_numbers(page.sessions));
    if (context.globals().json) {
      context.console().print_json(document(page));
    } else if (page.sessions.empty()) {
      const bool is_filtered = from_ || gone_ || grep_ || mode_ || author_ || state_ || after_;
      context.console().notice(
          cat("no ", is_filtered ? "matching " : "", "sessions",
              all_ ? "" : " in this folder; --all lists the sessions of all folders"));
    } else {
      print(context, page);
    }
    warn_of_damage(context, page.damage);
    if (!page.next.empty()) {
      context.console().notice(cat("more follow: add --after ", shell_word(page.next)));
    }
    return page.damage.empty() ? Exit::success : Exit::failed;
  }

 private:
  Result<SessionQuery> make_query() const {
    SessionQuery query;
    if (from_) {
      REPRISE_TRY(parse_tool(*from_));
    }
    if (author_) {
      REPRISE_ASSIGN(query.author, parse_author(*author_, "--author"));
    }
    if (after_ && !store::parse_cursor(*after_)) {
      return fail(Code::invalid_argument, bad_cursor(*after_));
    }
    query.mode = mode_;
    if (state_) {
      query.states = {parse_session_state(*state_).value_or(SessionState::active)};
    }
    query.branches = branches_;
    query.title_contains = grep_.value_or("");
    query.after = after_.value_or("");
    query.limit = static_cast<std::size_t>(limit_.value_or(50));
    return query;
  }

  Result<SessionPage> find_page(Context& context, SessionQuery query) const {
    std::optional<std::string> tool;
    if (from_) {
      REPRISE_ASSIGN(tool, parse_tool(*from_));
    }
    REPRISE_ASSIGN(Source* const source, context.stores().existing_source());
    if (source == nullptr) {
      return SessionPage{};
    }
    if (!all_ && source->capabilities().many_folders) {
      query.working_dir = context.config().project();
    }
    if (state_ == kInterrupted) {
      return find_interrupted(*source, query);
    }
    REPRISE_ASSIGN(SessionPage page, tool || gone_ ? find_imported(*source, tool, query)
                                                   : list_by_author(*source, query));
    mark_incomplete_answers(*source, page);
    return page;
  }

  // The origin is not indexed: finds imported sessions by id, then reads the origin of each.
  Result<SessionPage> find_imported(Source& source, const std::optional<std::string>& tool,
                                    SessionQuery query) const {
    const std::size_t limit = query.limit;
    SessionPage found;
    for (bool has_next = true; has_next && found.sessions.size() < limit;) {
      query.limit = kPageMax;
      REPRISE_ASSIGN(SessionPage page, list_by_author(source, query));
      for (SessionInfo& info : page.sessions) {
        query.after = store::format_cursor(info);
        if (!is_imported_id(info.id)) {
          continue;
        }
        REPRISE_ASSIGN(const std::optional<Session> session, source.find(info.id));
        const auto origin = session ? origin_of(*session) : std::nullopt;
        if (origin && origin->tool == tool.value_or(origin->tool) &&
            (!gone_ || origin->gone != Gone::nothing)) {
          found.sessions.push_back(std::move(info));
          if (found.sessions.size() == limit) {
            break;
          }
        }
      }
      std::ranges::move(page.damage, std::back_inserter(found.damage));
      has_next = !page.next.empty();
      found.next = has_next || found.sessions.size() == limit ? query.after : "";
    }
    return found;
  }

  // Sessions with a dead process are found by a query and are all on the first page. Other
  // incomplete answers are found by the ends of sessions, at most kScannedMax per page.
  static Result<SessionPage> find_interrupted(Source& source, SessionQuery query) {
    const std::size_t limit = query.limit;
    SessionPage found;
    if (query.after.empty()) {
      SessionQuery answering = query;
      answering.answering_only = true;
      answering.limit = kPageMax;
      REPRISE_ASSIGN(found, list_by_author(source, answering));
      std::erase_if(found.sessions, [](const SessionInfo& info) { return !is_interrupted(info); });
      found.next.clear();
    }
    std::size_t count = 0;
    for (std::size_t scanned = 0; count < limit && scanned < kScannedMax;) {
      query.limit = limit - count;
      REPRISE_ASSIGN(SessionPage page, list_by_author(source, query));
      mark_incomplete_answers(source, page);
      scanned += page.sessions.size();
      const std::size_t before = found.sessions.size();
      std::ranges::copy_if(page.sessions, std::back_inserter(found.sessions),
                           &SessionInfo::incomplete);
      count += found.sessions.size() - before;
      std::ranges::move(page.damage, std::back_inserter(found.damage));
      query.after = found.next = page.next;
      if (page.next.empty()) {
        break;
      }
    }
    std::ranges::stable_sort(found.sessions, [](const SessionInfo& a, const SessionInfo& b) {
      return a.pinned != b.pinned ? a.pinned : activity_of(a) > activity_of(b);
    });
    return found;
  }

  static std::string document(const SessionPage& page) {
    std::string out = infos_document(page.sessions);
    if (!page.sessions.empty() && !page.next.empty()) {  // a member of the last session
      std::string next = ",\"next\":";
      json::append_string(next, page.next);
      out.insert(out.rfind('}'), next);
    }
    return out;
  }

  void print(Context& context, const SessionPage& page) const {
    std::vector<Column> columns = {
        {.heading = "#", .align = Alignment::right},
        {.heading = "id"},
        {.heading = "title", .flexible = true, .width_max = kTitleColumnsMax},
        {.heading = "state"},
        {.heading = "messages", .align = Alignment::right},
        {.heading = "age"}};
    if (all_) {
      columns.push_back({.heading = "folder", .optional = true});
    }
    const std::vector<std::string> ids = short_ids_of(page.sessions);
    const Time now = context.clock().now();
    std::vector<std::vector<std::string>> rows;
    for (const SessionInfo& info : page.sessions) {
      const std::string title = terminal_line(info.title);
      rows.push_back({std::to_string(rows.size() + 1), ids[rows.size()],
                      info.mode.empty() ? title : cat("[", terminal_line(info.mode), "] ", title),
                      cat(state_text(info), info.pinned ? ", pinned" : ""),
                      cat(info.head.value, info.is_head_known ? "" : "+"),
                      age_text(info.updated_at, now)});
      if (all_) {
        rows.back().push_back(terminal_line(context.config().short_path(info.working_dir)));
      }
    }
    Output& out = context.console().out();
    out.write(format_table(columns, rows, out.text_columns()));
  }

  bool all_ = false;
  bool branches_ = false;
  bool gone_ = false;
  std::optional<std::string> from_;
  std::optional<std::string> grep_;
  std::optional<std::string> mode_;
  std::optional<std::string> author_;
  std::optional<std::string> state_;
  std::optional<std::string> after_;
  std::optional<std::int64_t> limit_;
};

}  // namespace

std::unique_ptr<Command> make_list() {
  return std::make_unique<List>();
}

}  // namespace reprise::cli
