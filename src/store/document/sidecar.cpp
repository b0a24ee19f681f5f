#include "store/document/sidecar.h"

#include <algorithm>
#include <type_traits>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "model/fields.h"
#include "model/json_fields.h"
#include "model/known_time.h"
#include "reprise/message.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

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

// Writes the fields of a list in which `owner` differs from `native`.
struct ChangeWriter {
  json::ObjectWriter& object;

  void write(std::string_view name, const std::optional<ForkOrigin>& origin) const {
    if (origin) {
      object.field(name, origin->session.str()).field(model::kForkedAt, origin->at.value);
    }
  }
  template <class Value>
  void write(std::string_view name, const Value& value) const {
    if constexpr (requires { to_text(value); } && !std::is_same_v<Value, std::string>) {
      object.raw(name, to_text(value));
    } else {
      model::append_json(object.key(name), value, model::JsonForm::stored);
    }
  }
  template <class Owner, class Value>
  void write_changed(const model::Field<Owner, Value>& field, const Owner& owner,
                     const Owner& native) const {
    if (!field.derived && owner.*field.member != native.*field.member) {
      write(field.name, owner.*field.member);
    }
  }
};

void write_session(json::ObjectWriter& object, const Session& session, const Session& native) {
  const ChangeWriter writer{object};
  for (const bool are_texts : {true, false}) {  // texts first
    model::for_each(model::kInfoFields,
                    [&]<class Value>(const model::Field<SessionInfo, Value>& field) {
                      if (std::is_same_v<Value, std::string> == are_texts) {
                        writer.write_changed(field, session.info, native.info);
                      }
                    });
  }
  model::for_each(model::kSessionFields,
                  [&](const auto& field) { writer.write_changed(field, session, native); });
}

// [["ID",texts first,head],…], oldest first.
void write_operations(json::ObjectWriter& object, const StoredSession& stored) {
  if (stored.operations.empty()) {
    return;
  }
  auto newest = operations_in_order(stored);
  if (newest.size() > kOperationsMax) {
    newest.erase(newest.begin(), newest.end() - kOperationsMax);
  }
  std::string out;
  json::ArrayWriter array(out);
  for (const auto& [id, done] : newest) {
    array.item();
    out += '[';
    json::append_string(out, id.str());
    out.append(",").append(std::to_string(done.first.value));
    out.append(",").append(std::to_string(done.head.value)).append("]");
  }
  array.close();
  object.raw("operations", out);
}

void write_raw_entry(json::ObjectWriter& object, const StoredSession& stored) {
  write_operations(object, stored);
  if (stored.partial) {
    object.raw("answering", answer_to_json(start_of(*stored.partial)));
  }
  if (!stored.replaced.empty()) {
    std::string out;
    json::ArrayWriter array(out);
    for (const SharedMessage& message : stored.replaced) {
      array.item();
      out += message_to_json(*message);
    }
    array.close();
    object.raw("replaced", out);
  }
  if (stored.session.info.state == SessionState::trashed) {
    object.field("state_before_trash", to_string(stored.state_before_trash));
  }
}

// Reads the members of a sidecar into a session.
class SidecarReader {
 public:
  SidecarReader(json::Scanner& scanner, StoredSession& stored)
      : scanner_(scanner), stored_(stored), session_(stored.session) {}

  // false if the value cannot be read.
  bool member(std::string_view name) {
    if (name == "operations") {
      return scanner_.array([this] { return operation(); });
    }
    if (name == "replaced") {
      return scanner_.array([this] { return replaced(); });
    }
    if (name == model::kForkedAt) {
      return scanner_.integer(forked_at_.value) && is_valid_head(forked_at_);
    }
    if (name == "state_before_trash") {
      return read(stored_.state_before_trash);
    }
    if (name == "answering") {
      return answering();
    }
    const auto read_into = [this](auto& owner) {
      return [this, &owner](const auto& field) {
        return field.derived ? scanner_.skip() : read(owner.*field.member);
      };
    };
    if (const auto read = visit_named(model::kInfoFields, name, read_into(session_.info))) {
      return *read;
    }
    const auto read = visit_named(model::kSessionFields, name, read_into(session_));
    return read ? *read : scanner_.skip();
  }

  void finish() {
    if (forked_from_) {
      session_.info.forked_from = ForkOrigin{*forked_from_, forked_at_};
    }
  }

 private:
  bool read(std::string& out) { return scanner_.string(out); }
  bool read(bool& out) { return scanner_.boolean(out); }

  // Leaves `out` unchanged if the value is not a string.
  template <class Value, class Parse>
  bool parse(Value& out, const Parse& parse) {
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    if (!raw.starts_with('"')) {
      return true;
    }
    const auto parsed = parse(raw.substr(1, raw.size() - 2));
    if (parsed) {
      out = *parsed;  // NOLINT(bugprone-optional-value-conversion): into one or not, as it is
    }
    return parsed.has_value();
  }
  bool read(SessionState& out) { return parse(out, parse_session_state); }
  bool read(Time& out) {
    if (scanner_.kind() == json::Kind::null) {
      out = kUnknownTime;
      return scanner_.null();
    }
    return parse(out, parse_time);
  }
  bool read(std::optional<Time>& out) {
    using Parsed = std::optional<std::optional<Time>>;
    return parse(out, [](std::string_view text) {
      const auto time = parse_time(text);
      return time || text.empty() ? Parsed(std::in_place, time) : Parsed();
    });
  }
  bool read(std::optional<ForkOrigin>& /*out*/) {
    return parse(forked_from_, [](std::string_view text) {
      auto id = SessionId::parse(text);
      return id ? std::optional(*std::move(id)) : std::nullopt;
    });
  }
  bool read(Seq& /*out*/) { return scanner_.skip(); }
  bool read(Usage& out) { return model::read_fields(scanner_, model::kUsageFields, out = Usage()); }
  template <class Value>
    requires requires(std::string_view text, Value& out) { from_text(text, out); }
  bool read(Value& out) {
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    from_text(raw, out);
    return true;
  }

  bool answering() {
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    auto running = answer_from_json(raw);
    if (!running) {
      return false;
    }
    session_.info.answering = running->owner;
    stored_.partial = *std::move(running);
    return true;
  }

  bool operation() {
    std::string id;
    AppendResult done;
    int at = 0;
    const bool is_valid = scanner_.array([&] {
      switch (at++) {
        case 0:
          return scanner_.string(id);
        case 1:
          return scanner_.integer(done.first.value);
        case 2:
          return scanner_.integer(done.head.value);
        default:
          return false;
      }
    });
    const auto operation = OperationId::parse(id);
    if (!is_valid || at != 3 || !operation || !is_valid_head(done.first) ||
        !is_valid_head(done.head)) {
      return false;
    }
    add_operation(stored_, *operation, done.first, done.head);
    return true;
  }

  bool replaced() {
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    auto message = message_from_json(raw);
    if (!message) {
      return false;
    }
    if (const std::optional<Usage>& usage = message->usage; usage && !usage->request_id.empty()) {
      stored_.counted_requests.insert(usage->request_id);
    }
    stored_.replaced.push_back(std::make_shared<const Message>(*std::move(message)));
    return true;
  }

  json::Scanner& scanner_;
  StoredSession& stored_;
  Session& session_;
  std::optional<SessionId> forked_from_;
  Seq forked_at_;
};

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

std::string session_sidecar(const StoredSession& stored, const Session& native) {
  std::string out;
  json::ObjectWriter object(out);
  write_session(object, stored.session, native);
  write_raw_entry(object, stored);
  object.close();
  return out == "{}" ? "" : out;
}

Result<> add_session_sidecar(StoredSession& native, std::string_view sidecar) {
  json::Scanner scanner(sidecar);
  SidecarReader reader(scanner, native);
  if (!scanner.object([&reader](std::string_view name) { return reader.member(name); }) ||
      !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  reader.finish();
  return {};
}

}  // namespace reprise::store
