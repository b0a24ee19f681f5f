// Indexes a session of Gemini CLI. That program replays the lines: after a compression or a
// resumption, it no longer sees earlier messages. Here every message that was ever in the file
// counts; `$rewindTo` abandons a branch.

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <variant>

#include "base/json_scan.h"
#include "base/text.h"
#include "source/file.h"
#include "source/gemini/gemini.h"
#include "source/records.h"
#include "source/tree.h"
#include "source/words.h"

namespace reprise::source::gemini {
namespace {

// In Node::detail: a message made of the results in another message's calls.
constexpr std::uint32_t kResultsOfCalls = 1;
// And for each result (of the first ones), whether another message has it already.
constexpr std::uint32_t kRepeated = 2;
constexpr std::size_t kRepeatedMax = 31;

std::uint32_t repeated_bit(std::size_t result) {
  return result < kRepeatedMax ? kRepeated << result : 0;
}

std::string_view provider_of(std::string_view tool) {
  return tool == kGemini ? "google" : tool;
}

constexpr std::string_view kContext = "<session_context>";
constexpr std::string_view kSnapshot = "<state_snapshot>";
constexpr std::string_view kThanks = "Got it. Thanks for the additional context!";

std::string type_of(JsonView message) {
  std::string type = message["type"].text();
  if (type.empty()) {
    type = message["role"].text();
  }
  return type == "model" || type == "assistant" || type == "qwen" ? "gemini" : type;
}

JsonView content_of(JsonView message) {
  const JsonView content = message["content"];
  const bool is_empty = !content || content.raw() == R"("")";
  return is_empty && message["parts"] ? message["parts"] : content;
}

bool is_program_text(JsonView message) {
  const std::string type = type_of(message);
  if (type != "user" && type != "gemini") {
    return true;
  }
  const std::string text = text_of(content_of(message));
  const std::string_view begin = trimmed(text);
  return begin.starts_with(kContext) || begin.starts_with(kSnapshot) || begin == kThanks;
}

Usage usage_of(JsonView message) {
  const JsonView tokens = message["tokens"];
  Usage usage;
  usage.input = {tokens["input"].count()};
  usage.cached = {tokens["cached"].count()};
  usage.reasoning = {tokens["thoughts"].count()};
  usage.output = TokenCount{tokens["output"].count()} + usage.reasoning;
  usage.request_id = message["id"].text();
  return usage;
}

class GeminiIndexer final : public Indexer {
 public:
  GeminiIndexer(std::string_view tool, Transcript& into) : tool_(tool), into_(into) {
    if (into_.is_child) {  // its file is in a folder named after its session
      into_.parent = into_.parts.front().file.parent_path().filename().native();
    }
  }

  void take(const Record& record, std::size_t part) override {
    const auto [rewind, id, set, session, messages, history] =
        record.json.members({"$rewindTo", "id", "$set", "sessionId", "messages", "history"});
    if (rewind.is(json::Kind::string)) {
      const auto index = into_.tree.find(node_id(rewind.text()));
      into_.tree.continue_from(index ? into_.tree.before(*index) : std::nullopt);
    } else if (id.is(json::Kind::string)) {
      add_message(record, part, record.json);
    } else if (set.is(json::Kind::object)) {
      read_metadata(set);
      set["messages"].each([&](JsonView message) { add_message(record, part, message); });
    } else if (session) {
      read_metadata(record.json);
      messages.each([&](JsonView message) { add_message(record, part, message); });
    } else if (history.is(json::Kind::array)) {
      take_checkpoint(record, part, history);
    }
  }

  void finish() override {
    into_.session.info.title = title_of(summary_.empty() ? first_ : summary_);
  }

 private:
  // A file written by `/chat save`, which has no times.
  void take_checkpoint(const Record& record, std::size_t part, JsonView history) {
    history.each([&](JsonView message) { add_message(record, part, message); });
    SessionInfo& info = into_.session.info;
    if (const auto state = state_of_file(into_.parts[part].file)) {
      info.created_at = state->changed_at;
      info.updated_at = state->changed_at;
    }
  }

  void read_metadata(JsonView metadata) {
    SessionInfo& info = into_.session.info;
    note_time(info, metadata["startTime"]);
    note_time(info, metadata["lastUpdated"]);
    if (const std::string summary = metadata["summary"].text(); !summary.empty()) {
      summary_ = summary;
    }
    metadata["directories"].each([&](JsonView folder) {
      info.working_dir = info.working_dir.empty() ? folder.text() : info.working_dir;
    });
    into_.is_child = into_.is_child || metadata["kind"].text() == "subagent";
  }

  void add_message(const Record& record, std::size_t part, JsonView message) {
    if (!message.is(json::Kind::object)) {
      return;
    }
    const std::string id = message["id"].text();
    Node node = node_at(record, part, message);
    node.id = node_id(id);
    node.is_message = true;
    node.is_injected = is_program_text(message);
    note_time(into_.session.info, message["timestamp"]);
    const std::string type = type_of(message);
    const std::vector<std::string> results = result_ids(content_of(message));
    if (type == "user" && !results.empty()) {
      return add_results(node, message.raw(), results);
    }
    if (type == "user" && !node.is_injected && first_.empty()) {
      first_ = words_of_person(
          text_of(message["displayContent"] ? message["displayContent"] : content_of(message)));
    }
    note_answer(message, type, node);
    // A repeated message is an update: it now has its calls or its usage, or its text is in parts,
    // in which case the older form is equivalent.
    const auto known = into_.tree.find(node.id);
    if (known && node.id != 0) {
      const Node& older = into_.tree.nodes()[*known];
      if (message["toolCalls"] || older.bytes == 0) {
        replace(*known, node);
      } else if (older.usage == 0) {
        into_.tree.node(*known).usage = node.usage;
      }
    } else {
      into_.tree.add(node, message.raw());
    }
    add_results_of_calls(record, part, message, id);
  }

  void note_answer(JsonView message, std::string_view type, Node& node) {
    if (type != "gemini" || node.is_injected) {
      return;
    }
    if (const std::string model = message["model"].text(); !model.empty()) {
      into_.session.info.model = model;
      into_.session.info.provider = provider_of(tool_);
    }
    if (message["tokens"]) {
      node.usage = note_usage(into_.usages, usage_of(message));
    }
  }

  void replace(std::uint32_t index, const Node& node) {
    Node& known = into_.tree.node(index);
    known.at = node.at;
    known.bytes = node.bytes;
    known.file = node.file;
    known.usage = node.usage != 0 ? node.usage : known.usage;
  }

  void add_results(Node& node, std::string_view bytes, const std::vector<std::string>& ids) {
    bool is_new = false;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i].empty() || answered_.try_emplace(node_id(ids[i]), node.id).second) {
        is_new = true;
      } else {
        node.detail |= repeated_bit(i);
      }
    }
    if (is_new) {
      node.is_injected = false;
      into_.tree.add(node, bytes);
    }
  }

  // Some files have results only within the calls.
  void add_results_of_calls(const Record& record, std::size_t part, JsonView message,
                            const std::string& id) {
    Node node = node_at(record, part, message);
    node.id = node_id(cat(id, "#results"));
    node.is_message = true;
    node.detail = kResultsOfCalls;
    bool has_new = false;
    std::size_t number = 0;
    message["toolCalls"].each([&](JsonView call) {
      if (call["result"]) {
        const auto [answer, is_new] = answered_.try_emplace(node_id(call["id"].text()), node.id);
        has_new = has_new || is_new;
        node.detail |= answer->second == node.id ? 0 : repeated_bit(number);
        ++number;
      }
    });
    if (!has_new) {
      return;
    }
    if (const auto known = into_.tree.find(node.id); known) {
      replace(*known, node);
      into_.tree.node(*known).detail = node.detail;
    } else {
      into_.tree.add(node, message.raw());
    }
  }

  std::string_view tool_;
  Transcript& into_;
  std::map<std::uint64_t, std::uint64_t> answered_;  // calls, and the nodes with their results
  std::string summary_;
  std::string first_;
};

// The parts of an answer, and its calls. A call may be among both.
void add_answer(std::string_view tool, JsonView message, std::vector<Block>& blocks) {
  std::vector<Block> calls;
  message["toolCalls"].each([&](JsonView call) {
    calls.emplace_back(ToolUseBlock{call["id"].text(), call["name"].text(), raw_of(call["args"]),
                                    extra_without(tool, call, {"id", "name", "args", "result"})});
  });
  std::vector<Block> parts;
  add_content(tool, content_of(message), parts);
  const bool has_text = !text_of(content_of(message)).empty();
  std::set<const Block*> known;
  for (Block& part : parts) {
    auto* const use = std::get_if<ToolUseBlock>(&part);
    const auto call = std::ranges::find_if(calls, [&](const Block& block) {
      const auto& one = std::get<ToolUseBlock>(block);
      return use != nullptr && !known.contains(&block) &&
             (use->id.empty() ? use->name == one.name && use->input == one.input
                              : use->id == one.id);
    });
    if (call != calls.end()) {
      known.insert(&*call);
      std::ranges::move(use->extra, std::back_inserter(std::get<ToolUseBlock>(*call).extra));
    } else if (has_text || calls.empty() || use != nullptr ||
               std::holds_alternative<ImageBlock>(part) ||
               std::holds_alternative<UnknownBlock>(part)) {
      blocks.push_back(std::move(part));
    }
  }
  std::ranges::move(calls, std::back_inserter(blocks));
}

void add_thoughts(JsonView message, std::vector<Block>& blocks) {
  message["thoughts"].each([&](JsonView thought) {
    const std::string subject = thought["subject"].text();
    const std::string words = thought["description"].text();
    blocks.emplace_back(
        ThinkingBlock{cat(subject, subject.empty() || words.empty() ? "" : "\n", words), "", {}});
  });
}

Message results_of(std::string_view tool, JsonView message, std::uint32_t repeated) {
  Message results{.role = std::string(role::kTool)};
  std::size_t number = 0;
  message["toolCalls"].each([&](JsonView call) {
    if (call["result"] && (repeated & repeated_bit(number++)) == 0) {
      const std::size_t before = results.blocks.size();
      add_content(tool, call["result"], results.blocks);
      for (std::size_t i = before; i < results.blocks.size(); ++i) {
        if (auto* const result = std::get_if<ToolResultBlock>(&results.blocks[i]);
            result != nullptr && result->tool_use_id.empty()) {
          result->tool_use_id = call["id"].text();
        }
      }
    }
  });
  return results;
}

}  // namespace

std::unique_ptr<Indexer> make_indexer(std::string_view tool, Transcript& into) {
  return std::make_unique<GeminiIndexer>(tool, into);
}

Message message_of(std::string_view tool, const Transcript& transcript, const Node& node,
                   JsonView source) {
  const Time time = time_of(source["timestamp"]).value_or(Time{});
  if ((node.detail & kResultsOfCalls) != 0) {
    Message results = results_of(tool, source, node.detail);
    results.created_at = time;
    return results;
  }
  const std::string type = type_of(source);
  const bool is_answer = type == "gemini";
  const bool is_results = type == "user" && !result_ids(content_of(source)).empty();
  Message message{.role = std::string(is_answer        ? role::kAssistant
                                      : is_results     ? role::kTool
                                      : type == "user" ? role::kUser
                                                       : role::kSystem),
                  .created_at = time};
  add_thoughts(source, message.blocks);
  add_answer(tool, source, message.blocks);
  if (node.detail != 0) {
    std::size_t number = 0;
    std::erase_if(message.blocks, [&](const Block& block) {
      return std::holds_alternative<ToolResultBlock>(block) &&
             (node.detail & repeated_bit(number++)) != 0;
    });
  }
  if (is_answer && !node.is_injected) {
    message.provider = provider_of(tool);
    message.model = source["model"].text();
    if (node.usage != 0) {
      message.usage = transcript.usages[node.usage - 1];
    }
  }
  if (node.is_injected) {
    mark_injected(message);
  }
  static constexpr std::array<std::string_view, 8> kKnown = {
      "content", "parts", "toolCalls", "thoughts", "type", "timestamp", "model", "messages"};
  add_extra(message.extra, tool, members_without(source, kKnown));
  return message;
}

}  // namespace reprise::source::gemini
