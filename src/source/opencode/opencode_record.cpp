#include "source/opencode/opencode_record.h"

#include <algorithm>

#include "base/text.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source::opencode {
namespace {

constexpr std::string_view kOpencode = "opencode";

std::string type_of(const RawPart& part) {
  return JsonView(part.json)["type"].text();
}

// Internal marks without content to show.
bool is_note(std::string_view type) {
  return type == "step-start" || type == "step-finish" || type == "snapshot" || type == "patch";
}

bool has_result(const RawPart& part) {
  const std::string status = JsonView(part.json)["state"]["status"].text();
  return status == "completed" || status == "error";
}

void add_file(JsonView part, std::vector<Block>& blocks) {
  const std::string mime = part["mime"].text();
  const std::string url = part["url"].text();
  if (mime.starts_with("image/") || mime == "application/pdf") {
    ImageBlock image = image_at(mime, url);
    add_unknown_members(image.extra, kOpencode, part, {"url", "mime"});
    blocks.emplace_back(std::move(image));
  } else {
    blocks.push_back(unknown_block(part));
  }
}

void add_call(JsonView part, std::vector<Block>& blocks) {
  const JsonView state = part["state"];
  Extra extra;
  add_unknown_members(extra, kOpencode, part, {"callID", "tool", "state"});
  // The output of a tool that was killed is only here.
  if (!state["output"] && !state["error"]) {
    add_unknown_members(extra, "state", state, {"input"});
  }
  blocks.emplace_back(ToolUseBlock{part["callID"].text(), part["tool"].text(),
                                   raw_of(state["input"]), std::move(extra)});
}

void add_result(JsonView part, std::vector<Block>& blocks) {
  const JsonView state = part["state"];
  const bool is_error = state["status"].text() == "error";
  blocks.emplace_back(tool_result(
      part["callID"].text(), text_or_json(is_error ? state["error"] : state["output"]), is_error,
      unknown_members(kOpencode, state, {"input", "output", "error", "attachments"})));
  state["attachments"].each([&](JsonView file) { add_file(file, blocks); });
}

void add_part(const RawPart& raw, bool marks_texts, std::vector<Block>& blocks) {
  const JsonView part(raw.json);
  const std::string type = part["type"].text();
  if (type == "text") {
    TextBlock block{part["text"].text(), {}};
    add_unknown_members(block.extra, kOpencode, part,
                        {"type", "text", "id", "sessionID", "messageID"});
    if (marks_texts && is_true(part["synthetic"])) {
      mark_injected(block);
    }
    if (!block.text.empty()) {
      blocks.emplace_back(std::move(block));
    }
  } else if (type == "reasoning") {
    ThinkingBlock block{part["text"].text(), "", {}};
    add_unknown_members(block.extra, kOpencode, part,
                        {"type", "text", "id", "sessionID", "messageID"});
    blocks.emplace_back(std::move(block));
  } else if (type == "tool") {
    add_call(part, blocks);
  } else if (type == "file") {
    add_file(part, blocks);
  } else if (!is_note(type)) {
    blocks.push_back(unknown_block(part));
  }
}

// A command that the user ran: an answer that took no request and is one finished call.
bool is_command(const RawMessage& message) {
  const JsonView json(message.json);
  return message.parts.size() == 1 && json["role"].text() == role::kAssistant &&
         json["time"]["completed"] && !json["finish"] && !json["error"] &&
         json["tokens"]["input"].count() + json["tokens"]["output"].count() == 0 &&
         type_of(message.parts[0]) == "tool" && has_result(message.parts[0]) &&
         JsonView(message.parts[0].json)["state"]["input"]["command"];
}

// Preserves the segment's marks and the message itself unchanged.
void add_raw(const RawMessage& raw, const Segment& segment, Message& message) {
  add_extra(message.extra, kOpencode, json_in(raw.json));
  std::string notes;
  for (std::size_t i = segment.begin; i < segment.end; ++i) {
    if (is_note(type_of(raw.parts[i]))) {
      notes += cat(notes.empty() ? "[" : ",", json_in(raw.parts[i].json).text());
    }
  }
  if (!notes.empty()) {
    add_extra(message.extra, "opencode_parts", json::take(notes += "]"));
  }
}

Message message_of_command(const RawMessage& raw) {
  const JsonView state = JsonView(raw.parts[0].json)["state"];
  const JsonView output = state["status"].text() == "error" ? state["error"] : state["output"];
  Message message{
      .role = std::string(role::kUser),
      .created_at = sniffed_time(JsonView(raw.json)["time"]["created"]).value_or(Time{})};
  message.blocks.emplace_back(
      TextBlock{cat("$ ", state["input"]["command"].text(), "\n", text_or_json(output)),
                unknown_members(kOpencode, state, {"input", "output", "error"})});
  add_raw(raw, {0, 1, false}, message);
  return message;
}

bool is_cut(JsonView json) {
  const std::string error = json["error"]["name"].text();
  return error == "MessageAbortedError" || error == "MessageOutputLengthError" ||
         json["finish"].text() == "length" || (!json["time"]["completed"] && error.empty());
}

// A fork has copies of the messages with ids of their own, and with the same times.
std::string request_id_of(const RawMessage& message, const Usage& usage) {
  const JsonView time = JsonView(message.json)["time"];
  const std::int64_t created = time["created"].count();
  const std::int64_t completed = time["completed"].count();
  return created == 0 || completed == 0 ? message.id
                                        : cat("opencode:", created, "-", completed, ":",
                                              usage.input.value, "+", usage.output.value);
}

}  // namespace

std::vector<Segment> segments_of(const RawMessage& message) {
  if (is_command(message)) {
    return {{0, 1, false}};
  }
  std::vector<Segment> segments = {{}};
  bool has_tools = false;
  bool has_results = false;
  const auto close = [&](std::size_t at) {
    segments.back().end = at;
    if (has_results) {
      segments.push_back({segments.back().begin, at, true});
    }
  };
  for (std::size_t i = 0; i < message.parts.size(); ++i) {
    const std::string type = type_of(message.parts[i]);
    if (type == "tool") {
      has_tools = true;
      has_results = has_results || has_result(message.parts[i]);
    } else if (has_tools && (type == "text" || type == "reasoning" || type == "step-start")) {
      close(i);
      segments.push_back({i, i, false});
      has_tools = has_results = false;
    }
  }
  close(message.parts.size());
  return segments;
}

std::size_t segments_before(const RawMessage& message, std::string_view part) {
  const auto found = std::ranges::find(message.parts, part, &RawPart::id);
  const auto at = part.empty() ? 0 : static_cast<std::size_t>(found - message.parts.begin());
  const std::vector<Segment> segments = segments_of(message);
  return static_cast<std::size_t>(
      std::ranges::count_if(segments, [at](const Segment& segment) { return segment.begin < at; }));
}

bool is_injected_message(const RawMessage& message) {
  const JsonView json(message.json);
  if (json["role"].text() == role::kAssistant) {
    return is_true(json["summary"]);  // a compaction
  }
  return !message.parts.empty() && std::ranges::all_of(message.parts, [](const RawPart& part) {
    const JsonView fields(part.json);
    return is_true(fields["synthetic"]) || fields["type"].text() == "compaction";
  });
}

std::optional<Usage> usage_of(const RawMessage& message) {
  const JsonView json(message.json);
  const JsonView tokens = json["tokens"];
  Usage usage;
  usage.cached = {tokens["cache"]["read"].count()};
  usage.cache_written = {tokens["cache"]["write"].count()};
  usage.input = TokenCount{tokens["input"].count()} + usage.cached + usage.cache_written;
  usage.reasoning = {tokens["reasoning"].count()};
  usage.output = TokenCount{tokens["output"].count()} + usage.reasoning;
  usage.cost = cost_of(json["cost"]);
  if (!has_usage(usage)) {
    return std::nullopt;
  }
  usage.price_source = usage.cost ? kOpencode : "";
  usage.request_id = request_id_of(message, usage);
  return usage;
}

std::string question_of(const RawMessage& message) {
  Message question{.role = JsonView(message.json)["role"].text()};
  for (const RawPart& part : message.parts) {
    const JsonView fields(part.json);
    if (fields["type"].text() == "text" && !is_true(fields["synthetic"])) {
      question.blocks.emplace_back(TextBlock{fields["text"].text(), {}});
    }
  }
  return question.role == role::kUser ? first_words(std::move(question)) : "";
}

Message message_of(const RawMessage& raw, std::size_t number) {
  const JsonView json(raw.json);
  const std::vector<Segment> segments = segments_of(raw);
  const Segment segment = segments[std::min(number, segments.size() - 1)];
  if (is_command(raw)) {
    return message_of_command(raw);
  }
  const bool is_assistant = json["role"].text() == role::kAssistant;
  const bool is_injected_one = is_injected_message(raw);
  Message message{.role = segment.is_result ? std::string(role::kTool) : json["role"].text(),
                  .created_at = sniffed_time(json["time"]["created"]).value_or(Time{})};
  for (std::size_t i = segment.begin; i < segment.end; ++i) {
    if (!segment.is_result) {
      add_part(raw.parts[i], !is_injected_one, message.blocks);
    } else if (type_of(raw.parts[i]) == "tool" && has_result(raw.parts[i])) {
      add_result(JsonView(raw.parts[i].json), message.blocks);
    }
  }
  if (segment.is_result) {
    return message;
  }
  if (is_assistant) {
    message.provider = json["providerID"].text();
    message.model = json["modelID"].text();
    message.usage = segment.begin == 0 ? usage_of(raw) : std::nullopt;
    const bool is_last =
        std::all_of(segments.begin() + static_cast<std::ptrdiff_t>(number) + 1, segments.end(),
                    [](const Segment& later) { return later.is_result; });
    message.state = is_last && is_cut(json) ? MessageState::incomplete : MessageState::complete;
  }
  if (is_injected_one) {
    reprise::source::mark_injected(message);
  }
  if (is_true(json["summary"])) {
    mark_summary(message);
  }
  add_raw(raw, segment, message);
  return message;
}

Session session_of(JsonView info, const std::string& id) {
  Session session{.info = {.id = session_id_of(id), .state = SessionState::closed}};
  session.info.title = title_by_tool(info["title"].text());
  session.info.working_dir = info["directory"].text();
  const JsonView time = info["time"];
  session.info.created_at = sniffed_time(time["created"]).value_or(Time{});
  session.info.updated_at = sniffed_time(time["updated"]).value_or(session.info.created_at);
  if (time["archived"]) {
    session.info.state = SessionState::archived;
  }
  note_parent(session, info["parentID"].text());
  add_extra(session.extra, kOpencode, raw_of(info));
  return session;
}

bool note_answer(JsonView message, SessionInfo& info) {
  if (message["role"].text() != role::kAssistant || message["modelID"].text().empty()) {
    return false;
  }
  info.provider = message["providerID"].text();
  info.model = message["modelID"].text();
  return true;
}

void add_message(OpenSession& open, const RawMessage& message, std::int64_t key) {
  const JsonView json(message.json);
  const std::vector<Segment> segments = segments_of(message);
  const bool is_injected = is_injected_message(message);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Node node{.id = node_id(cat(message.id, ":", i)), .at = key};
    node.is_message = true;
    node.is_injected = is_injected;
    node.detail = static_cast<std::uint32_t>(i);
    node.usage = note_usage(open.usages, i == 0 ? usage_of(message) : std::nullopt);
    open.tree.add(node, message.id);
  }
  SessionInfo& info = open.session.info;
  if (is_command(message)) {
    return;
  }
  if (json["role"].text() == role::kAssistant) {
    note_answer(json, info);
  } else if (info.title.empty() && !is_injected) {
    info.title = title_of(question_of(message));
  }
}

}  // namespace reprise::source::opencode
