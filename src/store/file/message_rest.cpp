#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/types.h"
#include "store/file/rest.h"
#include "store/stored_json.h"

namespace reprise::store {
namespace {

std::string_view name_of(MessageState state) {
  return state == MessageState::complete ? "complete" : "incomplete";
}

// The names of the members that are there.
Result<std::vector<std::string>> member_names(std::string_view json) {
  std::vector<std::string> names;
  json::Scanner scanner(json);
  const auto member = [&](std::string_view name) {
    names.emplace_back(name);
    return scanner.skip();
  };
  if (!scanner.object(member) || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  return names;
}

}  // namespace

std::string message_rest(const Message& message, const Message& native) {
  std::string out;
  json::ObjectWriter object(out);
  const auto text = [&](std::string_view name, std::string Message::* field) {
    if (message.*field != native.*field) {
      object.field(name, message.*field);
    }
  };
  text("role", &Message::role);
  if (message.state != native.state) {
    object.field("state", name_of(message.state));
  }
  if (message.created_at != native.created_at) {
    object.field("created_at", format_time(message.created_at));
  }
  text("provider", &Message::provider);
  text("model", &Message::model);
  text("response_id", &Message::response_id);
  if (message.usage != native.usage) {
    object.raw("usage", message.usage ? usage_to_json(*message.usage) : "null");
  }
  if (message.blocks != native.blocks) {
    object.raw("blocks", blocks_to_json(message.blocks));
  }
  if (message.extra != native.extra) {
    object.raw("extra", extra_to_json(message.extra));
  }
  object.close();
  return out == "{}" ? "" : out;
}

Result<> add_message_rest(Message& native, std::string_view rest) {
  REPRISE_ASSIGN(const std::vector<std::string> names, member_names(rest));
  REPRISE_ASSIGN(Message said, message_from_json(rest));
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  const auto take = [&](std::string_view name, auto Message::* field) {
    if (has(name)) {
      native.*field = std::move(said.*field);
    }
  };
  if (has("blocks") && plain_text(said) == plain_text(native)) {
    take("blocks", &Message::blocks);
  }
  take("role", &Message::role);
  take("state", &Message::state);
  take("created_at", &Message::created_at);
  take("provider", &Message::provider);
  take("model", &Message::model);
  take("response_id", &Message::response_id);
  take("usage", &Message::usage);
  if (has("extra")) {
    native.extra = extra_from_json(json::find_member(rest, "extra"));
  }
  return {};
}

}  // namespace reprise::store
