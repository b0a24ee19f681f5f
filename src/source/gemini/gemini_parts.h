#pragma once

// Content in the form of the Gemini API, which Gemini CLI and Qwen Code store.

#include "source/transcript.h"

namespace reprise::source::gemini {

// A string, a part, or an array of both.
void add_content(JsonView content, std::vector<Block>& blocks);
// The text of it, thoughts left out.
std::string text_of(JsonView content);
// The calls that results in it belong to; empty when something else is in it, too.
std::vector<std::string> result_ids(JsonView content);

}  // namespace reprise::source::gemini
