#include "context/original_loader.h"

#include <cstddef>

#include "base/json_scan.h"
#include "base/text.h"

namespace reprise::test {
namespace {

std::string text_member(std::string_view object, std::string_view name) {
  json::Scanner scanner(json::find_member(object, name));
  std::string text;
  return scanner.kind() == json::Kind::string && scanner.string(text) ? text : std::string();
}

std::string refusal_of_entry(const OriginalEntry& entry, std::string_view json) {
  if (entry.role != "system" && entry.role != "user" && entry.role != "assistant") {
    return cat("no such role: ", entry.role);
  }
  if (trimmed(entry.content).empty()) {
    return cat("nothing is said by ", entry.role);
  }
  return text_member(json, "timestamp").empty() ? "no timestamp" : "";
}

std::string refusal_of_pairs(const OriginalFile& file) {
  std::string_view before = "assistant";
  for (const OriginalEntry& entry : file.conversation) {
    if (entry.role == "system") {
      continue;
    }
    if (entry.role == before) {
      return cat("two entries of the role ", entry.role, " in a row: ", entry.content);
    }
    before = entry.role;
  }
  return {};
}

}  // namespace

OriginalFile load_as_original(std::string_view bytes) {
  OriginalFile file;
  json::Scanner whole(bytes);
  if (!whole.skip() || !whole.end()) {
    file.refusal = "no JSON";
    return file;
  }
  json::Scanner turns(json::find_member(json::find_member(bytes, "meta"), "total_turns"));
  std::int64_t total = 0;
  if (turns.kind() != json::Kind::number || !turns.integer(total)) {
    file.refusal = "no number of turns";
    return file;
  }
  json::Scanner conversation(json::find_member(bytes, "conversation"));
  const bool is_list = conversation.kind() == json::Kind::array && conversation.array([&] {
    std::string_view json;
    if (!conversation.raw(json)) {
      return false;
    }
    file.conversation.push_back({text_member(json, "role"), text_member(json, "content")});
    if (file.refusal.empty()) {
      file.refusal = refusal_of_entry(file.conversation.back(), json);
    }
    return true;
  });
  if (!is_list) {
    file.refusal = "no conversation";
  } else if (file.refusal.empty()) {
    file.refusal = refusal_of_pairs(file);
  }
  return file;
}

}  // namespace reprise::test
