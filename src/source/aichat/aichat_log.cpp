#include "source/aichat/aichat_log.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "source/document_tool.h"

namespace reprise::source::aichat {
namespace {

constexpr std::string_view kHeading = "# CHAT: ";
constexpr std::string_view kRule = "\n--------\n";

struct Part {
  std::string_view role;
  std::string text;
  Time time;
};

// The time in a heading such as "# CHAT: How are you? [2026-11-20T10:00:00+01:00]".
std::optional<Time> time_in_heading(std::string_view line) {
  const std::size_t begin = line.rfind('[');
  const std::size_t end = line.rfind(']');
  return line.starts_with(kHeading) && begin != std::string_view::npos && end > begin &&
                 end != std::string_view::npos
             ? parse_time(line.substr(begin + 1, end - begin - 1))
             : std::nullopt;
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// The position of the next heading, or the end. A line without a valid time is no heading.
std::size_t find_heading(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size();) {
    if (time_in_heading(first_line(text.substr(at)))) {
      return at;
    }
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return text.size();
}

// The question ends at the first rule, the answer at the last one.
void add_turn(std::string_view turn, std::vector<Part>& parts) {
  const std::string_view heading = first_line(turn);
  const Time time = time_in_heading(heading).value_or(Time{});
  std::string_view body = turn.substr(std::min(heading.size() + 1, turn.size()));
  const std::size_t middle = body.find(kRule);
  parts.push_back({role::kUser, utf8::sanitize(trimmed(body.substr(0, middle))), time});
  if (middle == std::string_view::npos) {
    return;
  }
  body.remove_prefix(middle + kRule.size());
  const std::size_t end = cat("\n", body).rfind(kRule);
  const std::string_view answer =
      end == std::string::npos ? body : body.substr(0, end == 0 ? 0 : end - 1);
  if (!trimmed(answer).empty()) {
    parts.push_back({role::kAssistant, utf8::sanitize(trimmed(answer)), time});
  }
}

}  // namespace

Result<std::shared_ptr<OpenSession>> open_log(const SessionId& id,
                                              const std::filesystem::path& file) {
  REPRISE_ASSIGN(const auto text, read_document(file));
  auto parts = std::make_shared<std::vector<Part>>();
  for (std::size_t at = find_heading(*text, 0); at < text->size();) {
    const std::size_t next = find_heading(*text, at + 1);
    add_turn(std::string_view(*text).substr(at, next - at), *parts);
    at = next;
  }
  REPRISE_ASSIGN(Session session, session_of_file(id, file));
  auto open = std::make_shared<OpenSession>(OpenSession{.session = std::move(session)});
  SessionInfo& info = open->session.info;
  info.title = file.filename().native();
  if (!parts->empty()) {
    info.created_at = parts->front().time;
    info.updated_at = parts->back().time;
  }
  for (std::size_t i = 0; i < parts->size(); ++i) {
    Node node{.at = static_cast<std::int64_t>(i)};
    node.is_message = true;
    open->tree.add(node, (*parts)[i].text);
  }
  count_messages(*open);
  open->message = [parts](std::span<const Node> nodes) -> Result<Message> {
    const Part& part = (*parts)[static_cast<std::size_t>(nodes.front().at)];
    return Message{.role = std::string(part.role),
                   .blocks = {TextBlock{part.text, {}}},
                   .created_at = part.time};
  };
  return open;
}

}  // namespace reprise::source::aichat
