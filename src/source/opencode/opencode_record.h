#pragma once

// What opencode's messages and their parts mean. A message of its assistant has several steps, each
// with calls and their results: it becomes several messages of ours.

#include <string>
#include <vector>

#include "source/tool_source.h"
#include "source/values.h"

namespace reprise::source::opencode {

// As they are stored, in all forms of the storage.
struct RawPart {
  std::string id;
  std::string json;
};
struct RawMessage {
  std::string id;
  std::string json;
  std::vector<RawPart> parts;
};

// Parts [begin, end) that are one message; with `is_result` the results of their calls.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_result = false;
};
std::vector<Segment> segments_of(const RawMessage& message);

// A program wrote all of it.
bool is_injected_message(const RawMessage& message);
// nullopt for a person's, and for one that used nothing.
std::optional<Usage> usage_of(const RawMessage& message);
// The first text that a person wrote; "" for other messages.
std::string question_of(const RawMessage& message);
// The segment of that number.
Message message_of(const RawMessage& raw, std::size_t number);

// A session as `info` has it in files.
Session session_of(JsonView info, const std::string& id);

// Adds the message's segments to the tree, `key` being what finds the message again (Node::at).
void add_message(OpenSession& open, const RawMessage& message, std::int64_t key);

}  // namespace reprise::source::opencode
