#include "store/chatdir/step_recorder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <ranges>
#include <set>
#include <stop_token>
#include <thread>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/attachment.h"
#include "reprise/capabilities.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chatdir_store.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/line.h"
#include "store/rules.h"
#include "store/usage_sum.h"

namespace reprise::store::chatdir {
namespace {

constexpr Step kChat{0};
constexpr std::string_view kAnswerName = "answer.md";
constexpr std::string_view kPrompt = "prompt.md";
constexpr std::string_view kTextId = "txt-0";
constexpr std::string_view kReasoningId = "reasoning-0";
constexpr std::string_view kBetweenInputs = "---";

std::string pretty(std::string_view json) {
  const auto readable = json::pretty(json);
  return readable ? *readable : std::string(json);  // we only write valid JSON
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    json::append_string(out, text);
    out += '\n';
  }
  return out;
}

// The sections between lines of dashes, one task each.
std::vector<std::string> inputs_in(std::string_view text) {
  std::vector<std::string> inputs;
  std::string item;
  const auto add_input = [&] {
    if (const std::string_view words = trimmed(item); !words.empty()) {
      inputs.emplace_back(words);
    }
    item.clear();
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (trimmed(line) == kBetweenInputs) {
      add_input();
    } else {
      item.append(line).append("\n");
    }
  }
  add_input();
  return inputs;
}

std::string prompt_of(const std::vector<Block>& question) {
  Message message;
  message.blocks = question;
  return plain_text(message);
}

std::string input_of(const std::vector<Block>& question) {
  for (const Block& block : question) {
    if (const auto* const text = std::get_if<TextBlock>(&block);
        text != nullptr && !attached_name(block)) {
      return text->text;
    }
  }
  return "";
}

std::vector<std::string> files_of(const std::vector<Block>& question) {
  std::vector<std::string> files;
  for (const Block& block : question) {
    if (auto name = attached_name(block); name) {
      files.push_back(*std::move(name));
    }
  }
  return files;
}

std::string model_of(const RecordedTurn& turn) {
  return json::object_of("id", turn.model, "provider", turn.provider);
}

std::string usage_of(const Usage& usage) {
  std::string out = step_usage_to_json(usage);
  out.pop_back();
  return out += R"(,"limits":{}})";
}

std::string delta_of(std::string_view type, std::string_view id, std::string_view text) {
  return json::object_of("type", type, "id", id, "text", text);
}

// Prompts by step; that of step 0 only if no other step has the same.
using Prompts = std::map<Step, std::string>;

// The prompts of steps without an answer. Such a turn was killed: either it is in the record, or
// the record is lost.
Result<Prompts> prompts_without_answer(Artefacts& artefacts, const SessionId& id,
                                       const std::vector<Artefacts::Entry>& entries) {
  std::set<Step> answered;
  std::vector<Step> prompted;
  for (const Artefacts::Entry& entry : entries) {
    if (entry.name == kAnswerName && entry.step != kChat) {
      answered.insert(entry.step);
    } else if (entry.name == kPrompt) {
      prompted.push_back(entry.step);
    }
  }
  Prompts prompts;
  const bool in_chat = !prompted.empty() && prompted.front() == kChat;
  std::optional<std::string> chat;
  if (in_chat) {
    REPRISE_ASSIGN(chat, artefacts.find_artefact(id, kChat, kPrompt));
  }
  // The newest step first; the chat's own folder has a copy of its prompt.
  for (const Step step : prompted | std::views::drop(in_chat ? 1 : 0) | std::views::reverse) {
    if (answered.contains(step) && !chat) {
      continue;
    }
    REPRISE_ASSIGN(auto prompt, artefacts.find_artefact(id, step, kPrompt));
    if (chat && prompt == chat) {
      chat.reset();
    }
    if (prompt && !answered.contains(step)) {
      prompts.emplace(step, *std::move(prompt));
    }
  }
  if (chat) {
    prompts.emplace(kChat, *std::move(chat));
  }
  return prompts;
}

// Saves the prompt in the chat's own folder that a new turn would overwrite.
Result<> save_prompt(Artefacts& artefacts, const SessionId& id, Step step,
                     const std::vector<Artefacts::Entry>& entries) {
  for (const Artefacts::Entry& entry : entries) {
    if (entry.step != kChat || std::ranges::find(kCopiedFiles, entry.name) == kCopiedFiles.end()) {
      continue;
    }
    REPRISE_ASSIGN(const auto bytes, artefacts.find_artefact(id, kChat, entry.name));
    if (bytes) {
      REPRISE_TRY(artefacts.save_artefact(id, step, entry.name, *bytes));
    }
  }
  return {};
}

// The steps from `first` on that have an answer.
std::set<Step> answered_from(Step first, const std::vector<Artefacts::Entry>& entries) {
  std::set<Step> steps;
  for (const Artefacts::Entry& entry : entries) {
    if (entry.name == kAnswerName && entry.step >= first) {
      steps.insert(entry.step);
    }
  }
  return steps;
}

// Whether the record contains the answer of one of the steps.
Result<bool> record_has_any(Source& messages, Artefacts& artefacts, const SessionId& id,
                            const std::set<Step>& steps) {
  std::set<std::string> answers;
  for (const Step step : steps) {
    REPRISE_ASSIGN(auto answer, artefacts.find_artefact(id, step, kAnswerName));
    answers.insert(std::move(answer).value_or(""));
  }
  bool found = false;
  if (!answers.empty()) {
    REPRISE_TRY(messages.read(id, {}, [&](const Message& message) {
      found = message.role == role::kAssistant && answers.contains(plain_text(message));
      return found ? Flow::stop : Flow::proceed;
    }));
  }
  return found;
}

Result<Step> choose_step(Source& messages, Artefacts& artefacts, const SessionId& id,
                         const RecordedTurn& turn, const ReplaceStep& replace_step) {
  REPRISE_ASSIGN(const auto entries, artefacts.list_artefacts(id));
  REPRISE_ASSIGN(Prompts lost, prompts_without_answer(artefacts, id, entries));
  Step next{1};
  bool has_messages = false;  // besides the question of this turn, which may be in the record
  const std::string question = prompt_of(turn.question);
  REPRISE_TRY(
      messages.read(id, {.to = turn.replaces.value_or(kSeqEnd)}, [&](const Message& message) {
        has_messages =
            has_messages || message.role != role::kUser || plain_text(message) != question;
        next.value += message.role == role::kAssistant ? 1 : 0;
        if (!lost.empty() && message.role == role::kUser) {
          const std::string prompt_text = plain_text(message);
          std::erase_if(
              lost, [&prompt_text](const auto& prompt) { return prompt.second == prompt_text; });
        }
        return Flow::proceed;
      }));
  std::set<Step> used = answered_from(next, entries);
  if (turn.replaces) {
    return used.empty() ? next : *used.rbegin();
  }
  REPRISE_ASSIGN(const bool is_shifted, record_has_any(messages, artefacts, id, used));
  std::ranges::copy_if(lost | std::views::keys, std::inserter(used, used.end()),
                       [&](Step step) { return step >= next; });
  if (has_messages && lost.contains(kChat)) {
    REPRISE_TRY(replace_step(kChat));
  }
  if (has_messages && !is_shifted) {
    for (const Step step : used) {
      REPRISE_TRY(replace_step(step));
    }
    return next;
  }
  if (!used.empty()) {
    next.value = used.rbegin()->value + 1;
  }
  if (!has_messages && lost.contains(kChat)) {
    REPRISE_TRY(save_prompt(artefacts, id, next, entries));
    ++next.value;
  }
  return next;
}

// The model.json with which the original goes on, if it changes: it has the session's model, not
// one that was chosen for a single run. The original also writes prices and limits to it.
Result<std::string> changed_model(Source& messages, Artefacts& artefacts, const SessionId& id,
                                  const RecordedTurn& turn) {
  REPRISE_ASSIGN(const std::optional<Session> session, messages.find(id));
  REPRISE_ASSIGN(const auto old, artefacts.find_artefact(id, kChat, kModelFile));
  const SessionInfo info = session ? session->info : SessionInfo{.id = id};
  if (info.model.empty() && old) {
    return std::string();
  }
  const std::string& model = info.model.empty() ? turn.model : info.model;
  const std::string provider =
      provider_for_original(info.model.empty() ? turn.provider : info.provider);
  const JsonView before(old ? std::string_view(*old) : std::string_view());
  return before["id"].text() == model && before["provider"].text() == provider
             ? std::string()
             : pretty(json::object_of("id", model, "provider", provider));
}

}  // namespace

Result<std::unique_ptr<TurnRecorder>> record_step(Source& messages, Artefacts& artefacts,
                                                  const SessionId& id, const RecordedTurn& turn,
                                                  const ReplaceStep& replace_step) {
  REPRISE_ASSIGN(const Step step, choose_step(messages, artefacts, id, turn, replace_step));
  REPRISE_ASSIGN(std::string next_model, changed_model(messages, artefacts, id, turn));
  return std::make_unique<StepRecorder>(artefacts, id, step, turn, std::move(next_model));
}

Result<std::unique_ptr<TurnRecorder>> ChatdirStore::record_turn(const SessionId& id,
                                                                const RecordedTurn& turn) {
  return record_step(*this, *this, id, turn, [&](Step step) { return replace_step(id, step); });
}

StepRecorder::StepRecorder(Artefacts& artefacts, SessionId session, Step step,
                           const RecordedTurn& turn, std::string next_model)
    : artefacts_(artefacts), session_(std::move(session)), step_(step) {
  begin(turn, std::move(next_model));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

StepRecorder::~StepRecorder() {
  (void)finish();  // callers who need the result have called it before
}

void StepRecorder::begin(const RecordedTurn& turn, std::string next_model) {
  if (turn.question.empty()) {
    return;  // the step continues
  }
  const std::string prompt = prompt_of(turn.question);
  const std::string input = input_of(turn.question);
  const std::string model = model_of(turn);
  const std::pair<std::string_view, std::string> files[] = {
      {"input.md", input},
      {"prompt.md", prompt},
      {kModelFile, pretty(model)},
      {"files.jsonl", lines_of(files_of(turn.question))},
      {"inputs.jsonl", lines_of(inputs_in(input))},
  };
  for (const auto& [name, bytes] : files) {
    files_[{step_, std::string(name)}] = bytes;
    files_[{kChat, std::string(name)}] = bytes;
  }
  files_.erase({kChat, std::string(kModelFile)});
  if (!next_model.empty()) {
    files_[{kChat, std::string(kModelFile)}] = std::move(next_model);
  }
  // Streams start empty, even if an earlier attempt left some text.
  for (const char* const name : {"stream.md", "stream.jsonl", "chunks.jsonl", "unknowns.jsonl"}) {
    files_[{step_, name}] = "";
  }
  pending_[{kChat, "steps.jsonl"}] =
      json::object_of("step", step_.value, "model", json::take(model), "prompt", prompt) + "\n";
}

void StepRecorder::record_failure(const Result<>& result) {
  if (!result) {
    const std::lock_guard lock(mutex_);
    failure_ = failure_.value_or(result.error());
  }
}

void StepRecorder::add(Step step, std::string_view name, std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    pending_[{step, std::string(name)}] += bytes;
  }
  wake_.notify_one();
}

// The parts for replay and the chunks of the provider, which are identical here because all
// providers have one form.
void StepRecorder::add_part(std::string json) {
  replace_line_ends(json);
  json += '\n';
  add(step_, "stream.jsonl", json);
  add(step_, "chunks.jsonl", json);
}

void StepRecorder::on_text(std::string_view text) {
  add(step_, "stream.md", text);
  add_part(delta_of("text-delta", kTextId, text));
}

void StepRecorder::on_thinking(std::string_view text) {
  results_[{step_, "reason.md"}] += text;
  add_part(delta_of("reasoning-delta", kReasoningId, text));
}

void StepRecorder::on_raw(const RawJson& block) {
  std::string chunk(block.text());
  replace_line_ends(chunk);
  add(step_, "chunks.jsonl", cat(R"({"type":"raw","rawValue":)", chunk, "}\n"));
  add(step_, "unknowns.jsonl", cat(R"(["Unknown chunk.type",)", chunk, "]\n"));
}

void StepRecorder::on_usage(const Usage& usage) {
  add_part(cat(R"({"type":"usage","usage":)", usage_of(usage), "}"));
}

void StepRecorder::on_answer(const Message& answer) {
  for (const ToolUseBlock* const call : tool_calls(answer)) {
    tools_[call->id] = call->name;
    add_part(json::object_of("type", "tool-call", "toolCallId", call->id, "toolName", call->name,
                             "input", call->input));
  }
  results_[{step_, std::string(kResponseFile)}] =
      pretty(json::object_of("id", answer.response_id, "modelId", answer.model, "timestamp",
                             format_time(answer.created_at), "finishReason",
                             answer.state == MessageState::complete ? "stop" : "length"));
  results_[{step_, std::string(kAnswerName)}] = plain_text(answer);
  if (answer.usage) {
    add_usage(usage_, *answer.usage);
    results_[{step_, "usage.json"}] = pretty(usage_of(usage_));
  }
}

void StepRecorder::on_tool_result(const ToolResultBlock& result) {
  add_part(json::object_of("type", "tool-result", "toolCallId", result.tool_use_id, "toolName",
                           tools_[result.tool_use_id], "output", result.text));
}

void StepRecorder::on_failure(const Error& error) {
  results_[{step_, "fail.json"}] =
      pretty(json::object_of("code", to_string(error.code), "message", error.message));
}

// A new file can be appended to, which costs less than a replacement.
void StepRecorder::write_files(const Files& files) {
  for (const auto& [location, bytes] : files) {
    const auto& [step, name] = location;
    const auto existing = artefacts_.find_artefact(session_, step, name);
    if (existing && *existing == std::nullopt) {
      record_failure(artefacts_.append_artefact(session_, step, name, bytes));
    } else if (!existing || *existing != bytes) {
      record_failure(artefacts_.save_artefact(session_, step, name, bytes));
    }
  }
}

void StepRecorder::write_pending() {
  Files files;
  Files pending;
  {
    const std::lock_guard lock(mutex_);
    files.swap(files_);
    pending.swap(pending_);
  }
  write_files(files);
  for (const auto& [location, bytes] : pending) {
    record_failure(artefacts_.append_artefact(session_, location.first, location.second, bytes));
  }
}

void StepRecorder::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    write_pending();
    std::unique_lock lock(mutex_);
    wake_.wait(lock, stop, [this] { return !pending_.empty(); });
    // New parts do not end this wait, so that they are written together.
    wake_.wait_for(lock, stop, kStepPause, [] { return false; });
  }
}

std::optional<Error> StepRecorder::finish() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    write_pending();
    write_files(std::exchange(results_, {}));
  }
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace reprise::store::chatdir
