#pragma once

// The built-in tools, one function each, and the parser of their input.

#include "base/file.h"
#include "reprise/tool.h"

namespace reprise {

// Fields of an input object. check() reports a field of another type.
class ToolArguments {
 public:
  // `input` must outlive this.
  explicit ToolArguments(const RawJson& input) : input_(input) {}

  std::optional<std::string> text(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name);
  std::string_view raw(std::string_view name) const;  // "" when missing
  Result<> check() const;

 private:
  const RawJson& input_;
  std::string error_;
};

// The JSON Schema of an object with these properties.
RawJson object_schema(std::string_view properties, std::string_view required);

Tool make_read_file_tool();
Tool make_list_dir_tool();
Tool make_todo_write_tool();
Tool make_recall_tool();      // searches the sessions of the session's folder
Tool make_recall_all_tool();  // searches all folders; not in add_builtin_tools()

enum class EntryKind : std::uint8_t { file, folder };

// Opens a regular file or a folder inside `root` for reading. `name` is relative to it, or an
// absolute path inside it. invalid_argument for anything outside, and for devices, pipes and
// sockets, which are not opened.
Result<Fd> open_inside(const std::filesystem::path& root, const std::string& name, EntryKind kind);

}  // namespace reprise
