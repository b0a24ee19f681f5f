#include <time.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/types.h"
#include "source/document_tool.h"
#include "source/kinds.h"
#include "source/tool_source.h"
#include "source/transcript.h"
#include "source/tree.h"
#include "source/yaml.h"

namespace reprise::source::aichat {
namespace {

// Where aichat appends turns outside of sessions: a heading with the time, the question, the
// answer. The whole file is one session.
constexpr std::string_view kLogFile = "messages.md";
constexpr std::string_view kHeading = "# CHAT: ";
constexpr std::string_view kRule = "\n--------\n";

// Calls may lack ids; then an id is made from the position in the session.
std::string id_of_call(JsonView call, std::int64_t message, std::size_t number) {
  const std::string id = call["id"].text();
  return id.empty() ? cat("call-", message, "-", number) : id;
}

// aichat stores the answer, its calls and their results in one message. This is the answer and the
// calls.
Message call_message(JsonView content, std::int64_t number) {
  Message message{.role = std::string(role::kAssistant)};
  if (!content["text"].text().empty()) {
    message.blocks.emplace_back(TextBlock{content["text"].text(), {}});
  }
  std::size_t count = 0;
  content["tool_results"].each([&](JsonView result) {
    const JsonView call = result["call"];
    const JsonView arguments = call["arguments"];
    message.blocks.emplace_back(ToolUseBlock{
        id_of_call(call, number, count++), call["name"].text(), arguments_of(arguments), {}});
  });
  return message;
}

Message result_message(JsonView content, std::int64_t number) {
  Message message{.role = std::string(role::kTool)};
  std::size_t count = 0;
  content["tool_results"].each([&](JsonView result) {
    message.blocks.emplace_back(
        tool_result(id_of_call(result["call"], number, count++), text_or_json(result["output"])));
  });
  return message;
}

Message text_message(std::string_view role, std::string_view text, Time time) {
  return {.role = std::string(role),
          .blocks = {TextBlock{utf8::sanitize(trimmed(text)), {}}},
          .created_at = time};
}

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

// An answer begins with its calls and their results as JSON in a line of its own, and the text
// before them. Adds these and returns the rest.
std::string_view add_calls(std::string_view answer, Time time, std::vector<Message>& messages) {
  constexpr std::string_view kBegin = "<tool_calls>\n";
  constexpr std::string_view kEnd = "\n</tool_calls>";
  const std::size_t end = answer.find(kEnd);
  if (!answer.starts_with(kBegin) || end == std::string_view::npos) {
    return answer;
  }
  const std::string_view before = answer.substr(0, end);
  const std::size_t line = before.rfind('\n') + 1;
  const auto results = RawJson::parse(std::string(before.substr(line)));
  if (!results || !JsonView(results->text()).is(json::Kind::array)) {
    return answer;
  }
  const std::string text =
      utf8::sanitize(trimmed(before.substr(kBegin.size(), line - kBegin.size())));
  const std::string content =
      cat(R"({"text":)", RawJson::string(text).text(), R"(,"tool_results":)", results->text(), "}");
  const auto number = static_cast<std::int64_t>(messages.size());
  messages.push_back(call_message(JsonView(content), number));
  messages.push_back(result_message(JsonView(content), number));
  messages[messages.size() - 2].created_at = messages.back().created_at = time;
  return answer.substr(end + kEnd.size());
}

// The question ends at the first rule, the answer at the last one.
void add_turn(std::string_view turn, std::vector<Message>& messages) {
  const std::string_view heading = first_line(turn);
  const Time time = time_in_heading(heading).value_or(Time{});
  std::string_view body = turn.substr(std::min(heading.size() + 1, turn.size()));
  const std::size_t middle = body.find(kRule);
  messages.push_back(text_message(role::kUser, body.substr(0, middle), time));
  if (middle == std::string_view::npos) {
    return;
  }
  body.remove_prefix(middle + kRule.size());
  const std::size_t end = cat("\n", body).rfind(kRule);
  const std::string_view answer =
      end == std::string::npos ? body : body.substr(0, end == 0 ? 0 : end - 1);
  const std::string_view text = add_calls(answer, time, messages);
  if (!trimmed(text).empty()) {
    messages.push_back(text_message(role::kAssistant, text, time));
  }
}

Result<std::shared_ptr<OpenSession>> open_log(const SessionId& id,
                                              const std::filesystem::path& file) {
  REPRISE_ASSIGN(const auto text, read_document(file));
  auto messages = std::make_shared<std::vector<Message>>();
  for (std::size_t at = find_heading(*text, 0); at < text->size();) {
    const std::size_t next = find_heading(*text, at + 1);
    add_turn(std::string_view(*text).substr(at, next - at), *messages);
    at = next;
  }
  REPRISE_ASSIGN(Session session, session_of_file(id, file));
  auto open = std::make_shared<OpenSession>(OpenSession{.session = std::move(session)});
  SessionInfo& info = open->session.info;
  info.title = file.filename().native();
  if (!messages->empty()) {
    info.created_at = messages->front().created_at;
    info.updated_at = messages->back().created_at;
  }
  for (std::size_t i = 0; i < messages->size(); ++i) {
    Node node{.at = static_cast<std::int64_t>(i)};
    node.is_message = true;
    open->tree.add(node, "");
  }
  count_messages(*open);
  open->message = [messages](std::span<const Node> nodes) -> Result<Message> {
    return (*messages)[static_cast<std::size_t>(nodes.front().at)];
  };
  return open;
}

}  // namespace
}  // namespace reprise::source::aichat

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAichat = "aichat";

void add_aichat_content(JsonView content, std::vector<Block>& blocks) {
  if (!content.text().empty()) {
    blocks.emplace_back(TextBlock{content.text(), {}});
  }
  content.each([&](JsonView part) {
    const std::string type = part["type"].text();
    const std::string url = part["image_url"]["url"].text();
    if (type == "text") {
      blocks.emplace_back(TextBlock{part["text"].text(), {}});
    } else if (type == "image_url" && !url.empty()) {
      blocks.emplace_back(image_at(url));
    } else {
      blocks.push_back(unknown_block(part));
    }
  });
}

// `number` is the message's position in the session.
Message message_of_aichat(JsonView json, std::int64_t number, bool is_result) {
  const std::string role = json["role"].text();
  if (role == role::kTool) {
    return is_result ? aichat::result_message(json["content"], number)
                     : aichat::call_message(json["content"], number);
  }
  Message message{.role = role};
  add_aichat_content(json["content"], message.blocks);
  if (role == role::kSystem) {
    mark_injected(message);
  }
  add_unknown_members(message.extra, kAichat, json, {"role", "content"});
  return message;
}

// The time in names that the program generates, which is local: "20260102T030405-name".
std::optional<Time> time_in_name(std::string_view name) {
  constexpr std::size_t kLength = 15;
  if (name.size() < kLength || name[8] != 'T' ||
      !std::ranges::all_of(name.substr(0, 8), is_ascii_digit) ||
      !std::ranges::all_of(name.substr(9, 6), is_ascii_digit)) {
    return std::nullopt;
  }
  const auto part = [&](std::size_t at, std::size_t length) { return name.substr(at, length); };
  const auto utc = parse_time(cat(part(0, 4), "-", part(4, 2), "-", part(6, 2), "T", part(9, 2),
                                  ":", part(11, 2), ":", part(13, 2), "Z"));
  if (!utc) {
    return std::nullopt;
  }
  const std::time_t seconds = std::chrono::system_clock::to_time_t(*utc);
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) {
    return utc;
  }
  parts.tm_isdst = -1;
  return Time(std::chrono::seconds(std::mktime(&parts)));
}

SessionId aichat_id(const fs::path& file) {
  return session_id_of(file.stem().native());
}

// Names that the user chose are unique in the folder of sessions, and the log's in the tool's.
bool has_unique_aichat_id(const fs::path& file, const fs::path& location) {
  const fs::path folder = file.parent_path();
  return file == location || folder == location || folder == location / "sessions" ||
         time_in_name(file.stem().native());
}

struct AichatMessages {
  RawJson json;
  std::vector<JsonView> messages;
};

Result<std::shared_ptr<OpenSession>> open_aichat_file(const fs::path& file) {
  if (file.filename() == aichat::kLogFile) {
    return aichat::open_log(aichat_id(file), file);
  }
  REPRISE_ASSIGN(const auto text, read_document(file));
  auto stored = std::make_shared<AichatMessages>();
  REPRISE_ASSIGN(stored->json, json_of_yaml(*text));
  const JsonView json(stored->json.text());
  if (!json["model"] || !json["messages"].is(json::Kind::array)) {
    return fail(Code::corrupt, "not a session of aichat");
  }
  REPRISE_ASSIGN(Session session, session_of_file(aichat_id(file), file));
  auto open = std::make_shared<OpenSession>(OpenSession{.session = std::move(session)});
  SessionInfo& info = open->session.info;
  const std::string model = json["model"].text();
  const std::size_t colon = model.find(':');
  info.provider = colon == std::string::npos ? "" : model.substr(0, colon);
  info.model = colon == std::string::npos ? model : model.substr(colon + 1);
  info.created_at = time_in_name(file.stem().native()).value_or(info.created_at);
  add_unknown_members(open->session.extra, kAichat, json, {"messages", "compressed_messages"});
  const auto take = [&](JsonView message) {
    const bool has_calls = message["role"].text() == role::kTool;
    Node node{.at = static_cast<std::int64_t>(stored->messages.size())};
    node.is_message = true;
    node.is_injected = message["role"].text() == role::kSystem;
    stored->messages.push_back(message);
    open->tree.add(node, message.raw());
    if (has_calls) {
      node.detail = 1;
      open->tree.add(node, message.raw());
    }
    if (info.title.empty() && message["role"].text() == role::kUser) {
      std::vector<Block> blocks;
      add_aichat_content(message["content"], blocks);
      info.title = title_of(plain_text(Message{.blocks = std::move(blocks)}));
    }
  };
  json["compressed_messages"].each(take);
  json["messages"].each(take);
  // A name that the user chose is the title.
  if (!time_in_name(file.stem().native())) {
    info.title = title_of(file.stem().native());
  }
  count_messages(*open);
  open->message = [stored, provider = info.provider,
                   name = info.model](std::span<const Node> nodes) -> Result<Message> {
    const Node& node = nodes.front();
    Message message = message_of_aichat(stored->messages[static_cast<std::size_t>(node.at)],
                                        node.at, node.detail == 1);
    if (message.role == role::kAssistant) {
      message.provider = provider;
      message.model = name;
    }
    return message;
  };
  return open;
}

std::vector<fs::path> aichat_files(const fs::path& location, ReadReport& report) {
  const auto is_session = [](const fs::path& file) {
    return file.extension() == ".yaml" || file.filename() == aichat::kLogFile;
  };
  const auto is_log = [](const fs::path& file) { return file.filename() == aichat::kLogFile; };
  if (!has_folder(location, report)) {
    return is_session(location) ? std::vector{location} : std::vector<fs::path>();
  }
  if (!has_folder(location / "sessions", report) && !has_folder(location / "agents", report)) {
    return files_below(location, 1, is_session, report);
  }
  std::vector<fs::path> files = files_below(location / "sessions", 2, is_session, report);
  std::ranges::move(files_below(location, 0, is_log, report), std::back_inserter(files));
  // agents/<agent>/sessions/…; nothing else below agents/ is a session.
  for (const fs::path& file : files_below(location / "agents", 3, is_session, report)) {
    if (is_log(file) || std::ranges::find(file, fs::path("sessions")) != file.end()) {
      files.push_back(file);
    }
  }
  return files;
}

constexpr DocumentForm kAichatForm = {.name = "aichat",
                                      .files = aichat_files,
                                      .id_of = aichat_id,
                                      .open = open_aichat_file,
                                      .has_unique_id = has_unique_aichat_id};

}  // namespace

Result<bool> is_aichat(const fs::path& location) {
  return has_documents(location, kAichatForm);
}

Result<std::unique_ptr<Source>> open_aichat(const fs::path& location, const StoreOptions& options) {
  REPRISE_TRY(check_exists(location));
  return open_documents(location, kAichatForm, options);
}

}  // namespace reprise::source
