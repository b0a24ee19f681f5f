#include "engine/unanswered.h"

#include <algorithm>
#include <cstddef>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/message.h"

namespace reprise {
namespace {

constexpr std::string_view kRefused = "refused_questions";
constexpr std::size_t kRefusedMax = 1000;

auto find_field(auto& extra) {
  return std::ranges::find(extra, kRefused, &ExtraField::name);
}

}  // namespace

bool stands_alone(const Message& message) {
  const auto is_result = [](const Block& block) {
    return std::holds_alternative<ToolResultBlock>(block);
  };
  return is_question(message) && std::ranges::none_of(message.blocks, is_result);
}

RefusedQuestions refused_questions(const Extra& session) {
  RefusedQuestions times;
  const auto field = find_field(session);
  if (field == session.end()) {
    return times;
  }
  json::Scanner scanner(field->value.text());
  if (scanner.kind() != json::Kind::array) {
    return times;
  }
  const auto element = [&] {
    std::string text;
    if (scanner.kind() != json::Kind::string) {
      return scanner.skip();
    }
    const bool read = scanner.string(text);
    if (const auto time = parse_time(text); read && time) {
      times.insert(*time);
    }
    return read;
  };
  (void)scanner.array(element);  // what another program has put there is no reason to fail
  return times;
}

Extra with_refused_question(Extra session, Time question) {
  RefusedQuestions times = refused_questions(session);
  times.insert(question);
  while (times.size() > kRefusedMax) {
    times.erase(times.begin());
  }
  std::string text;
  json::ArrayWriter array(text);
  for (const Time time : times) {
    array.item();
    json::append_string(text, format_time(time));
  }
  array.close();
  const auto field = find_field(session);
  if (field == session.end()) {
    session.push_back({std::string(kRefused), json::take(text)});
  } else {
    field->value = json::take(text);
  }
  return session;
}

bool is_given_up(const Message& question, const Message& next, const RefusedQuestions& refused) {
  if (!stands_alone(question) || !is_question(next)) {
    return false;
  }
  const std::string asked = plain_text(question);
  return refused.contains(question.created_at) ||
         (!trimmed(asked).empty() && asked == plain_text(next));
}

}  // namespace reprise
