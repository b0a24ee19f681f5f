#pragma once

// What a session of Gemini CLI means. Its content has the form of the Gemini API, which Qwen Code
// stores, too.

#include "source/transcript.h"

namespace reprise::source::gemini {

// A string, a part, or an array of both.
void add_content(JsonView content, std::vector<Block>& blocks);
// The text of it, thoughts left out.
std::string text_of(JsonView content);
// The calls that results in it belong to; empty when something else is in it, too.
std::vector<std::string> result_ids(JsonView content);

std::unique_ptr<Indexer> make_indexer(Transcript& into);
Message message_of(const Node& node, JsonView source);

}  // namespace reprise::source::gemini
