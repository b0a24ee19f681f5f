#pragma once

// The members of a context file, as they are read and before they are written, and what they say
// about its session without the member "reprise".

#include <array>
#include <set>

#include "store/stored_session.h"

namespace reprise::store::context {

inline constexpr std::string_view kConversation = "conversation";
inline constexpr std::string_view kMeta = "meta";
inline constexpr std::string_view kLastUpdated = "last_updated";
inline constexpr std::string_view kTotalTurns = "total_turns";

// The members before the conversation, in their order, and what a missing one means, as JSON. Those
// that go to the model mean nothing then: what nobody has written is not sent.
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
// "null" for all other members, too.
std::string_view default_of(std::string_view name);

// The provider's name as Reprise knows it: what is reached like "openai" is "openai-chat".
std::string provider_name(std::string_view written);

// The folder that the file belongs to: the one around `.ai`. io when that cannot be told.
Result<std::filesystem::path> root_folder(const std::filesystem::path& file);

// Of many that are to be looked up. The members must outlive it.
std::set<std::string_view> names_of(const Extra& members);
// nullopt for a value that is no string.
std::optional<std::string> text_of(const RawJson* value);

// {"last_updated","total_turns"} and what else stands in it.
struct Meta {
  std::optional<Time> last_updated = std::nullopt;
  std::string total_turns = "0";  // as it is spelled
  Extra others;                   // the default's, when the file has no meta
};
Meta read_meta(const RawJson* meta);
// The number of turns plus `by`; as it was when it is no number.
std::string grown(const std::string& total_turns, std::int64_t by);

// Takes back what `meta` among the file's members has counted: they will be counted again.
void take_back_turns(Extra& members, std::int64_t turns);

// Fills in what `members`, meta among them, say: all of the session but its id and its usage.
// `stored` has its messages.
void add_native(const std::filesystem::path& project, const Extra& members, StoredSession& stored);

}  // namespace reprise::store::context
