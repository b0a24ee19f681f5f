// Messages, todos and usage in JSON: a parsed value that is written and parsed again has the same
// value, and the same text.

#include "reprise/message.h"

#include "fuzzing.h"
#include "reprise/session.h"

using reprise::fuzz::require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = reprise::fuzz::text_of(data, size);
  if (const auto message = reprise::message_from_json(json); message) {
    const std::string text = reprise::message_to_json(*message);
    const auto again = reprise::message_from_json(text);
    require(again && *again == *message, "a message is not what was written");
    require(reprise::message_to_json(*again) == text, "a message is written in two ways");
  }
  if (const auto todos = reprise::todos_from_json(json); todos) {
    const auto again = reprise::todos_from_json(reprise::todos_to_json(*todos));
    require(again && *again == *todos, "todos are not what was written");
  }
  if (const auto usage = reprise::usage_from_json(json); usage) {
    const auto again = reprise::usage_from_json(reprise::usage_to_json(*usage));
    require(again && *again == *usage, "usage is not what was written");
  }
  return 0;
}
