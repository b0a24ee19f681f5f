#include "cli/repl/resumable.h"

#include <algorithm>
#include <functional>

#include "base/place.h"
#include "base/text.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/session/removal.h"
#include "cli/session/start_session.h"
#include "cli/settings/time_value.h"
#include "reprise/sessions.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kResumableShown = 20;
constexpr std::size_t kPrefixMin = 4;  // of an id

Time left_at(const SessionInfo& info) {
  return info.closed_at.value_or(info.updated_at);
}

bool is_answering_now(const SessionInfo& info) {
  return info.answering && state_of(*info.answering) == OwnerState::alive;
}

bool has(const std::vector<SessionId>& ids, const SessionId& id) {
  return std::ranges::find(ids, id) != ids.end();
}

Error no_such_session(const std::string& sel) {
  const bool is_number = sel.size() < kPrefixMin && std::ranges::all_of(sel, is_ascii_digit);
  return {Code::not_found, cat("no session matches '", sel, "'",
                               is_number ? "; /resume list shows the numbers" : "")};
}

}  // namespace

// The sessions that are open and go on, and their folders. What was never stored keeps no folder.
struct Resumable::Others {
  std::vector<SessionId> ids;
  std::vector<std::string> folders;

  bool has_open(const SessionInfo& info) const {
    return has(ids, info.id) || std::ranges::any_of(folders, [&info](const std::string& folder) {
             return !info.working_dir.empty() && Place(folder).is_at(info.working_dir);
           });
  }
};

std::string shown_name(Store& store, const SessionInfo& info) {
  if (!info.title.empty()) {
    return info.title;
  }
  const Exchange first = first_exchange(store, info.id).value_or(Exchange{});
  const std::string words = title_from_prompt(first.question);
  return words.empty() ? brief_id(store, info.id) : words;
}

Result<Resumable::Others> Resumable::find_others(Store& store, const Here& here) const {
  REPRISE_ASSIGN(const Settings* const settings, context_.config().settings());
  REPRISE_ASSIGN(const std::vector<OpenSession> open,
                 find_open_sessions(context_.config().state_folder(),
                                    context_.config().absolute_url(*settings)));
  Others out;
  for (const OpenSession& session : open) {
    if (!here.stay_open && has(here.ids, session.id)) {
      continue;
    }
    REPRISE_ASSIGN(const auto stored, store.find(session.id));
    if (stored) {
      out.ids.push_back(session.id);
      out.folders.push_back(session.folder);
    }
  }
  return out;
}

Result<std::string> Resumable::list(const Here& here) {
  constexpr std::string_view kNone = "No sessions to resume.";
  numbers_ = LastList{.ids = {}, .shown_at = context_.clock().now()};
  const auto store = context_.stores().open(Access::read);
  if (!store && store.error().code == Code::not_found) {
    return std::string(kNone);
  }
  if (!store) {
    return std::unexpected(store.error());
  }
  const bool is_one_per_folder = (*store)->capabilities().one_open_per_folder;
  REPRISE_ASSIGN(const Others open, find_others(**store, here));
  REPRISE_ASSIGN(SessionPage page, (*store)->list({.limit = kPageMax}));
  std::erase_if(page.sessions, [&](const SessionInfo& info) {
    return has(here.ids, info.id) ||
           (is_one_per_folder && (is_answering_now(info) || open.has_open(info)));
  });
  if (page.sessions.empty()) {
    return std::string(kNone);
  }
  std::ranges::stable_sort(page.sessions, std::ranges::greater{}, left_at);
  const std::size_t more = page.sessions.size() - std::min(page.sessions.size(), kResumableShown);
  page.sessions.erase(page.sessions.end() - static_cast<std::ptrdiff_t>(more), page.sessions.end());
  mark_incomplete_answers(**store, page);
  std::string out = "Resumable sessions:\n";
  for (const SessionInfo& info : page.sessions) {
    const bool is_elsewhere = has(open.ids, info.id) || is_answering_now(info);
    numbers_->ids.push_back(info.id);
    out += cat("  ", numbers_->ids.size(), ". ", shown_name(**store, info), " (", info.working_dir,
               ") - ", is_elsewhere ? "open elsewhere, used" : state_text(info), " ",
               age_text(left_at(info), context_.clock().now()), "\n");
  }
  if (more > 0) {
    out += cat("  … and ", more, " more; `reprise list --all` shows them\n");
  }
  return cat(out, "\nUse /resume <number> to restore.");
}

// In "/resume list" if it was shown here; otherwise select() uses the list last shown in this
// folder and terminal.
Result<std::string> Resumable::numbered(const std::string& sel) const {
  const auto number = parse_number<std::size_t>(sel).value_or(0);
  if (!numbers_ || number == 0) {
    return sel;
  }
  // Numbers refer to the list as shown, even if sessions were resumed or deleted since.
  if (number > numbers_->ids.size()) {
    // May be a prefix of an id.
    return sel.size() < kPrefixMin ? std::unexpected(no_such_session(sel))
                                   : Result<std::string>(sel);
  }
  if (is_old(*numbers_, context_.clock().now())) {
    return fail(Code::invalid_argument, cat("number ", number, " is from a list shown ",
                                            age_text(numbers_->shown_at, context_.clock().now()),
                                            "; see /resume list, or name the session by its id"));
  }
  return numbers_->ids[number - 1].str();
}

Result<SessionInfo> Resumable::find(const std::string& sel, const std::string& name) const {
  REPRISE_ASSIGN(Store* const store, context_.stores().open_existing());
  auto found = context_.stores().select(*store, sel, Use::change);
  if (!found && found.error().code == Code::not_found) {
    return sel == "last" ? fail(Code::not_found, "there is no session in this folder to continue")
                         : std::unexpected(no_such_session(name));
  }
  if (!found) {
    return found;
  }
  REPRISE_TRY(check_project(context_, *store, *found));
  return found;
}

Result<> Resumable::check_not_open(const SessionInfo& info, const Here& here) const {
  REPRISE_ASSIGN(Store* const store, context_.stores().open_existing());
  if (!store->capabilities().one_open_per_folder) {
    return {};
  }
  REPRISE_ASSIGN(const Others open, find_others(*store, here));
  return open.has_open(info) ? fail(Code::conflict, "Project already open in another session.")
                             : Result<>();
}

Result<std::string> Resumable::remove(const std::string& sel, const Here& here) {
  REPRISE_ASSIGN(const std::string request, numbered(sel));
  REPRISE_ASSIGN(Store* const store, context_.stores().open_existing());
  REPRISE_TRY(offered(store->capabilities().trash, "move sessions to a trash"));
  const auto found = context_.stores().select(*store, request, Use::change);
  if (!found) {
    return std::unexpected(found.error().code == Code::not_found ? no_such_session(sel)
                                                                 : found.error());
  }
  REPRISE_ASSIGN(const Others open, find_others(*store, here));
  if (has(here.ids, found->id) || has(open.ids, found->id)) {
    return fail(Code::conflict, "That session is open; close it first.");
  }
  REPRISE_TRY(move_to_trash(context_, *store, {&*found, 1}));
  return cat("Deleted saved session: ", session_name(*store, *found));
}

Result<std::size_t> Resumable::count_closed() const {
  const auto store = context_.stores().open(Access::read);
  if (!store && store.error().code == Code::not_found) {
    return std::size_t{0};
  }
  if (!store) {
    return std::unexpected(store.error());
  }
  REPRISE_ASSIGN(const FoundSessions closed,
                 find_all_sessions(**store, {.states = {SessionState::closed}}));
  return closed.sessions.size();
}

Result<std::string> Resumable::clear_closed() {
  REPRISE_ASSIGN(Store* const store, context_.stores().open_existing());
  REPRISE_TRY(offered(store->capabilities().trash, "move sessions to a trash"));
  REPRISE_ASSIGN(const FoundSessions closed,
                 find_all_sessions(*store, {.states = {SessionState::closed}}));
  warn_of_damage(context_, closed.damage);
  REPRISE_TRY(move_to_trash(context_, *store, closed.sessions));
  return cat("Cleared ", closed.sessions.size(), " saved session(s).");
}

}  // namespace reprise::cli
