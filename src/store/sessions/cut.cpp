// Extracts the intact beginning of a truncated file.

#include "base/json_scan.h"
#include "store/sessions/members.h"
#include "store/sessions/parts_json.h"
#include "store/sessions/session_json.h"

namespace reprise::store::sessions {

std::string before_cut(std::string_view json) {
  json::Scanner scanner(json);
  Members members(1);
  ArrayText conversation;
  bool has_messages = false;
  const auto message = [&] {
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    conversation.add(raw);
    has_messages = true;
    return true;
  };
  const bool is_whole = scanner.object([&](std::string_view name) {
    if (name == "conversation") {
      return scanner.array(message);
    }
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    members.raw(name, std::string(raw));
    return true;
  });
  if (is_whole || !has_messages) {
    return "";
  }
  members.raw("conversation", conversation.array());
  return members.object();
}

}  // namespace reprise::store::sessions
