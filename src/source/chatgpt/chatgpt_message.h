#pragma once

// The meaning of a node in a ChatGPT conversation.

#include "source/download.h"  // IWYU pragma: export
#include "source/values.h"

namespace reprise::source::chatgpt {

// What is needed to place a message in its session. Computing it scans each byte at most twice, as
// exports may have gigabytes.
struct MessageMetadata {
  std::string id;
  std::string role;
  std::string model;
  std::optional<Time> time;
  JsonView content;
  // The user's settings, a hidden message or a system message: not written in this conversation.
  bool is_injected = false;
  // False for messages with nothing to show or to preserve.
  bool has_content = false;
  // An assistant's message addressed to a tool.
  bool is_call = false;
};
MessageMetadata metadata_of(JsonView message);
// The first text of a user's message.
std::string question_text(JsonView content);

// `call` is the id of the call that a tool's message answers. Images are read from `download`,
// which may be null; an error if that fails.
Result<Message> message_of(JsonView json, std::string_view call, const Download* download);

// Removes citation marks, which are delimited by private-use characters.
std::string without_citations(std::string_view text);

}  // namespace reprise::source::chatgpt
