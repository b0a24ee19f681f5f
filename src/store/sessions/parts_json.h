#pragma once

// The smaller parts of a session file, each both ways: the config, the todos, the prompt history.
// What is written stands one level deep in the file.

#include "reprise/store.h"
#include "store/document/file_session.h"

namespace reprise::store::sessions {

// How deep an entry of the file's lists stands.
inline constexpr int kEntryDepth = 2;

// `config` names provider and model beside the settings. Values that are strings where something
// else is meant ("true") stay strings.
struct Config {
  std::string provider;
  std::string model;
  RawJson settings;  // null when there are no others
  friend bool operator==(const Config&, const Config&) = default;
};
Config read_config(std::string_view raw);
// With the members that have not changed since they were read as they stood then.
std::string write_config(const Config& config, const std::vector<SpelledPart>& spelled = {});
// What there is to be remembered of a config or of todos that were read from `raw`.
void note_config(std::string_view raw, const Config& config, std::vector<SpelledPart>& spelled);
// False when one of them cannot stay as it is: it has no active form, which the original asks for.
bool note_todos(std::string_view raw, std::vector<SpelledPart>& spelled);

struct TodoList {
  std::vector<Todo> todos;
  std::vector<RawEntry> raw_entries;  // entries that are none
  std::vector<Damage> damage;         // `where` is "todos[2]"
};
TodoList read_todos(std::string_view raw);
std::string write_todos(const std::vector<Todo>& todos, const std::vector<RawEntry>& raw_entries,
                        const std::vector<SpelledPart>& spelled = {});

// false: it is no list of texts alone; the first ones are read.
bool read_strings(std::string_view raw, std::vector<std::string>& out);
std::string write_strings(const std::vector<std::string>& strings);

// An entry that is kept as it is.
std::string write_raw_entry(const RawEntry& entry);

// "[…]" around entries that stand one level deeper, each with its line end.
class ArrayText {
 public:
  void add(std::string_view json);
  std::string array() const;

 private:
  std::string entries_;
};

}  // namespace reprise::store::sessions
