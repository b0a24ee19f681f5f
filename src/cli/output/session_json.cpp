#include "cli/output/session_json.h"

#include "base/json_write.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "model/fields.h"
#include "model/json_fields.h"
#include "reprise/store.h"

namespace reprise::cli {
namespace {

using model::JsonForm;

std::string array_of(const std::vector<std::string>& texts) {
  std::string out;
  json::ArrayWriter array(out);
  for (const std::string& text : texts) {
    array.item();
    json::append_string(out, text);
  }
  array.close();
  return out;
}

// A session's own fields, some of which scripts get in words of their own.
struct InfoWriter {
  json::ObjectWriter& object;
  const SessionInfo& info;

  template <class Value>
  void write(std::string_view name, const Value& value) const {
    model::append_json(object.key(name), value, JsonForm::shown);
  }
  void write(std::string_view name, SessionState /*state*/) const {
    object.field(name, state_text(info));
  }
  void write(std::string_view name, const std::optional<ForkOrigin>& origin) const {
    if (origin) {
      object.field(name, origin->session.str()).field(model::kForkedAt, origin->at.value);
    } else {
      object.null(name);
    }
  }
};

}  // namespace

std::string_view state_text(const SessionInfo& info) {
  return is_interrupted(info) ? "interrupted" : to_string(info.state);
}

std::string short_id_text(const SessionId& id) {
  return short_id(id).value_or(id.str());
}

void append_info(json::ObjectWriter& object, const SessionInfo& info) {
  object.field("id", info.id.str()).field("short_id", short_id_text(info.id));
  const InfoWriter writer{object, info};
  model::for_each(model::kInfoFields,
                  [&](const auto& field) { writer.write(field.shown, info.*field.member); });
}

std::string session_document(const Session& session, const std::vector<std::string>& response_ids) {
  std::string out;
  json::ObjectWriter object(out);
  append_info(object, session.info);
  object.field("system_prompt", session.system_prompt).raw("config", session.config.text());
  model::append_json(object.key("usage"), session.usage, JsonForm::shown);
  object.raw("response_ids", array_of(response_ids));
  if (!session.prompt_history.empty()) {
    object.raw("prompt_history", array_of(session.prompt_history));
  }
  object.close();
  return out;
}

Result<Exit> show_session(Context& context, Store& store, const SessionId& id) {
  if (context.globals().json) {
    REPRISE_ASSIGN(const Session session, get(store, id));
    std::string out;
    json::ObjectWriter object(out);
    append_info(object, session.info);
    object.close();
    context.voice().print_json(out);
  }
  return Exit::done;
}

std::string message_document(const Message& message) {
  std::string out;
  model::append_json(out, message, JsonForm::shown);
  return out;
}

std::string todos_document(const std::vector<Todo>& todos) {
  std::string out;
  model::append_json(out, todos, JsonForm::shown);
  return out;
}

std::string damage_document(const std::vector<Damage>& damage) {
  std::string out;
  json::ArrayWriter array(out);
  for (const Damage& part : damage) {
    array.item();
    json::ObjectWriter object(out);
    object.field("where", part.where).field("reason", part.reason).close();
  }
  array.close();
  return out;
}

}  // namespace reprise::cli
