#pragma once

// The meaning of a Gemini CLI session. Its content has the form of the Gemini API, which Qwen Code
// also stores.

#include "base/json_view.h"     // IWYU pragma: export
#include "reprise/message.h"    // IWYU pragma: export
#include "source/transcript.h"  // IWYU pragma: export
#include "source/values.h"      // IWYU pragma: export

namespace reprise::source::gemini {

// `content` is a string, a part, or an array of both.
void add_content(JsonView content, std::vector<Block>& blocks);
// The text of the content without thoughts.
std::string text_of(JsonView content);
// The call ids of tool results; empty if the content has anything else.
std::vector<std::string> result_ids(JsonView content);

std::unique_ptr<Indexer> make_indexer(Transcript& into);
Message message_of(const Transcript& transcript, const Node& node, JsonView source);

}  // namespace reprise::source::gemini
