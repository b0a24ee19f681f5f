#include "store/chatdir/chat_metadata.h"

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/json_fields.h"
#include "model/known_time.h"
#include "store/chatdir/log_end.h"
#include "store/chatdir/trailer.h"
#include "store/document/sidecar.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store::chatdir {
namespace {

constexpr int kVersion = 1;

std::string chat_to_json(const ChatMetadata& metadata) {
  const Session native{.info = {.id = metadata.stored.session.info.id}};
  const std::string session = session_sidecar(metadata.stored, native);
  std::string out;
  json::ObjectWriter object(out);
  object.raw("session", session.empty() ? "{}" : session);
  if (!metadata.stored.todos.empty()) {
    object.raw("todos", todos_to_json(metadata.stored.todos));
  }
  const auto& [question, messages] = metadata.described;
  const std::string described =
      question.empty() ? "" : cat(R"(,"question":")", question, R"(","messages":)", messages);
  object.raw("log", cat(R"({"end":)", metadata.log.end, R"(,"tail":")", metadata.log.tail, "\"",
                        described, "}"));
  object.close();
  return out;
}

bool read_log_point(json::Scanner& scanner, LogPoint& log, Described& described) {
  return scanner.object([&](std::string_view name) {
    if (name == "end") {
      return scanner.integer(log.end);
    }
    if (name == "messages") {
      return scanner.integer(described.messages);
    }
    if (name == "question") {
      return scanner.string(described.question);
    }
    std::string text;
    if (name != "tail" || !scanner.string(text)) {
      return scanner.skip();
    }
    const auto tail = parse_number<std::uint64_t>(text);
    log.tail = tail.value_or(0);
    return tail.has_value();
  });
}

// false if the name is not a member of a chat's metadata.
Result<bool> read_chat_member(json::Scanner& scanner, std::string_view name,
                              ChatMetadata& metadata) {
  std::string_view raw;
  if (name == "log") {
    if (!read_log_point(scanner, metadata.log, metadata.described)) {
      return std::unexpected(scanner.fault());
    }
    return true;
  }
  if (name != "session" && name != "todos") {
    return false;
  }
  if (!scanner.raw(raw)) {
    return std::unexpected(scanner.fault());
  }
  if (name == "todos") {
    REPRISE_ASSIGN(metadata.stored.todos, todos_from_json(raw));
  } else {
    REPRISE_TRY(add_session_sidecar(metadata.stored, raw));
  }
  return true;
}

class MetadataReader {
 public:
  MetadataReader(const SessionId& id, std::string_view json)
      : id_(id), scanner_(json), metadata_(id) {}

  Result<MetadataFile> read() {
    if (!scanner_.object([this](std::string_view name) { return member(name); }) ||
        !scanner_.end()) {
      return std::unexpected(error_ ? *error_ : scanner_.fault());
    }
    return std::move(metadata_);
  }

 private:
  bool member(std::string_view name) {
    if (name == "version") {
      return scanner_.skip();
    }
    if (name == "cut") {
      ChatMetadata& truncated = metadata_.after_truncation.emplace(id_);
      return scanner_.object([&](std::string_view inner) {
        const auto known = read_chat_member(scanner_, inner, truncated);
        return accept(known) && (*known || scanner_.skip());
      });
    }
    const auto known = read_chat_member(scanner_, name, metadata_.current);
    return accept(known) && (*known || model::add_extra(scanner_, name, metadata_.others));
  }

  bool accept(const Result<bool>& known) {
    if (!known) {
      error_ = known.error();
    }
    return known.has_value();
  }

  const SessionId& id_;
  json::Scanner scanner_;
  MetadataFile metadata_;
  std::optional<Error> error_;
};

void set_state(StoredSession& stored, State state) {
  stored.session.usage = std::move(state.usage);
  stored.session.info.answering.reset();
  stored.session.info.arrived_at = state.arrived_at;
  if (is_known(state.updated_at)) {
    stored.session.info.updated_at = state.updated_at;
  }
  stored.partial.reset();
  if (state.answering) {
    stored.session.info.answering = state.answering->owner;
    stored.partial = partial_of(*state.answering);
  }
}

}  // namespace

std::string state_to_json(const State& state) {
  std::string out;
  json::ObjectWriter object(out);
  if (state.usage != Usage{}) {
    object.raw("usage", usage_to_json(state.usage));
  }
  if (state.answering) {
    object.raw("answering", answer_to_json(*state.answering));
  }
  if (is_known(state.updated_at)) {
    object.field("updated_at", format_time(state.updated_at));
  }
  if (state.arrived_at) {
    object.field("arrived_at", format_time(*state.arrived_at));
  }
  object.close();
  return out == "{}" ? "" : out;
}

State state_from_json(std::string_view json) {
  State state;
  if (auto usage = usage_from_json(json::find_member(json, "usage")); usage) {
    state.usage = *std::move(usage);
  }
  const auto updated = json::text_in(json::find_member(json, "updated_at"));
  state.updated_at = parse_time(updated.value_or("")).value_or(Time{});
  const auto arrived = json::text_in(json::find_member(json, "arrived_at"));
  state.arrived_at = parse_time(arrived.value_or(""));
  if (auto running = answer_from_json(json::find_member(json, "answering")); running) {
    state.answering = start_of(*running);
  }
  return state;
}

const ChatMetadata& MetadataFile::at(const LogPoint& log) const {
  return after_truncation && after_truncation->log == log ? *after_truncation : current;
}

std::string metadata_to_json(const MetadataFile& metadata) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("version", kVersion);
  const std::string now = chat_to_json(metadata.current);
  json::Scanner scanner(now);
  // Cannot fail: the JSON was just written.
  (void)scanner.object([&](std::string_view name) {
    std::string_view raw;
    const bool complete = scanner.raw(raw);
    object.raw(name, raw);
    return complete;
  });
  if (metadata.after_truncation) {
    object.raw("cut", chat_to_json(*metadata.after_truncation));
  }
  object.extra(metadata.others).close();
  out += '\n';
  return out;
}

Result<MetadataFile> metadata_from_json(const SessionId& id, std::string_view json) {
  return MetadataReader(id, json).read();
}

StoredSession session_at(const MetadataFile& metadata, const LogState& log) {
  const ChatMetadata& base = metadata.at(point_of(log));
  StoredSession stored = base.stored;
  Session& session = stored.session;
  session.info.head = log.head;
  if (base.log == point_of(log)) {
    return stored;
  }
  const Trailer* const trailer = log.trailer.get();
  if (trailer != nullptr && trailer->at >= base.log.end) {
    set_state(stored, state_from_json(trailer->state));
  }
  if (trailer != nullptr && log.trailer_is_last) {
    if (is_known(trailer->created_at)) {
      session.info.updated_at = trailer->created_at;
    }
  } else if (log.head.value > 0) {
    session.info.updated_at = log.changed;
    session.info.arrived_at.reset();
  }
  return stored;
}

bool lacks_usage_of_others(const MetadataFile& metadata, const LogState& log) {
  const ChatMetadata& base = metadata.at(point_of(log));
  const bool is_summed_up =
      !metadata.is_derived || (log.trailer && log.trailer->at >= base.log.end);
  return is_summed_up && base.log != point_of(log) && log.head.value > 0 && !log.trailer_is_last;
}

}  // namespace reprise::store::chatdir
