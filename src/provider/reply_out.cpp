#include "provider/reply_out.h"

#include <algorithm>

#include "base/assert.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"
#include "provider/request_options.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

// The number of bytes (6 or 0) at the end of a JSON string's content that are the escape of a high
// surrogate, whose low half may follow.
std::size_t open_surrogate(std::string_view content) {
  if (content.size() < 6) {
    return 0;
  }
  const std::string_view tail = content.substr(content.size() - 6);
  const bool high = tail.starts_with("\\u") && ascii_lower(tail[2]) == 'd' &&
                    std::string_view("89ab").find(ascii_lower(tail[3])) != std::string_view::npos;
  if (!high) {
    return 0;
  }
  // The backslash itself may be escaped: count the consecutive ones before it.
  const std::size_t before = content.size() - 6;
  const auto last_other = content.substr(0, before).find_last_not_of('\\');
  const std::size_t backslashes =
      last_other == std::string_view::npos ? before : before - last_other - 1;
  return backslashes % 2 == 0 ? 6 : 0;
}

std::string decoded(std::string_view content) {
  return json::text_in(cat('"', content, '"')).value_or("");  // the content was validated
}

}  // namespace

std::string DeltaText::decode(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') {
    return {};  // null, which some servers send for empty text
  }
  if (const std::string_view plain = raw.substr(1, raw.size() - 2);
      pending_.empty() && plain.find('\\') == std::string_view::npos && utf8::is_valid(plain)) {
    return std::string(plain);
  }
  std::string content = std::exchange(pending_, {});
  content += raw.substr(1, raw.size() - 2);
  std::size_t open = open_surrogate(content);
  if (open == 0) {
    open = utf8::incomplete_tail(content);
  }
  pending_ = content.substr(content.size() - open);
  content.resize(content.size() - open);
  return decoded(content);
}

std::string DeltaText::finish() {
  return decoded(std::exchange(pending_, {}));
}

void ReplyWriter::send(const StreamEvent& event) {
  if (!began_) {
    began_ = true;
    sink_(ReplyStarted{response_id_, model_});
  }
  sink_(event);
}

void ReplyWriter::started(std::string_view response_id, std::string_view model) {
  if (response_id_.empty()) {
    count(response_id);
    response_id_ = response_id;
  }
  if (model_.empty()) {
    count(model);
    model_ = model;
  }
}

void ReplyWriter::emit(Kind kind, std::string_view text) {
  REPRISE_ASSERT(current_tool() == nullptr);  // one block is open at a time
  switch (kind) {
    case Kind::text:
      send(TextDelta{text});
      break;
    case Kind::thinking:
      send(ThinkingDelta{text});
      break;
    case Kind::signature:
      send(ThinkingSignature{text});
      break;
    case Kind::raw:
      send(RawBlock{json::take(text)});
      break;
  }
}

void ReplyWriter::end_text() {
  if (std::exchange(in_text_, false)) {
    count_block();
    joined_ += delta_.finish();
    flush();
  }
}

void ReplyWriter::piece(Kind kind, std::string_view raw) {
  if (raw == R"("")") {
    return;
  }
  has_words_ = has_words_ || (kind == Kind::text && raw.starts_with('"'));
  if (current_tool() != nullptr) {
    if (std::string text = DeltaText().decode(raw); !text.empty()) {
      count(text);
      count_block();
      deferred_.push_back({kind, std::move(text)});
    }
    return;
  }
  if (in_text_ && kind_ != kind) {
    end_text();
  }
  in_text_ = true;
  kind_ = kind;
  const std::string text = delta_.decode(raw);
  count(text);
  joined_ += text;
}

void ReplyWriter::flush() {
  if (!joined_.empty()) {
    emit(kind_, joined_);
    joined_.clear();
  }
}

void ReplyWriter::signature(std::string_view signature) {
  if (signature.empty()) {
    return;
  }
  count(signature);
  count_block();
  if (current_tool() != nullptr) {
    deferred_.push_back({Kind::signature, std::string(signature)});
    return;
  }
  end_text();
  send(ThinkingSignature{signature});
}

void ReplyWriter::raw_block(std::string_view json) {
  count(json);
  count_block();
  if (current_tool() != nullptr) {
    deferred_.push_back({Kind::raw, std::string(json)});
    return;
  }
  end_text();
  emit(Kind::raw, json);
}

ReplyWriter::Tool* ReplyWriter::current_tool() {
  return current_ < tools_.size() ? &tools_[current_] : nullptr;
}

// Null if it is unknown or done.
ReplyWriter::Tool* ReplyWriter::open_tool(std::int64_t key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() || tools_[found->second].done ? nullptr : &tools_[found->second];
}

void ReplyWriter::tool(std::int64_t key, std::string_view id, std::string_view name) {
  const auto [at, is_new] = by_key_.try_emplace(key, tools_.size());
  if (is_new) {
    end_text();
    count_block();
    tools_.emplace_back();
  }
  Tool& tool = tools_[at->second];
  if (tool.announced) {
    return;  // some servers repeat the id and name with each piece
  }
  if (tool.id.empty()) {
    count(id);
    tool.id = id;
  }
  if (name.starts_with(tool.name)) {
    count(name.substr(tool.name.size()));
    tool.name = name;
  } else {
    count(name);
    tool.name += name;
  }
  advance();
}

void ReplyWriter::tool_members(std::int64_t key, std::string_view json) {
  if (Tool* const tool = open_tool(key); tool != nullptr) {
    count(json);
    tool->members = tool->members.empty() ? std::string(json) : merged_json(tool->members, json);
  }
}

void ReplyWriter::text_members(std::string_view json) {
  send(BlockMembers{json::take(json), false});
}

void ReplyWriter::tool_input(std::int64_t key, std::string_view raw) {
  if (Tool* const tool = open_tool(key); tool != nullptr) {
    add_input(*tool, tool->delta.decode(raw));
  }
}

void ReplyWriter::tool_input_object(std::int64_t key, std::string_view json) {
  if (Tool* const tool = open_tool(key); tool != nullptr && !tool->has_input) {
    add_input(*tool, json::take(json).text());
  }
}

void ReplyWriter::add_input(Tool& tool, std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (text.size() > 2 && text == tool.input && is_json_object(text)) {
    return;  // some servers end with all of it once more
  }
  tool.has_input = true;
  count(text);
  tool.input += text;
  if (tool.announced) {
    send(ToolInputDelta{text});
  } else {
    advance();
  }
}

void ReplyWriter::close_tool(Tool& tool) {
  add_input(tool, tool.delta.finish());
  if (!tool.has_input) {
    add_input(tool, "{}");
  }
  tool.done = true;
}

void ReplyWriter::tool_end(std::int64_t key) {
  if (Tool* const tool = open_tool(key); tool != nullptr) {
    close_tool(*tool);
    advance();
  }
}

void ReplyWriter::announce(Tool& tool) {
  const std::string id = tool.id.empty() ? cat("call_", current_) : tool.id;
  tool.id = id;
  for (int times = 2; !ids_.insert(tool.id).second; ++times) {
    tool.id = cat(id, "_", times);
  }
  tool.announced = true;
  send(ToolUseBegin{tool.id, tool.name});
  if (!tool.input.empty()) {
    send(ToolInputDelta{tool.input});
  }
}

// Emits all calls up to the first one that is still open. Input tells that a name is complete.
void ReplyWriter::advance() {
  while (Tool* tool = current_tool()) {
    if (!tool->announced && (tool->done || (!tool->name.empty() && tool->has_input))) {
      announce(*tool);
    }
    if (!tool->done) {
      return;
    }
    if (!tool->members.empty()) {
      send(BlockMembers{json::take(std::exchange(tool->members, {})), true});
    }
    ++current_;
  }
  for (; !deferred_.empty(); deferred_.pop_front()) {
    emit(deferred_.front().kind, deferred_.front().text);
  }
}

void ReplyWriter::end_blocks() {
  for (Tool& tool : tools_) {
    if (!tool.done) {
      close_tool(tool);
    }
  }
  end_open_blocks();
}

void ReplyWriter::end_open_blocks() {
  end_text();
  for (Tool& tool : tools_) {
    tool.done = true;
  }
  advance();
}

void ReplyWriter::usage(const Usage& usage) {
  send(UsageReport{usage});
}

bool ReplyWriter::is_whole() const {
  const auto is_whole_call = [](const Tool& tool) {
    return !tool.has_input || is_json_object(tool.input);
  };
  return (has_words_ || used_tools()) && std::ranges::all_of(tools_, is_whole_call);
}

void ReplyWriter::ended(StopReason reason, std::string_view word) {
  if (reason == StopReason::other && std::ranges::find(good_ends_, word) != good_ends_.end()) {
    send(ReplyEnded{used_tools() ? StopReason::tool_use : StopReason::end});
    return;
  }
  send(ReplyEnded{reason, word});
}

}  // namespace reprise::provider
