#pragma once

// The content of goose's messages, which its database and its files share, and these files: in
// older versions a line with the session's metadata, then the messages; or an export, one object
// with both.

#include "source/tool_source.h"  // IWYU pragma: export
#include "source/values.h"       // IWYU pragma: export

namespace reprise::source::goose {

// The session's title: its name, or the description that older versions had instead. "" for a name
// that nobody has set.
std::string title_of_session(std::string_view name, std::string_view description, bool is_set);
// `content` is an array. `metadata` says who sees the message; it may be empty.
Message message_of(std::string_view role, JsonView content, JsonView metadata);
// Whether a program wrote it: it is hidden from the user or the model.
bool is_injected_message(JsonView metadata);
std::string question_of(std::string_view role, JsonView content);

// Finds questions that the program has repeated after a compaction, although the user still sees
// the original.
class Repetitions {
 public:
  // Whether the next message is one.
  bool is_next(std::string_view role, JsonView content, JsonView metadata);

 private:
  std::string question_;     // the last one
  bool is_visible_ = false;  // to the user
  bool is_summary_ = false;  // the message before
};

// Marks such a question, whose node is injected.
void mark_repetition(const Node& node, Message& message);

Result<bool> is_session_file(const std::filesystem::path& file);
// The session's id, without reading the messages of a JSONL file.
Result<SessionId> id_of_file(const std::filesystem::path& file);
Result<std::shared_ptr<const OpenSession>> open_file_session(const std::filesystem::path& file);

}  // namespace reprise::source::goose
