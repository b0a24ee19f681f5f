#include <algorithm>

#include "base/text.h"
#include "engine/reply.h"
#include "reprise/tool.h"

namespace reprise {
namespace {

constexpr std::size_t kNameBytesMax = 64;

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, [](char c) {
    return is_ascii_alnum(c) || c == '_' || c == '-';
  });
}

}  // namespace

Result<> ToolRegistry::add(Tool tool) {
  const std::string name = tool.spec.name;
  if (!is_tool_name(name)) {
    return fail(Code::invalid_argument,
                cat("tool name \"", name, "\" is not 1 to 64 of [A-Za-z0-9_-]"));
  }
  if (!is_object(tool.spec.parameters)) {
    return fail(Code::invalid_argument,
                cat("the parameters of tool ", name, " are not a JSON object"));
  }
  if (!tool.run) {
    return fail(Code::invalid_argument, cat("tool ", name, " has no function"));
  }
  if (!tools_.emplace(name, std::move(tool)).second) {
    return fail(Code::conflict, cat("tool ", name, " already exists"));
  }
  return {};
}

const Tool* ToolRegistry::find(std::string_view name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second;
}

std::vector<ToolSpec> ToolRegistry::specs() const {
  std::vector<ToolSpec> out;
  out.reserve(tools_.size());
  for (const auto& [name, tool] : tools_) {
    out.push_back(tool.spec);
  }
  return out;
}

}  // namespace reprise
