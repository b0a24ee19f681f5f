#pragma once

// The meaning of a Gemini CLI session. Its content has the form of the Gemini API, which Qwen Code
// also stores.

#include "base/json_view.h"     // IWYU pragma: export
#include "reprise/message.h"    // IWYU pragma: export
#include "source/transcript.h"  // IWYU pragma: export
#include "source/values.h"      // IWYU pragma: export

namespace reprise::source::gemini {

inline constexpr std::string_view kGemini = "gemini";

// `content` is a string, a part, or an array of both; `tool` is the one that stored it.
void add_content(std::string_view tool, JsonView content, std::vector<Block>& blocks);
// The text of the content without thoughts.
std::string text_of(JsonView content);
// The call ids of tool results; empty if the content has anything else.
std::vector<std::string> result_ids(JsonView content);

// The sessions of Gemini CLI's layout, tmp/<project>/chats, which Qwen Code had at first.
std::vector<Located> locate_chats(const std::filesystem::path& location, ReadReport& report);
// Whether it is an object with the first members of such a session.
bool is_chat(JsonView line);
std::unique_ptr<Indexer> make_indexer(std::string_view tool, Transcript& into);
Message message_of(std::string_view tool, const Transcript& transcript, const Node& node,
                   JsonView source);

}  // namespace reprise::source::gemini
