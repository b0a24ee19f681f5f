#pragma once

// What a node of a ChatGPT conversation means.

#include "source/download.h"
#include "source/values.h"

namespace reprise::source::chatgpt {

// What the place of a message in its session follows from; each of its bytes is looked at once or
// twice for it, as there may be a gigabyte of them.
struct Facts {
  std::string id;
  std::string role;
  std::string model;
  std::optional<Time> time;
  JsonView content;
  // A person's settings, a hidden or a system message: written by no person in this conversation,
  // and by no model.
  bool is_injected = false;
  // It has something to show, or something that is kept as it is.
  bool has_content = false;
  // An assistant's message to a tool.
  bool is_call = false;
};
Facts facts_of(JsonView message);
// The first text of a person's message.
std::string question_text(JsonView content);

// `call` is the id of the call that a tool's message answers. Images are those of the download,
// which may be null.
Message message_of(JsonView json, std::string_view call, const Download* download);

// Without the marks of citations, which stand in characters for private use.
std::string without_marks(std::string_view text);

}  // namespace reprise::source::chatgpt
