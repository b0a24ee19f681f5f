#include "engine/builtin_tools.h"

#include "base/json_scan.h"
#include "base/text.h"
#include "reprise/tool.h"

namespace reprise {

std::string_view ToolArguments::raw(std::string_view name) const {
  const std::string_view value = json::find_member(input_.text(), name);
  return value == "null" ? "" : value;
}

std::optional<std::string> ToolArguments::text(std::string_view name) {
  const std::string_view value = raw(name);
  if (value.empty()) {
    return std::nullopt;
  }
  json::Scanner scanner(value);
  std::string out;
  if (!scanner.string(out)) {
    problem_ = cat("\"", name, "\" must be a string");
    return std::nullopt;
  }
  return out;
}

std::optional<std::int64_t> ToolArguments::integer(std::string_view name) {
  const std::string_view value = raw(name);
  if (value.empty()) {
    return std::nullopt;
  }
  json::Scanner scanner(value);
  std::int64_t out = 0;
  if (!scanner.integer(out)) {
    problem_ = cat("\"", name, "\" must be an integer");
    return std::nullopt;
  }
  return out;
}

Result<> ToolArguments::check() const {
  return problem_.empty() ? Result<>() : fail(Code::invalid_argument, problem_);
}

RawJson object_schema(std::string_view properties, std::string_view required) {
  return json::take(cat(R"({"type":"object","properties":{)", properties, R"(},"required":[)",
                        required, R"(],"additionalProperties":false})"));
}

void add_builtin_tools(ToolRegistry& registry) {
  for (const auto make :
       {make_read_file_tool, make_list_dir_tool, make_todo_write_tool, make_recall_tool}) {
    // A registered tool of the same name has precedence: it is the caller's own.
    (void)registry.add(make());
  }
}

}  // namespace reprise
