// reprise close, archive, restore: marks sessions as closed, packs them, and restores them from the
// archive or the trash.

#include <limits>
#include <utility>

#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/output/table.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"
#include "cli/settings/time_value.h"
#include "session/import.h"

namespace reprise::cli {
namespace {

class Close final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"SEL", kSessionsHelp, &sels_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(
        const Exit exit,
        change_sessions(
            context, *store, sels_,
            {"close", [&](const SessionInfo& info) { return close(context, *store, info); },
             Use::change}));
    return is_unsaved_ ? Exit::failed : exit;
  }

 private:
  Result<> close(Context& context, Store& store, const SessionInfo& info) {
    if (info.state == SessionState::closed) {
      context.console().notice(cat(session_name(store, info), " is already closed"));
      return {};
    }
    const auto saved = store.update(info.id, {.state = SessionState::closed,
                                              .closed_at = std::optional(context.clock().now())});
    if (!saved && saved.error().code == Code::io) {
      context.console().warn(
          cat(session_name(store, info),
              " stays open because it could not be saved: ", saved.error().message));
      is_unsaved_ = true;
      return {};
    }
    REPRISE_TRY(saved);
    context.console().notice(cat("closed ", session_name(store, info)));
    return {};
  }

  std::vector<std::string> sels_;
  bool is_unsaved_ = false;
};

class Archive final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"SEL", kSessionsHelp, &sels_, true}}};
  }

  Result<Exit> run(Context& context) override {
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    REPRISE_ASSIGN(Archives* const archives, offered(store->capabilities().archives,
                                                     "archive sessions; `reprise close` marks one "
                                                     "as done"));
    const auto archive = [&](const SessionInfo& info) -> Result<> {
      REPRISE_TRY(archives->archive(info.id, context.clock().now()));
      context.console().notice(cat("archived ", session_name(*store, info)));
      return {};
    };
    return change_sessions(context, *store, sels_, {"archive", archive, Use::archive});
  }

 private:
  std::vector<std::string> sels_;
};

class Restore final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {{"--all", "", "restore everything in the trash, from all folders", &all_},
                        {"--replaced",
                         "N",
                         "list what retries and rewinds took from a session, and bring the last "
                         "(or the Nth) part back as a fork",
                         &replaced_,
                         {},
                         true},
                        {"--dry-run", "", "with --replaced, only list", &dry_run_}},
            .arguments = {{"SEL", "sessions in the trash or the archive", &sels_}}};
  }

  Result<Exit> run(Context& context) override {
    if (replaced_) {
      return run_replaced(context);
    }
    if (dry_run_) {
      return context.console().usage_error("--dry-run needs --replaced");
    }
    if (all_ == !sels_.empty()) {
      return context.console().usage_error(all_ ? "--all and SEL cannot be used together"
                                                : "name a session, or use --all");
    }
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    FoundSessions found;
    if (all_) {
      REPRISE_ASSIGN(found, find_all_sessions(*store, {.states = {SessionState::trashed}}));
    } else {
      REPRISE_ASSIGN(found.sessions,
                     context.stores().select_all(*store, sels_, Use::change,
                                                 {SessionState::trashed, SessionState::archived}));
    }
    warn_of_damage(context, found.damage);
    bool is_complete = found.damage.empty();
    std::int64_t done = 0;
    std::vector<SessionInfo> restored;
    for (const SessionInfo& info : found.sessions) {
      context.console().progress({"restoring", done++, std::ssize(found.sessions)});
      const auto result = restore(*store, info);
      if (all_ && !result && result.error().code == Code::conflict) {
        context.console().warn(result.error().message);  // the others are not affected
        is_complete = false;
        continue;
      }
      REPRISE_TRY(result);
      REPRISE_TRY(report_restored(context, *store, info));
      restored.push_back(info);
    }
    context.console().end_progress();
    if (found.sessions.empty()) {
      context.console().notice("the trash is empty");
    }
    const bool is_single = sels_.size() == 1;
    REPRISE_TRY(is_single ? show_session(context, *store, found.sessions.front().id)
                          : show_sessions(context, *store, restored));
    return is_complete ? Exit::success : Exit::failed;
  }

 private:
  static Result<> restore(Store& store, const SessionInfo& info) {
    if (info.state == SessionState::archived && store.capabilities().archives != nullptr) {
      return restore_archived(store, info.id);
    }
    REPRISE_ASSIGN(Trash* const trash, offered(store.capabilities().trash, "restore sessions"));
    return trash->restore(info.id);
  }

  // A session that was archived when it was deleted is archived again.
  static Result<> report_restored(Context& context, Store& store, const SessionInfo& info) {
    REPRISE_ASSIGN(const std::optional<Session> session, store.find(info.id));
    const bool is_archived = session && session->info.state == SessionState::archived;
    const std::string name = session_name(store, info);
    context.console().notice(is_archived
                                 ? cat("moved ", name, " from the trash back to the archive; `",
                                       context.config().program(), " restore ", short_id(info.id),
                                       "` takes it out of the archive, too")
                                 : cat("restored ", name));
    return {};
  }

  // `restore --replaced SEL` is understood, too.
  Result<Exit> run_replaced(Context& context) {
    std::string which = replaced_.value_or("");
    if (sels_.empty() && !which.empty()) {
      sels_.push_back(std::exchange(which, ""));
    }
    if (all_ || sels_.size() != 1) {
      return context.console().usage_error("--replaced needs one session");
    }
    const auto number =
        which.empty() ? std::size_t{1} : parse_number<std::size_t>(which).value_or(0);
    if (number == 0) {
      return context.console().usage_error(
          cat("--replaced takes a number from its list, from 1 on, not '", which, "'"));
    }
    REPRISE_ASSIGN(Store* const store, dry_run_ ? context.stores().open(Access::read)
                                                : context.stores().open_existing());
    REPRISE_ASSIGN(
        const SessionInfo info,
        context.stores().select(*store, sels_.front(), dry_run_ ? Use::read : Use::change));
    REPRISE_ASSIGN(const ReplacedParts found, list_replaced(*store, info.id));
    if (!context.globals().json) {
      print_replaced(context, found.parts);
    }
    warn_of_damage(context, found.damage);
    std::optional<SessionId> fork;
    if (!dry_run_) {
      REPRISE_ASSIGN(fork, restore_replaced(*store, info.id, number - 1, context.clock()));
      REPRISE_ASSIGN(const Session created, get(*store, *fork));
      context.console().notice(
          cat("brought part ", number, " back in ", session_name(*store, created.info)));
    }
    if (context.globals().json) {
      REPRISE_TRY(print_replaced_json(context, *store, found.parts, fork));
    }
    return found.damage.empty() ? Exit::success : Exit::failed;
  }

  static void print_replaced(Context& context, const std::vector<ReplacedPart>& parts) {
    constexpr std::size_t kTextShown = 60;
    std::vector<std::vector<std::string>> rows;
    for (const ReplacedPart& part : parts) {
      rows.push_back({cat(rows.size() + 1), age_text(part.time, context.clock().now()),
                      cat(part.messages), terminal_line(excerpt(part.text, kTextShown))});
    }
    if (!rows.empty()) {
      context.console().out().write(
          format_table({{.heading = "#", .align = Alignment::right},
                        {.heading = "age"},
                        {.heading = "messages", .align = Alignment::right},
                        {.heading = "text"}},
                       rows, std::numeric_limits<std::size_t>::max()));
    }
  }

  static Result<> print_replaced_json(Context& context, Store& store,
                                      const std::vector<ReplacedPart>& parts,
                                      const std::optional<SessionId>& fork) {
    std::string list = "[";
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const ReplacedPart& part = parts[i];
      list += i == 0 ? "" : ",";
      json::ObjectWriter object(list);
      object.field("number", static_cast<std::int64_t>(i + 1))
          .field("seq", part.from.value)
          .field("messages", part.messages)
          .field("time", format_time(part.time))
          .field("text", part.text)
          .close();
    }
    std::string restored = "null";
    if (fork) {
      REPRISE_ASSIGN(const Session created, get(store, *fork));
      restored.clear();
      json::ObjectWriter object(restored);
      append_info(object, created.info, brief_id(store, created.info.id));
      object.close();
    }
    std::string out;
    json::ObjectWriter document(out);
    document.raw("replaced", cat(list, "]")).raw("restored", restored).close();
    context.console().print_json(out);
    return {};
  }

  std::vector<std::string> sels_;
  std::optional<std::string> replaced_;
  bool all_ = false;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_close() {
  return std::make_unique<Close>();
}

std::unique_ptr<Command> make_archive() {
  return std::make_unique<Archive>();
}

std::unique_ptr<Command> make_restore() {
  return std::make_unique<Restore>();
}

}  // namespace reprise::cli
