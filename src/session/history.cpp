// Reads the history of a session, and answers queries that a store does not support itself.

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "engine/lease.h"
#include "engine/origin.h"
#include "model/attachment.h"
#include "reprise/conversation.h"
#include "reprise/sessions.h"
#include "store/usage_sum.h"

namespace reprise {
namespace {

// The maximum number of messages in which prompts are searched.
constexpr std::int64_t kMessagesScanned = 5000;

Result<bool> has_author(Source& source, const SessionId& id, const Author& author,
                        std::vector<Damage>& damage) {
  bool found = false;
  REPRISE_ASSIGN(ReadReport report, source.read(id, {}, [&](const Message& message) {
    found = message.author == author;
    return found ? Flow::stop : Flow::proceed;
  }));
  std::ranges::move(report.damage, std::back_inserter(damage));
  return found;
}

}  // namespace

Result<Seq> find_turn(Source& source, const SessionId& id, std::int64_t turns) {
  if (turns < 1) {
    return fail(Code::invalid_argument, "take back at least one turn");
  }
  std::int64_t questions = 0;
  Seq start;
  REPRISE_TRY(source.read(id, {.newest_first = true}, [&](const Message& message) {
    if (is_question(message)) {
      ++questions;
      start = message.seq;
    }
    return questions == turns ? Flow::stop : Flow::proceed;
  }));
  if (questions < turns) {
    return fail(Code::invalid_argument, cat("cannot take back ", counted(turns, "turn"),
                                            "; the session has ", counted(questions, "turn")));
  }
  return start;
}

Result<std::vector<Damage>> read_turns(Source& source, const SessionId& id,
                                       const std::function<void(const TurnSummary&)>& sink) {
  std::optional<TurnSummary> turn;
  store::CountedRequests counted;
  REPRISE_ASSIGN(ReadReport report, source.read(id, {}, [&](const Message& message) {
    if (turn && is_question(message)) {
      sink(*turn);
      turn.reset();
    }
    if (!turn) {
      turn = TurnSummary{.first = message.seq};
    }
    ++turn->messages;
    if (!message.model.empty()) {
      turn->model = message.model;
    }
    store::count_usage(turn->usage, counted, message);
    return Flow::proceed;
  }));
  if (turn) {
    sink(*turn);
  }
  return std::move(report.damage);
}

Result<std::vector<std::string>> last_prompts(Source& source, const Session& session,
                                              std::size_t count) {
  std::vector<std::string> prompts;
  const Seq from{std::max<std::int64_t>(0, session.info.head.value - kMessagesScanned)};
  REPRISE_TRY(source.read(session.info.id, {.from = from, .newest_first = true},
                          [&](const Message& message) {
                            if (is_question(message)) {
                              prompts.push_back(question_text(message));
                            }
                            return prompts.size() >= count ? Flow::stop : Flow::proceed;
                          }));
  for (const std::string& prompt : session.prompt_history) {
    if (prompts.size() < count && std::ranges::find(prompts, prompt) == prompts.end()) {
      prompts.push_back(prompt);
    }
  }
  std::ranges::reverse(prompts);
  return prompts;
}

Result<Exchange> last_exchange(Source& source, const SessionId& id) {
  REPRISE_ASSIGN(const SessionSnapshot snapshot, get_snapshot(source, id));
  Exchange last{.incomplete = snapshot.session.info.incomplete};
  if (snapshot.answer) {
    last.answer = plain_text(snapshot.answer->message);
    last.running = snapshot.answer->owner == OwnerState::alive;
    last.incomplete = !last.running;
  }
  ReadRange range = snapshot.range();
  range.newest_first = true;
  REPRISE_TRY(source.read(id, range, [&](const Message& message) {
    if (is_question(message)) {
      last.question = question_text(message);
      return Flow::stop;
    }
    if (message.role == role::kAssistant && last.answer.empty()) {
      last.answer = plain_text(message);
    }
    return Flow::proceed;
  }));
  return last;
}

void mark_incomplete_answers(Source& source, SessionPage& page) {
  std::vector<SessionInfo*> candidates;
  for (SessionInfo& info : page.sessions) {
    if (info.state == SessionState::active && !info.answering && info.head.value > 0) {
      candidates.push_back(&info);
    }
  }
  if (candidates.empty() || !source.capabilities().messages) {
    return;
  }
  std::vector<std::optional<Message>> last_messages(candidates.size());
  if (LastMessageReader* const reader = source.capabilities().last_message_reader;
      reader != nullptr) {
    std::vector<SessionId> ids;
    std::ranges::transform(candidates, std::back_inserter(ids),
                           [](const SessionInfo* info) { return info->id; });
    // Errors are reported below, with the session's id.
    last_messages = reader->last_messages(ids).value_or(std::move(last_messages));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (const auto& last = last_messages[i]; last && !is_injected(*last)) {
      candidates[i]->incomplete = is_incomplete_after(*last);
      continue;
    }
    const auto is_incomplete = ends_incomplete(source, candidates[i]->id);
    candidates[i]->incomplete = is_incomplete.value_or(false);
    if (!is_incomplete && is_incomplete.error().code != Code::not_found) {  // deleted concurrently
      page.damage.push_back({candidates[i]->id.str(), is_incomplete.error().message, ""});
    }
  }
  for (SessionInfo* const info : candidates) {
    if (info->incomplete) {
      const auto session = get(source, info->id);
      info->incomplete = !session || !has_ended_elsewhere(*session);
    }
  }
}

Result<Exchange> first_exchange(Source& source, const SessionId& id) {
  Exchange first;
  REPRISE_TRY(source.read(id, {}, [&](const Message& message) {
    if (is_question(message) && first.question.empty()) {
      first.question = question_text(message);
    } else if (message.role == role::kAssistant && !first.question.empty()) {
      first.answer = plain_text(message);
    }
    return first.answer.empty() ? Flow::proceed : Flow::stop;
  }));
  return first;
}

Result<SessionPage> list_by_author(Source& source, const SessionQuery& query) {
  if (!query.author || source.capabilities().lists_by_author) {
    return source.list(query);
  }
  SessionQuery any_author = query;
  any_author.author.reset();
  SessionPage found;
  std::string next;  // the cursor after a full page
  while (true) {
    // Limited to the remaining room, so that a full page ends where one of the source's pages ends.
    const bool is_full = found.sessions.size() == query.limit;
    any_author.limit = is_full ? query.limit : query.limit - found.sessions.size();
    REPRISE_ASSIGN(SessionPage page, source.list(any_author));
    std::ranges::move(page.damage, std::back_inserter(found.damage));
    for (SessionInfo& info : page.sessions) {
      REPRISE_ASSIGN(const bool matches, has_author(source, info.id, *query.author, found.damage));
      if (matches && is_full) {
        found.next = std::move(next);
        return found;
      }
      if (matches) {
        found.sessions.push_back(std::move(info));
      }
    }
    if (page.next.empty()) {
      return found;
    }
    any_author.after = std::move(page.next);
    next = is_full ? std::move(next) : any_author.after;
  }
}

}  // namespace reprise
