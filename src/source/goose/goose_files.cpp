#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "source/goose/goose.h"
#include "source/records.h"
#include "source/transcript.h"

namespace reprise::source::goose {
namespace {

namespace fs = std::filesystem;

bool is_header(JsonView line) {
  return line["working_dir"] && !line["role"] && (line["message_count"] || line["description"]);
}

void take_header(JsonView line, Session& session) {
  session.info.title = title_of(line["description"].text());
  session.info.working_dir = line["working_dir"].text();
  session.info.created_at = sniffed_time(line["created_at"]).value_or(Time{});
  session.usage.input = {line["accumulated_input_tokens"].count()};
  session.usage.output = {line["accumulated_output_tokens"].count()};
  add_rest(session.extra, "goose", line, {"description", "working_dir"});
}

void take_message(const Record& record, OpenSession& open) {
  const auto [role_json, content, metadata, created] =
      record.json.members({"role", "content", "metadata", "created"});
  Node node{.at = record.at, .bytes = static_cast<std::int32_t>(record.bytes())};
  node.is_message = true;
  node.is_mark = is_injected_message(metadata);
  open.tree.add(node, record.json.raw());
  SessionInfo& info = open.session.info;
  const Time time = sniffed_time(created).value_or(Time{});
  info.created_at = info.created_at == Time{} ? time : info.created_at;
  info.updated_at = std::max(info.updated_at, time);
  if (info.title.empty() && !node.is_mark) {
    info.title = title_of(question_of(role_json.text(), content));
  }
}

Result<Message> message_at(const fs::path& file, const Node& node) {
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  std::string line(static_cast<std::size_t>(node.bytes), '\0');
  REPRISE_ASSIGN(const std::size_t got, read_at(fd.get(), line, node.at, file));
  if (got != line.size() || !is_json_object(line)) {
    return fail(Code::corrupt, "the line is not what it was");
  }
  const auto [role_json, content, metadata, created] =
      JsonView(line).members({"role", "content", "metadata", "created"});
  Message message = message_of(role_json.text(), content, metadata);
  message.created_at = sniffed_time(created).value_or(Time{});
  return message;
}

}  // namespace

bool is_session_file(const fs::path& file) {
  return has_lines_of(file, 0, is_header).value_or(false);
}

Result<std::shared_ptr<const OpenSession>> open_file_session(const fs::path& file) {
  auto open = std::make_shared<OpenSession>(
      OpenSession{.session = {.info = {.id = session_id_of(file.stem().native()),
                                       .state = SessionState::closed}}});
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  REPRISE_TRY(
      for_each_record(fd.get(), {.file = file}, false, open->report, [&](const Record& record) {
        if (record.json["role"]) {
          take_message(record, *open);
        } else if (is_header(record.json)) {
          take_header(record.json, open->session);
        }
      }));
  count_messages(*open);
  open->message = [file](std::span<const Node> nodes) { return message_at(file, nodes.front()); };
  return open;
}

}  // namespace reprise::source::goose
