#pragma once

// The meaning of opencode's messages and their parts. An assistant's message has several steps,
// each with calls and their results, and is split into several messages.

#include <string>
#include <vector>

#include "source/tool_source.h"  // IWYU pragma: export
#include "source/values.h"

namespace reprise::source::opencode {

// As stored, in any form of the storage.
struct RawPart {
  std::string id;
  std::string json;
};
struct RawMessage {
  std::string id;
  std::string json;
  std::vector<RawPart> parts;
};

// Parts [begin, end), which become one message; if `is_result`, the results of their calls.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_result = false;
};
std::vector<Segment> segments_of(const RawMessage& message);
// The number of those that begin before a part: none for "", all if there is no such part.
std::size_t segments_before(const RawMessage& message, std::string_view part);

// Whether a program wrote all of it.
bool is_injected_message(const RawMessage& message);
// nullopt for a user's message, and if nothing was used.
std::optional<Usage> usage_of(const RawMessage& message);
// The user's first text; "" for other messages.
std::string question_of(const RawMessage& message);
// The message for segment `number`.
Message message_of(const RawMessage& raw, std::size_t number);

// A session from its JSON in files, `info`.
Session session_of(JsonView info, const std::string& id);

// Sets who answers, if it is an answer. Returns whether it is.
bool note_answer(JsonView message, SessionInfo& info);

// Adds the message's segments to the tree. `key` finds the message again (Node::at).
void add_message(OpenSession& open, const RawMessage& message, std::int64_t key);

}  // namespace reprise::source::opencode
