#pragma once

// The members of a context file, and what they determine about its session without the member
// "reprise".

#include <array>
#include <set>

#include "store/stored_session.h"

namespace reprise::store::context {

inline constexpr std::string_view kConversation = "conversation";
inline constexpr std::string_view kMeta = "meta";
inline constexpr std::string_view kLastUpdated = "last_updated";
inline constexpr std::string_view kTotalTurns = "total_turns";

// The members before the conversation, in order, with the value that a missing one stands for, as
// JSON. It is "null" for those sent to the model: a missing one is not sent.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kDefaults = {{
    {"provider", R"("openai")"},
    {"base_url", R"("https://api.openai.com/v1")"},
    {"model", "null"},
    {"system", "null"},
    {"temperature", "null"},
    {"max_tokens", "null"},
    {"stream_default", "true"},
    {"save_path_default", R"("ai.out.txt")"},
    {"env_key", R"("OPENAI_API_KEY")"},
}};
bool is_default(std::string_view name);  // whether it is one of them
// "null" for unknown members.
std::string_view default_of(std::string_view name);

// The provider as written in the file, but "openai-chat" for "openai". Its protocol and server are
// looked up by the settings (cli/settings/provider_names.h).
std::string provider_name(std::string_view written);

// The project folder of the file: the one that contains `.ai`. io if it cannot be determined.
Result<std::filesystem::path> root_folder(const std::filesystem::path& file);

// For looking up many names. The members must outlive the result.
std::set<std::string_view> names_of(const Extra& members);
// nullopt if the value is not a string.
std::optional<std::string> text_of(const RawJson* value);

// {"last_updated","total_turns"} and other members.
struct Meta {
  std::optional<Time> last_updated = std::nullopt;
  std::string total_turns = "0";  // as spelled in the file
  Extra others;                   // those of the default if the file has no meta
};
Meta read_meta(const RawJson* meta);
// The number of turns plus `by`; unchanged if it is not a number.
std::string add_turns(const std::string& total_turns, std::int64_t by);

// Subtracts `turns` from the count in the member `meta`, because they will be counted again.
void subtract_turns(Extra& members, std::int64_t turns);

// Sets all of the session except its id and its usage from `members`, including meta. `stored` has
// its messages.
void add_native(const std::filesystem::path& project, const Extra& members, StoredSession& stored);

}  // namespace reprise::store::context
