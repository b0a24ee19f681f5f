#include <algorithm>
#include <array>
#include <initializer_list>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "source/copilot/copilot_import.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/yaml.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCopilot = "copilot";
constexpr std::string_view kEvents = "events.jsonl";
constexpr std::string_view kSessions = "session-state";
constexpr std::int64_t kMetadataBytesMax = 1 << 20;

bool is_copilot_line(JsonView line) {
  return (line["type"].text() == "session.start" && line["data"]["sessionId"]) ||
         copilot::is_import_line(line);
}

// Members are named as by the model's provider.
std::int64_t first_count(JsonView counts, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (counts[name]) {
      return counts[name].count();
    }
  }
  return 0;
}

Usage copilot_usage(JsonView counts) {
  Usage usage;
  usage.input = {first_count(counts, {"inputTokens", "input_tokens", "prompt_tokens"})};
  usage.output = {first_count(counts, {"outputTokens", "output_tokens", "completion_tokens"})};
  usage.cached = {
      first_count(counts, {"cacheReadTokens", "cachedInputTokens", "cache_read_tokens"})};
  usage.cache_written = {first_count(counts, {"cacheWriteTokens", "cache_write_tokens"})};
  usage.reasoning = {first_count(counts, {"reasoningTokens", "reasoning_tokens"})};
  return usage;
}

constexpr std::uint32_t kCut = 1;  // in Node::detail: an answer of a turn that never ended

constexpr std::string_view kCompaction = "session.compaction_complete";

bool is_message_event(std::string_view type, JsonView data) {
  static constexpr std::array<std::string_view, 5> kMessages = {"user.message", "assistant.message",
                                                                "tool.execution_complete",
                                                                "system.message", "session.error"};
  return std::ranges::find(kMessages, type) != kMessages.end() ||
         (type == kCompaction && !data["summaryContent"].text().empty());
}

// Whether a program wrote the message: its source is a skill, another agent and so on.
bool is_program_message(JsonView data) {
  const std::string source = data["source"].text();
  return (!source.empty() && source != "user") || is_true(data["isAutopilotContinuation"]) ||
         trimmed(data["content"].text()).starts_with("<system_notification>");
}

// The event with an attached file; "" if it is gone.
Result<std::string> find_asset(const Transcript& transcript, std::string_view id) {
  const auto& attachments = transcript.names->attachments;
  const auto found = attachments.find(id);
  if (id.empty() || found == attachments.end()) {
    return "";
  }
  const Node& node = found->second;
  const fs::path& file = transcript.parts[node.file].file;
  REPRISE_ASSIGN(const Fd fd, open_foreign(file));
  REPRISE_ASSIGN(const std::string event,
                 read_range(fd.get(), node.at, static_cast<std::size_t>(node.bytes), file));
  return is_json_object(event) ? event : "";
}

// Detects the media type from the first base64 characters.
std::string_view media_type_of(std::string_view base64) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {
      {{"iVBORw0KGgo", "image/png"},
       {"/9j/", "image/jpeg"},
       {"R0lGOD", "image/gif"},
       {"UklGR", "image/webp"},
       {"JVBERi0", "application/pdf"}}};
  for (const auto& [begin, type] : kTypes) {
    if (base64.starts_with(begin)) {
      return type;
    }
  }
  return "";
}

// Adds images and PDFs; other attachments remain raw.
Result<> add_attachments(const Transcript& transcript, JsonView attachments, Message& message) {
  Result<> read;
  attachments.each([&](JsonView attachment) {
    const auto event = find_asset(transcript, attachment["assetId"].text());
    read = event ? std::move(read) : Result<>(std::unexpected(event.error()));
    const std::string base64 =
        event && !event->empty() ? JsonView(*event)["data"]["data"].text() : "";
    if (const std::string_view type = media_type_of(base64); !type.empty()) {
      message.blocks.emplace_back(image_of(type, base64));
    }
  });
  return read;
}

// The name in the YAML file beside the events; "" if there is none.
Result<std::string> copilot_name_in(const std::string& metadata) {
  const auto json = json_of_yaml(metadata);
  if (json || json.error().code != Code::unsupported) {
    REPRISE_TRY(json);
    return text_or_json(JsonView(json->text())["name"]);
  }
  // Without libyaml: most names are on one line, without escapes.
  constexpr std::string_view kName = "\nname:";
  const std::string text = cat("\n", metadata);
  const std::size_t at = text.find(kName);
  if (at == std::string::npos) {
    return "";
  }
  const std::size_t begin = at + kName.size();
  std::string_view name =
      trimmed(std::string_view(text).substr(begin, text.find('\n', begin) - begin));
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
      name.back() == name.front()) {
    name = name.substr(1, name.size() - 2);
  }
  return std::string(name);
}

class CopilotIndexer final : public Indexer {
 public:
  explicit CopilotIndexer(Transcript& into) : into_(into) {}

  void take(const Record& record, std::size_t part) override {
    if (copilot::take_import_line(record, part, into_)) {
      return;
    }
    const auto [type, data, id, time, parent, agent_id] =
        record.json.members({"type", "data", "id", "timestamp", "parentId", "agentId"});
    const Event event{
        .kind = type.text(), .data = data, .id = id, .time = time, .raw = record.json.raw()};
    Node node = node_at(record, part, record.json);
    node.id = node_id(id.text());
    node.parent = node_id(parent.text());
    node.link = parent ? Link::named : Link::previous;
    std::string agent = agent_id.text();
    if (const std::string call = data["parentToolCallId"].text(); agent.empty() && !call.empty()) {
      agent = session_id_of(call).str();  // older versions named only the call that started it
    }
    if (agent.empty()) {
      add(event, node, main_);
    } else {
      Node link = node;  // later events of the session may name it as their parent
      link.is_sidechain = true;
      into_.tree.add(link, event.raw);
      if (Transcript* const transcript = agent_of(into_, agent); transcript != nullptr) {
        add(event, node, agents_.try_emplace(agent, Speaker{*transcript}).first->second);
      }
    }
    if (event.kind == "session.binary_asset") {
      into_.names->attachments.try_emplace(data["assetId"].text(), node);
    }
  }

  void finish() override {
    complete(main_);
    for (auto& [name, agent] : agents_) {
      complete(agent);
    }
  }

 private:
  struct Event {
    std::string kind;
    JsonView data;
    JsonView id;
    JsonView time;
    std::string_view raw;
  };

  // The usage of a request whose answer is not known.
  struct Request {
    std::string call;  // its id; "" in older versions
    std::uint32_t usage;
    std::uint32_t after;  // the last message before it
  };

  // The model of the session, or a sub-agent.
  struct Speaker {
    Transcript& into;
    std::uint32_t last_message = 0;
    std::vector<Request> requests = {};
    std::optional<std::uint32_t> last_answer = {};  // has no usage yet
    std::string last_call = {};                     // its request
    std::string first = {};
    std::optional<std::uint32_t> turn_answer = {};  // the last one of a turn that has not ended
    int turns = 0;
    int ended_turns = 0;
  };

  // The first versions may have recorded no ends.
  static void end_turn(Speaker& speaker) {
    if (speaker.turn_answer && (speaker.ended_turns > 0 || speaker.turns == 1)) {
      speaker.into.tree.node(*speaker.turn_answer).detail = kCut;
    }
    speaker.turn_answer.reset();
  }

  static void add(const Event& event, Node node, Speaker& speaker) {
    Transcript& into = speaker.into;
    read_metadata(event, into.session.info);
    const bool is_question = event.kind == "user.message";
    node.is_message = is_message_event(event.kind, event.data);
    node.is_result = event.kind == "tool.execution_complete";
    node.is_injected = event.kind == "system.message" || event.kind == "session.error" ||
                       event.kind == kCompaction ||
                       (is_question && !into.is_child && is_program_message(event.data));
    if (event.data["chunkCount"]) {  // else requests of some servers have equal ids
      node.group = node_id(event.data["apiCallId"].text());
    }
    const auto index = into.tree.add(node, event.raw);
    if (!index) {
      return;
    }
    speaker.last_message = node.is_message ? *index : speaker.last_message;
    if (event.kind == "assistant.turn_start") {
      end_turn(speaker);
      ++speaker.turns;
    } else if (event.kind == "assistant.turn_end") {
      ++speaker.ended_turns;
      speaker.turn_answer.reset();
    } else if (event.kind == "assistant.message") {
      speaker.turn_answer = speaker.turns > 0 ? index : std::nullopt;
      add_answer(*index, event.data["apiCallId"].text(), speaker);
    } else if (event.kind == "session.usage_record") {
      add_usage(event, speaker);
    } else if (const JsonView counts = event.data["compactionTokensUsed"]; counts) {
      Usage usage = copilot_usage(counts);
      usage.request_id = event.id.text();
      into.other_usages.emplace(speaker.last_message, note_usage(into.usages, std::move(usage)));
    } else if (is_question && !node.is_injected && speaker.first.empty()) {
      speaker.first = event.data["content"].text();
    }
  }

  static bool is_same_call(std::string_view a, std::string_view b) {
    return a == b || a.empty() || b.empty();
  }

  static constexpr std::ptrdiff_t kSearched = 16;  // the last requests

  // The usage of a request is recorded before its answer or, by other programs, after it.
  static void add_answer(std::uint32_t index, std::string call, Speaker& speaker) {
    const auto end = speaker.requests.rbegin() + std::min(std::ssize(speaker.requests), kSearched);
    const auto request = std::find_if(speaker.requests.rbegin(), end, [&](const Request& recorded) {
      return is_same_call(recorded.call, call);
    });
    if (request == end) {
      speaker.last_answer = index;
      speaker.last_call = std::move(call);
    } else {
      speaker.into.tree.node(index).usage = request->usage;
      speaker.requests.erase(std::next(request).base());
      speaker.last_answer.reset();
    }
  }

  static void add_usage(const Event& event, Speaker& speaker) {
    const JsonView counts = event.data["usage"] ? event.data["usage"] : event.data;
    const JsonView accounting = counts["accounting"];
    Usage usage = copilot_usage(counts);
    usage.request_id = accounting["sequence"] ? cat(accounting["sourceSessionId"].text(), "#",
                                                    accounting["sequence"].raw())
                                              : event.id.text();
    const std::uint32_t number = note_usage(speaker.into.usages, std::move(usage));
    std::string call = counts["apiCallId"].text();
    if (speaker.last_answer && is_same_call(speaker.last_call, call)) {
      speaker.into.tree.node(*speaker.last_answer).usage = number;
      speaker.last_answer.reset();
    } else {
      speaker.requests.push_back({std::move(call), number, speaker.last_message});
    }
  }

  static void read_metadata(const Event& event, SessionInfo& info) {
    note_time(info, event.time);
    if (event.kind == "session.start" && info.working_dir.empty()) {
      info.working_dir = event.data["context"]["cwd"].text();
    }
    const JsonView model = event.kind == "assistant.message"      ? event.data["model"]
                           : event.kind == "session.model_change" ? event.data["newModel"]
                                                                  : event.data["selectedModel"];
    if (std::string name = model.text(); !name.empty()) {
      info.model = std::move(name);
      info.provider = kCopilot;
    }
  }

  static void complete(Speaker& speaker) {
    end_turn(speaker);
    for (const Request& request : speaker.requests) {
      speaker.into.other_usages.emplace(request.after, request.usage);
    }
    SessionInfo& info = speaker.into.session.info;
    if (info.title.empty()) {
      info.title = title_of(speaker.first);
    }
  }

  Transcript& into_;
  Speaker main_{into_};
  std::unordered_map<std::string, Speaker> agents_;
};

std::string result_of(JsonView data) {
  const JsonView content = data["result"]["content"];
  if (content) {
    return content.is(json::Kind::string) ? content.text() : std::string(content.raw());
  }
  return data["error"]["message"].text();
}

void add_event(std::string_view type, JsonView data, Message& message) {
  if (type == "assistant.message") {
    message.role = role::kAssistant;
    message.provider = kCopilot;
    message.model = data["model"].text();
    if (const std::string thoughts = data["reasoningText"].text(); !thoughts.empty()) {
      message.blocks.emplace_back(ThinkingBlock{thoughts, "", {}});
    }
    if (const std::string text = data["content"].text(); !text.empty()) {
      message.blocks.emplace_back(TextBlock{text, {}});
    }
    data["toolRequests"].each([&](JsonView call) {
      message.blocks.emplace_back(
          ToolUseBlock{call["toolCallId"].text(), call["name"].text(), raw_of(call["arguments"]),
                       extra_without(kCopilot, call, {"toolCallId", "name", "arguments"})});
    });
  } else if (type == "tool.execution_complete") {
    message.role = role::kTool;
    const JsonView result = data["result"];
    message.blocks.emplace_back(
        tool_result(data["toolCallId"].text(), result_of(data), data["success"].raw() == "false",
                    extra_without(kCopilot, result, {"content", "contents"})));
    result["contents"].each([&](JsonView part) {
      if (const std::string kind = part["type"].text(); kind == "image") {
        message.blocks.emplace_back(image_of(part["mimeType"].text(), part["data"].text()));
      } else if (kind != "text") {  // the texts are the result
        message.blocks.push_back(unknown_block(part));
      }
    });
  } else {
    message.role = type == "user.message" ? role::kUser : role::kSystem;
    const JsonView text = type == kCompaction ? data["summaryContent"]
                          : data["content"]   ? data["content"]
                                              : data["message"];
    message.blocks.emplace_back(TextBlock{text.text(), {}});
  }
}

// Adds what is not in the blocks: values, or lists of them for an answer in parts.
void add_unmapped(std::span<const Piece> pieces, Extra& extra) {
  static constexpr std::array<std::string_view, 1> kData = {"data"};
  static constexpr std::array<std::string_view, 7> kKnown = {
      "content",    "reasoningText", "toolRequests",  "result",
      "toolCallId", "success",       "summaryContent"};
  const auto add = [&](std::string_view name, const auto& unmapped) {
    if (pieces.size() == 1) {
      return add_extra(extra, name, unmapped(pieces.front().json));
    }
    std::string list = "[";
    for (const Piece& piece : pieces) {
      const auto members = unmapped(piece.json);
      list += cat(list.size() > 1 ? "," : "", members ? std::string_view(members->text()) : "{}");
    }
    add_extra(extra, name, json::take(list += "]"));
  };
  add("copilot", [](JsonView event) { return members_without(event, kData); });
  add("copilot_data", [](JsonView event) { return members_without(event["data"], kKnown); });
}

FileLayout::Name copilot_name(const fs::path& file) {
  const bool is_usual = file.filename() == kEvents;
  return {(is_usual ? fs::absolute(file).parent_path().filename() : file.stem()).native()};
}

// The first versions wrote session-state/<id>.jsonl.
bool is_events_file(const fs::path& file, const fs::path& /*location*/) {
  return file.filename() == kEvents ||
         (file.extension() == ".jsonl" && file.parent_path().filename() == kSessions);
}

constexpr FileLayout kCopilotFiles = {kSessions, 1, is_events_file, copilot_name};

class Copilot final : public JsonlTool {
 public:
  explicit Copilot(fs::path location) : location_(std::move(location)) {}

  std::string_view name() const override { return "copilot"; }

  std::vector<Located> locate(ReadReport& report) const override {
    return locate_files(location_, kCopilotFiles, report);
  }

  std::vector<fs::path> sidecar_files(const Located& located) const override {
    const fs::path& events = located.parts.front().file;
    return events.filename() == kEvents ? std::vector{events.parent_path() / "workspace.yaml"}
                                        : std::vector<fs::path>();
  }

  // The name is in a YAML file beside the events.
  Result<> resolve(Located& located, ReadReport& report) const override {
    for (const fs::path& file : sidecar_files(located)) {
      REPRISE_ASSIGN(const std::string metadata, read_sibling(file, kMetadataBytesMax, report));
      if (auto name = copilot_name_in(metadata)) {
        located.title = *std::move(name);
      } else {
        add_damage(report, {file.native(), name.error().message, ""});
      }
    }
    return {};
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return std::make_unique<CopilotIndexer>(into);
  }

  Result<Message> message(const Transcript& transcript,
                          std::span<const Piece> pieces) const override {
    const Piece& piece = pieces.front();
    const std::string type = piece.json["type"].text();
    if (!piece.json["data"]) {
      return copilot::message_of_import(pieces);
    }
    Message message{.created_at = time_of(piece.json["timestamp"]).value_or(Time{})};
    for (const Piece& part : pieces) {
      add_event(type, part.json["data"], message);
      message.state = part.node.detail == kCut ? MessageState::incomplete : message.state;
      REPRISE_TRY(add_attachments(transcript, part.json["data"]["attachments"], message));
      if (part.node.usage != 0) {
        message.usage = transcript.usages[part.node.usage - 1];
      }
    }
    if (piece.node.is_injected) {
      mark_injected(message);
    }
    add_unmapped(pieces, message.extra);
    return message;
  }

 private:
  fs::path location_;
};

}  // namespace

Result<bool> is_copilot(const fs::path& location) {
  return has_lines_of(location, 2, is_copilot_line);
}

Result<std::unique_ptr<Source>> open_copilot(const fs::path& location,
                                             const StoreOptions& options) {
  return make_transcript_source(std::make_unique<Copilot>(location), location, options);
}

}  // namespace reprise::source
