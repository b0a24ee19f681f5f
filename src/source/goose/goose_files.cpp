#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/text.h"
#include "source/document_tool.h"
#include "source/goose/goose.h"
#include "source/records.h"
#include "source/transcript.h"

namespace reprise::source::goose {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".jsonl";

bool is_header(JsonView line) {
  return line["working_dir"] && !line["role"] && (line["message_count"] || line["description"]);
}

void take_header(JsonView line, Session& session) {
  session.info.title = title_of_session(line["name"].text(), line["description"].text(),
                                        line["user_set_name"].raw() == "true");
  session.info.working_dir = line["working_dir"].text();
  session.info.created_at = sniffed_time(line["created_at"]).value_or(Time{});
  const JsonView sum = line["accumulated_usage"];  // in newer versions
  session.usage.input = {(sum ? sum["input_tokens"] : line["accumulated_input_tokens"]).count()};
  session.usage.output = {(sum ? sum["output_tokens"] : line["accumulated_output_tokens"]).count()};
  session.usage.cached = {sum["cache_read_input_tokens"].count()};
  session.usage.cache_written = {sum["cache_write_input_tokens"].count()};
  const Time updated_at = sniffed_time(line["updated_at"]).value_or(Time{});
  session.info.updated_at = std::max(session.info.updated_at, updated_at);
  if (!line["archived_at"].text().empty()) {
    session.info.state = SessionState::archived;
  }
  session.info.provider = line["provider_name"].text();
  session.info.model = line["model_config"]["model_name"].text();
  session.usage.cost = cost_of(line["accumulated_cost"]);
  session.usage.price_source = session.usage.cost ? "goose" : "";
  add_unknown_members(session.extra, "goose", line,
                      {"name", "description", "working_dir", "conversation"});
}

// `at` is its offset in the file.
void take_message(JsonView json, std::int64_t at, OpenSession& open, Repetitions& repetitions) {
  const auto [role_json, content, metadata, created] =
      json.members({"role", "content", "metadata", "created"});
  Node node{.at = at, .bytes = static_cast<std::int32_t>(json.raw().size())};
  node.is_message = true;
  node.is_injected =
      repetitions.is_next(role_json.text(), content, metadata) || is_injected_message(metadata);
  open.tree.add(node, json.raw());
  SessionInfo& info = open.session.info;
  const Time time = sniffed_time(created).value_or(Time{});
  info.created_at = info.created_at == Time{} ? time : info.created_at;
  info.updated_at = std::max(info.updated_at, time);
  if (info.title.empty() && !node.is_injected) {
    info.title = title_of(question_of(role_json.text(), content));
  }
}

Message message_of_json(JsonView json, const Node& node) {
  const auto [role_json, content, metadata, created] =
      json.members({"role", "content", "metadata", "created"});
  Message message = message_of(role_json.text(), content, metadata);
  message.created_at = sniffed_time(created).value_or(Time{});
  mark_repetition(node, message);
  return message;
}

Result<Message> message_at(const fs::path& file, const Node& node) {
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  REPRISE_ASSIGN(const std::string line,
                 read_range(fd.get(), node.at, static_cast<std::size_t>(node.bytes), file));
  if (!is_json_object(line)) {
    return fail(Code::conflict, cat(file.native(), " has changed while it was read"));
  }
  return message_of_json(JsonView(line), node);
}

Result<bool> is_export(const fs::path& file) {
  if (file.extension() == kSuffix) {
    return false;
  }
  const auto text = read_document(file);
  if (!text && text.error().code == Code::io) {
    return std::unexpected(text.error());
  }
  const auto [id, folder, conversation] =
      text && is_json_object(**text)
          ? JsonView(**text).members({"id", "working_dir", "conversation"})
          : std::array<JsonView, 3>();
  return id && folder && conversation.is(json::Kind::array);
}

Result<std::shared_ptr<const OpenSession>> open_export(const fs::path& file) {
  ReadReport report;
  REPRISE_ASSIGN(const auto text, read_json_document(file, "conversation", report));
  const JsonView json(*text);
  auto open = std::make_shared<OpenSession>(OpenSession{
      .session = {.info = {.id = session_id_of(json["id"].text()), .state = SessionState::closed}},
      .is_child = json["session_type"].text() == "sub_agent"});
  open->report = std::move(report);
  take_header(json, open->session);
  Repetitions repetitions;
  json["conversation"].each([&](JsonView message) {
    take_message(message, message.raw().data() - text->data(), *open, repetitions);
  });
  count_messages(*open);
  open->message = [text](std::span<const Node> nodes) -> Result<Message> {
    return message_of_json(json_at(*text, nodes.front()), nodes.front());
  };
  return open;
}

}  // namespace

Result<bool> is_session_file(const fs::path& file) {
  REPRISE_ASSIGN(const bool has_lines, has_lines_of(file, 0, is_header));
  return has_lines ? Result<bool>(true) : is_export(file);
}

Result<SessionId> id_of_file(const fs::path& file) {
  if (file.extension() == kSuffix) {
    return session_id_of(file.stem().native());
  }
  ReadReport report;  // as open_export() reads it, which reports the damage
  REPRISE_ASSIGN(const auto text, read_json_document(file, "conversation", report));
  return session_id_of(JsonView(*text)["id"].text());
}

Result<std::shared_ptr<const OpenSession>> open_file_session(const fs::path& file) {
  if (file.extension() != kSuffix) {
    return open_export(file);
  }
  REPRISE_ASSIGN(const SessionId id, id_of_file(file));
  auto open = std::make_shared<OpenSession>(
      OpenSession{.session = {.info = {.id = id, .state = SessionState::closed}}});
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  Repetitions repetitions;
  REPRISE_TRY(
      for_each_record(fd.get(), {.file = file}, {}, open->report, [&](const Record& record) {
        if (record.json["role"]) {
          take_message(record.json, record.at, *open, repetitions);
        } else if (is_header(record.json)) {
          take_header(record.json, open->session);
        }
      }));
  count_messages(*open);
  open->message = [file](std::span<const Node> nodes) { return message_at(file, nodes.front()); };
  return open;
}

}  // namespace reprise::source::goose
