#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "model/fields.h"
#include "model/json_fields.h"
#include "reprise/message.h"
#include "store/document/sidecar.h"
#include "store/stored_json.h"

namespace reprise::store {
namespace {

// The names of the members of an object.
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

std::string message_sidecar(const Message& message, const Message& native) {
  std::string out;
  json::ObjectWriter object(out);
  model::for_each(model::kMessageFields, [&](const auto& field) {
    if (!field.derived && message.*field.member != native.*field.member) {
      model::append_json(object.key(field.name), message.*field.member, model::JsonForm::stored);
    }
  });
  if (message.extra != native.extra) {
    object.raw("extra", extra_to_json(message.extra));
  }
  object.close();
  return out == "{}" ? "" : out;
}

Result<> add_message_sidecar(Message& native, std::string_view sidecar) {
  REPRISE_ASSIGN(const std::vector<std::string> names, member_names(sidecar));
  REPRISE_ASSIGN(Message in_sidecar, message_from_json(sidecar));
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  const bool same_text = has("blocks") && plain_text(in_sidecar) == plain_text(native);
  model::for_each(model::kMessageFields, [&](const auto& field) {
    if (!field.derived && has(field.name) && (field.name != "blocks" || same_text)) {
      native.*field.member = std::move(in_sidecar.*field.member);
    }
  });
  if (has("extra")) {
    native.extra = extra_from_json(json::find_member(sidecar, "extra"));
  }
  return {};
}

}  // namespace reprise::store
