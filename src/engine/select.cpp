#include "reprise/select.h"

#include <algorithm>
#include <iterator>

#include "base/fold.h"
#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise {
namespace {

constexpr std::size_t kPrefixBytesMin = 4;
constexpr std::size_t kCandidatesMax = 10;
constexpr std::size_t kShownTitleMax = 50;

using Found = Result<std::optional<SessionInfo>>;

Error ambiguous(std::string_view sel, const std::vector<SessionInfo>& sessions) {
  std::vector<SessionId> ids;
  std::ranges::transform(sessions, std::back_inserter(ids), &SessionInfo::id);
  const std::vector<std::string> short_forms = short_ids(ids);
  std::string list;
  for (std::size_t i = 0; i < std::min(sessions.size(), kCandidatesMax); ++i) {
    const SessionInfo& info = sessions.at(i);
    const std::string title = clean_line(info.title);
    list += cat(list.empty() ? "" : ", ", short_forms[i], " '",
                grapheme_prefix(title, kShownTitleMax), "'");
  }
  const std::string_view more = sessions.size() > kCandidatesMax ? ", and more" : "";
  return {Code::ambiguous, cat("'", clean_line(sel), "' matches several sessions: ", list, more,
                               "; name one by its id")};
}

Error in_other_state(const SessionInfo& info, const Selection& selection) {
  const std::string short_form = short_id(info.id);
  const bool is_trashed = info.state == SessionState::trashed;
  const bool is_hidden = info.state == SessionState::archived || is_trashed;
  const std::string state(is_trashed ? "in the trash" : to_string(info.state));
  if (info.state == selection.goal) {
    return {Code::not_found, cat("session ", short_form, " is already ", state,
                                 is_trashed ? "; --purge removes it for good" : "")};
  }
  return {Code::not_found,
          cat("session ", short_form, " is ", state,
              is_hidden ? cat("; `", selection.program, " restore ", short_form, "` brings it back")
                        : "")};
}

class Selector {
 public:
  Selector(Source& source, std::string_view sel, const Selection& selection)
      : source_(source), sel_(sel), selection_(selection) {}

  Result<SessionInfo> select() {
    if (sel_ == "last") {
      return newest();
    }
    const auto matchers = {&Selector::by_number, &Selector::by_id, &Selector::by_prefix,
                           &Selector::by_title};
    for (const auto matcher : matchers) {
      REPRISE_ASSIGN(auto found, (this->*matcher)());
      if (found) {
        return *std::move(found);
      }
    }
    if (!other_match_) {
      REPRISE_TRY(find_title_in_other_states());
    }
    if (other_match_) {
      return std::unexpected(in_other_state(*other_match_, selection_));
    }
    return fail(Code::not_found,
                cat("no session matches '", clean_line(sel_), "'; ", list_advice()));
  }

 private:
  std::string list_advice() const {
    return cat("`", selection_.program, " list --all` lists those of all folders");
  }

  Result<SessionInfo> newest() {
    SessionQuery query{
        .states = selection_.states, .title_contains = {}, .id_prefix = {}, .after = {}};
    std::erase_if(query.states, [](SessionState state) {
      return state != SessionState::active && state != SessionState::closed;
    });
    if (query.states.empty()) {
      query.states = selection_.states;
    }
    if (!selection_.working_dir.empty()) {
      query.working_dir = selection_.working_dir;
    }
    query.limit = 1;
    query.ungrouped = true;
    REPRISE_ASSIGN(auto page, source_.list(query));
    if (page.sessions.empty()) {
      return fail(Code::not_found, selection_.working_dir.empty()
                                       ? std::string("there are no sessions yet")
                                       : cat("there is no session in ", selection_.working_dir,
                                             "; ", list_advice()));
    }
    return std::move(page.sessions.front());
  }

  bool fits_query(const SessionInfo& info) const {
    return std::ranges::find(selection_.states, info.state) != selection_.states.end();
  }

  // A full id is unambiguous even if the session is in another state, which is reported then.
  Found find_by_id(const SessionId& id) {
    REPRISE_ASSIGN(auto session, source_.find(id));
    if (!session) {
      return std::optional<SessionInfo>();
    }
    if (!fits_query(session->info)) {
      return std::unexpected(in_other_state(session->info, selection_));
    }
    return std::optional(std::move(session->info));
  }

  Found by_number() {
    if (sel_.empty() || sel_.size() > 9 || !std::ranges::all_of(sel_, is_ascii_digit)) {
      return std::optional<SessionInfo>();
    }
    const auto number = static_cast<std::size_t>(std::stoul(std::string(sel_)));
    if (number == 0 || number > selection_.numbers.size()) {
      return std::optional<SessionInfo>();
    }
    return find_by_id(selection_.numbers.at(number - 1));
  }

  Found by_id() {
    for (const std::string& spelling : {std::string(sel_), ascii_lower(sel_)}) {
      const auto id = SessionId::parse(spelling);
      if (!id) {
        continue;
      }
      REPRISE_ASSIGN(auto found, find_by_id(*id));
      if (found) {
        return found;
      }
    }
    return std::optional<SessionInfo>();
  }

  // By a prefix of an id or a short id.
  Found by_prefix() {
    if (sel_.size() < kPrefixBytesMin || !SessionId::parse(sel_)) {
      return std::optional<SessionInfo>();
    }
    SessionQuery query{.states = {SessionState::active, SessionState::closed,
                                  SessionState::archived, SessionState::trashed},
                       .title_contains = {},
                       .id_prefix = std::string(sel_),
                       .ungrouped = true,
                       .after = {},
                       .limit = kCandidatesMax + 1};
    REPRISE_ASSIGN(SessionPage page, source_.list(query));
    query.id_prefix.clear();
    query.short_id_prefix = ascii_lower(sel_);
    REPRISE_ASSIGN(SessionPage by_end, source_.list(query));
    std::ranges::copy_if(
        by_end.sessions, std::back_inserter(page.sessions), [&page](const SessionInfo& info) {
          return std::ranges::find(page.sessions, info.id, &SessionInfo::id) == page.sessions.end();
        });
    const auto others = std::ranges::stable_partition(
        page.sessions, [this](const SessionInfo& info) { return fits_query(info); });
    if (!others.empty()) {
      other_match_ = others.front();
    }
    page.sessions.erase(others.begin(), others.end());
    return unique_match(std::move(page.sessions));
  }

  Found by_title() {
    SessionQuery query{.states = selection_.states,
                       .title_contains = std::string(sel_),
                       .id_prefix = {},
                       .after = {},
                       .limit = kPageMax};
    // What was typed letter by letter comes before what differs in case or accents.
    std::vector<SessionInfo> exact;
    std::vector<SessionInfo> similar;
    do {
      REPRISE_ASSIGN(auto page, source_.list(query));
      for (SessionInfo& info : page.sessions) {
        std::vector<SessionInfo>& found = info.title == sel_ ? exact : similar;
        if (found.size() <= kCandidatesMax && has_title(info)) {
          found.push_back(std::move(info));
        }
      }
      query.after = std::move(page.next);
    } while (!sel_.empty() && !query.after.empty() && exact.size() <= kCandidatesMax);
    return sel_.empty() ? Found(std::optional<SessionInfo>())
                        : unique_match(std::move(exact.empty() ? similar : exact));
  }

  Result<> find_title_in_other_states() {
    if (sel_.empty()) {
      return {};
    }
    SessionQuery query{.title_contains = std::string(sel_), .id_prefix = {}, .after = {}};
    query.states = {SessionState::active, SessionState::closed, SessionState::archived,
                    SessionState::trashed};
    std::erase_if(query.states, [this](SessionState state) {
      return std::ranges::find(selection_.states, state) != selection_.states.end();
    });
    if (query.states.empty()) {
      return {};
    }
    REPRISE_ASSIGN(auto page, source_.list(query));  // the newest ones are enough for a hint
    const auto found = std::ranges::find_if(
        page.sessions, [this](const SessionInfo& info) { return has_title(info); });
    if (found != page.sessions.end()) {
      other_match_ = std::move(*found);
    }
    return {};
  }

  bool has_title(const SessionInfo& info) const {
    return info.title == sel_ || folded(info.title) == folded(sel_);
  }

  Found unique_match(std::vector<SessionInfo> sessions) {
    if (sessions.empty()) {
      return std::optional<SessionInfo>();
    }
    if (sessions.size() > 1) {
      return std::unexpected(ambiguous(sel_, sessions));
    }
    return std::optional(std::move(sessions.front()));
  }

  Source& source_;
  std::string_view sel_;
  const Selection& selection_;
  std::optional<SessionInfo> other_match_;  // a match in another state
};

}  // namespace

Result<SessionInfo> select_session(Source& source, std::string_view sel,
                                   const Selection& selection) {
  return Selector(source, trimmed(sel), selection).select();
}

}  // namespace reprise
