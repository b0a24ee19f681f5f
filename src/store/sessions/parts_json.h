#pragma once

// Reads and writes the parts of a session file: the config, the todos and the prompt history,
// formatted for depth one of the file, and the entries of `conversation`.

#include "reprise/message.h"
#include "reprise/source.h"
#include "store/document/document_format.h"

namespace reprise::store::sessions {

// The depth of the entries of the file's lists.
inline constexpr int kEntryDepth = 2;

// `config` has provider and model besides the settings. Strings that stand for other values
// ("true") remain strings.
struct Config {
  std::string provider;
  std::string model;
  RawJson settings;  // null if there are none
  friend bool operator==(const Config&, const Config&) = default;
};
Config read_config(std::string_view raw);
// The original program's name of a provider, which is written: it has one for several of ours.
std::string_view original_provider(std::string_view provider);
// Unchanged members keep their original spelling.
std::string write_config(const Config& config, const std::vector<PreservedText>& preserved = {});
// Records the original spelling of a config or of todos that were read from `raw`.
void record_config(std::string_view raw, const Config& config,
                   std::vector<PreservedText>& preserved);
// False if one of them cannot be written back unchanged, because it lacks the active form that the
// original program requires.
bool record_todos(std::string_view raw, std::vector<PreservedText>& preserved);

struct TodoList {
  std::vector<Todo> todos;
  std::vector<RawEntry> raw_entries;  // entries that are not todos
  std::vector<Damage> damage;         // `where` is "todos[2]"
};
TodoList read_todos(std::string_view raw);
std::string write_todos(const std::vector<Todo>& todos, const std::vector<RawEntry>& raw_entries,
                        const std::vector<PreservedText>& preserved = {});

// false if the list has other elements than strings; the ones before them are read.
bool read_strings(std::string_view raw, std::vector<std::string>& out);
std::string write_strings(const std::vector<std::string>& strings);

// The bytes of a preserved entry.
std::string write_raw_entry(const RawEntry& entry);

// Appends an entry on its own line, one level deeper than its array.
void append_entry(std::string& entries, std::string_view json);
// "[…]" around such entries.
std::string array_of(std::string_view entries);

// A parsed entry.
struct Entry {
  std::optional<Message> native;     // nullopt if it is not a message
  std::optional<Time> at;            // also of entries that are not messages
  std::vector<std::string> reasons;  // the parts that could not be read
  std::string sidecar;
};
// `raw` is a JSON value.
Entry read_entry(std::string_view raw);

// The entry's message, once its position is known. Parts that cannot be read are added to the
// reasons.
Message finish_message(Message native, Entry& entry, Seq seq);

// Removes an id that only says where the message is.
void remove_default_id(Message& message, Seq seq);
// The id that the entry of a message has: its own, or one for its position.
std::string entry_id(const Message& message);

// Formatted for the depth of entries in the file. The original program requires a time: `time` is
// the message's or, if that is unknown, another one.
std::string write_message(const Message& message, Time time);

// `usage` and `cumulative_usage`: input_tokens, output_tokens, total_cost, with cost 0 for a
// request without one. The object is at depth `depth`.
std::string write_usage(const Usage& usage, int depth);
// nullopt if it is not a usage.
std::optional<Usage> read_usage(std::string_view raw);
// The usage that is read back from these members.
Usage native_usage(const Usage& usage);

}  // namespace reprise::store::sessions
