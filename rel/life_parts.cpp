#include "life_parts.h"

#include <stdexcept>

#include "base/text.h"
#include "reprise/message.h"
#include "reprise/session.h"

namespace reprise::rel {
namespace {

// Parses constants of this file, which must be valid.
template <class T>
T parsed(std::string_view text) {
  auto id = T::parse(text);
  if (!id) {
    throw std::logic_error(id.error().message);
  }
  return *std::move(id);
}

}  // namespace

SessionId session(int number) {
  return parsed<SessionId>(cat("01990000-0000-7000-8000-00000000000", number));
}

OperationId operation(std::string_view name) {
  return parsed<OperationId>(name);
}

Time at(int second) {
  return Time{std::chrono::seconds(1'790'000'000 + second)};
}

Session empty_session(int number) {
  return {.info = {.id = session(number),
                   .title = cat("Session ", number),
                   .created_at = at(number),
                   .updated_at = at(number)}};
}

Message message_of(bool words, std::string_view role, std::string text, int second) {
  Message message;
  message.role = words ? role : role::kAssistant;
  message.created_at = at(second);
  if (words) {
    message.blocks.emplace_back(TextBlock{std::move(text), {}});
  }
  if (!words || role == role::kAssistant) {
    message.provider = "openai-responses";
    message.response_id = cat("resp_", second);
  }
  return message;
}

}  // namespace reprise::rel
