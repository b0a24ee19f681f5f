// reprise move: gives sessions another folder, after a project was moved or renamed.

#include <filesystem>
#include <system_error>

#include "base/terminal_text.h"
#include "base/utf8.h"
#include "cli/commands/command.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

// What follows the folder in the path of it or of one below it: "", or a path that begins with '/'.
// nullopt for other paths.
std::optional<std::string_view> path_below(std::string_view path, std::string_view folder) {
  const std::string_view above = folder == "/" ? "" : folder;
  if (!path.starts_with(above) || (path.size() > above.size() && path[above.size()] != '/')) {
    return std::nullopt;
  }
  return path == "/" ? "" : path.substr(above.size());
}

// As a path that may not exist any more is written in sessions.
std::string written(const fs::path& path) {
  std::string text = utf8::sanitize(path.lexically_normal().native());
  while (text.size() > 1 && text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

class Move final : public Command {
 public:
  ArgumentTable arguments() override {
    return {
        .options = {{"--from", "OLD",
                     "move all sessions of this folder and of those below it, which may be gone",
                     &from_}},
        .arguments = {{.name = "SEL",
                       .help =
                           "numbers from the last list, ids or titles; then the folder to which "
                           "these sessions belong from now on",
                       .target = &words_,
                       .required = true,
                       .last = "FOLDER"}}};
  }

  Result<Exit> run(Context& context) override {
    const std::string named = words_.back();
    words_.pop_back();
    if (from_.has_value() == !words_.empty()) {
      return context.console().usage_error(from_ ? "--from and SEL cannot be used together"
                                                 : "name a session and the folder to move it to, "
                                                   "or use --from");
    }
    std::error_code missing;
    const fs::path folder = fs::canonical(context.config().path_named(named), missing);
    if (missing || !fs::is_directory(folder, missing)) {
      return fail(Code::not_found, cat("there is no folder ", terminal_line(named)));
    }
    REPRISE_ASSIGN(Store* const store, context.stores().open_existing());
    if (!store->capabilities().folders) {
      return fail(Code::unsupported, "the sessions of this store have no folder");
    }
    const std::string to = utf8::sanitize(folder.native());
    return from_ ? move_all(context, *store, *from_, to) : move_named(context, *store, to);
  }

 private:
  Result<Exit> move_named(Context& context, Store& store, const std::string& to) const {
    const auto move = [&](const SessionInfo& info) -> Result<> {
      REPRISE_TRY(store.update(info.id, {.working_dir = to}));
      context.console().notice(cat("moved ", session_name(store, info), " to ", terminal_line(to)));
      return {};
    };
    return change_sessions(context, store, words_, {"move", move, Use::change});
  }

  // The archived ones, too; what is in the trash does not change.
  Result<Exit> move_all(Context& context, Store& store, const std::string& from,
                        const std::string& to) const {
    const fs::path old = context.config().path_named(from);
    std::error_code missing;
    const fs::path present = fs::canonical(old, missing);
    const std::vector<std::string> froms = {written(old), written(missing ? old : present)};
    REPRISE_ASSIGN(const FoundSessions all,
                   find_all_sessions(store, {.states = {SessionState::active, SessionState::closed,
                                                        SessionState::archived}}));
    warn_of_damage(context, all.damage);
    std::vector<SessionInfo> moved;
    bool is_complete = all.damage.empty();
    for (const SessionInfo& info : all.sessions) {
      auto rest = path_below(info.working_dir, froms.front());
      rest = rest ? rest : path_below(info.working_dir, froms.back());
      if (!rest) {
        continue;
      }
      REPRISE_ASSIGN(const bool answers, check_answering(context, store, info));
      if (answers) {
        context.console().warn(
            cat(session_name(store, info), " is not moved: an answer is running"));
        is_complete = false;
        continue;
      }
      const std::string below = to == "/" && !rest->empty() ? "" : to;
      REPRISE_TRY(store.update(info.id, {.working_dir = cat(below, *rest)}));
      moved.push_back(info);
    }
    if (moved.empty() && is_complete) {
      return fail(Code::not_found, cat("no session belongs to ", terminal_line(froms.front()),
                                       " or a folder below it"));
    }
    context.console().notice(cat("moved ", counted(std::ssize(moved), "session"), " from ",
                                 terminal_line(froms.front()), " to ", terminal_line(to)));
    REPRISE_ASSIGN(const Exit shown, show_sessions(context, store, moved));
    return is_complete ? shown : Exit::failed;
  }

  std::optional<std::string> from_;
  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> make_move() {
  return std::make_unique<Move>();
}

}  // namespace reprise::cli
