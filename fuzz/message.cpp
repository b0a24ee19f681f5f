// Messages, todos and usage in JSON: a parsed value that is written and parsed again has the same
// text. The order of extra fields may be another: those with the name of a member are written last.

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
    require(again && reprise::message_to_json(*again) == text, "a message is not what was written");
  }
  if (const auto todos = reprise::todos_from_json(json); todos) {
    const std::string text = reprise::todos_to_json(*todos);
    const auto again = reprise::todos_from_json(text);
    require(again && reprise::todos_to_json(*again) == text, "todos are not what was written");
  }
  if (const auto usage = reprise::usage_from_json(json); usage) {
    const std::string text = reprise::usage_to_json(*usage);
    const auto again = reprise::usage_from_json(text);
    require(again && reprise::usage_to_json(*again) == text, "usage is not what was written");
  }
  return 0;
}
