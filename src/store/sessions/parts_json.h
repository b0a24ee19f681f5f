#pragma once

// Reads and writes the smaller parts of a session file: the config, the todos, the prompt history.
// They are formatted for depth one of the file.

#include "reprise/store.h"
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
// Unchanged members keep their original spelling.
std::string write_config(const Config& config, const std::vector<SpelledPart>& spelled = {});
// Records the original spelling of a config or of todos that were read from `raw`.
void note_config(std::string_view raw, const Config& config, std::vector<SpelledPart>& spelled);
// False if one of them cannot be written back unchanged, because it lacks the active form that the
// original program requires.
bool note_todos(std::string_view raw, std::vector<SpelledPart>& spelled);

struct TodoList {
  std::vector<Todo> todos;
  std::vector<RawEntry> raw_entries;  // entries that are not todos
  std::vector<Damage> damage;         // `where` is "todos[2]"
};
TodoList read_todos(std::string_view raw);
std::string write_todos(const std::vector<Todo>& todos, const std::vector<RawEntry>& raw_entries,
                        const std::vector<SpelledPart>& spelled = {});

// false if the list has other elements than strings; the ones before them are read.
bool read_strings(std::string_view raw, std::vector<std::string>& out);
std::string write_strings(const std::vector<std::string>& strings);

// The bytes of a preserved entry.
std::string write_raw_entry(const RawEntry& entry);

// Builds "[…]" around entries one level deeper, one per line.
class ArrayText {
 public:
  void add(std::string_view json);
  std::string array() const;

 private:
  std::string entries_;
};

}  // namespace reprise::store::sessions
