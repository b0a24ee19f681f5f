#include "engine/session_notes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/fields.h"
#include "reprise/message.h"
#include "reprise/types.h"

namespace reprise {
namespace {

constexpr std::string_view kRefused = "refused_questions";
constexpr std::size_t kRefusedMax = 1000;

}  // namespace

bool is_plain_question(const Message& message) {
  const auto is_result = [](const Block& block) {
    return std::holds_alternative<ToolResultBlock>(block);
  };
  return is_question(message) && std::ranges::none_of(message.blocks, is_result);
}

RefusedQuestions refused_questions(const Extra& session) {
  RefusedQuestions times;
  if (const RawJson* const field = json::find_field(session, kRefused); field != nullptr) {
    // Values of other programs are ignored.
    JsonView(field->text()).each([&times](JsonView time_text) {
      if (const auto time = parse_time(time_text.text()); time) {
        times.insert(*time);
      }
    });
  }
  return times;
}

Extra with_refused_question(Extra session, Time question) {
  RefusedQuestions times = refused_questions(session);
  times.insert(question);
  while (times.size() > kRefusedMax) {
    times.erase(times.begin());
  }
  std::vector<std::string> texts;
  std::ranges::transform(times, std::back_inserter(texts), format_time);
  json::set_field(session, kRefused, json::take(json::array_of(texts)));
  return session;
}

bool is_abandoned(const Message& question, const Message& next, const RefusedQuestions& refused) {
  if (!is_plain_question(question) || !is_question(next)) {
    return false;
  }
  const std::string question_text = plain_text(question);
  return refused.contains(question.created_at) ||
         (!trimmed(question_text).empty() && question_text == plain_text(next));
}

// Values of other programs are ignored.
std::optional<RequestStart> request_start(JsonView json) {
  const auto [seq, question_at, provider, model] =
      json.members({"seq", "asked_at", "provider", "model"});
  const auto number = json::integer_in(seq.raw());
  const auto time = parse_time(question_at.text());
  if (!number || *number < 0 || !time) {
    return std::nullopt;
  }
  return RequestStart{.seq = Seq{*number},
                      .question_at = *time,
                      .provider = provider.text(),
                      .model = model.text()};
}

std::string json_of(const RequestStart& start) {
  return json::object_of("seq", start.seq.value, "asked_at", format_time(start.question_at),
                         "provider", start.provider, "model", start.model);
}

bool is_possible_start(const Message& message) {
  return is_plain_question(message) || is_summary(message);
}

bool is_summary(const Message& message) {
  const RawJson* const mark = json::find_field(message.extra, model::kSummaryMark);
  return is_injected(message) && mark != nullptr && mark->text() == "true" &&
         message.role != role::kSystem && message.role != role::kTool;
}

}  // namespace reprise
