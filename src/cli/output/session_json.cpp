#include "cli/output/session_json.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_write.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "model/known_time.h"
#include "model/media.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::cli {
namespace {

// Unlike the stored form, every field a script may look for is always there.
struct BlockWriter {
  std::string& out;

  void operator()(const TextBlock& block) const {
    json::ObjectWriter object(out);
    object.field("type", "text").field("text", block.text).extra(block.extra).close();
  }
  void operator()(const ThinkingBlock& block) const {
    json::ObjectWriter object(out);
    object.field("type", "thinking").field("text", block.text);
    if (!block.signature.empty()) {
      object.field("signature", block.signature);
    }
    object.extra(block.extra).close();
  }
  void operator()(const ToolUseBlock& block) const {
    json::ObjectWriter object(out);
    object.field("type", "tool_use").field("id", block.id).field("name", block.name);
    object.raw("input", block.input.text()).extra(block.extra).close();
  }
  void operator()(const ToolResultBlock& block) const {
    json::ObjectWriter object(out);
    object.field("type", "tool_result").field("tool_use_id", block.tool_use_id);
    object.field("text", block.text).field("is_error", block.is_error);
    if (block.blob) {
      object.field("blob", block.blob->str());
    }
    object.extra(block.extra).close();
  }
  void operator()(const ImageBlock& block) const {
    json::ObjectWriter object(out);
    object.field("type", model::is_pdf(block) ? "document" : "image")
        .field("media_type", block.media_type);
    if (block.blob) {
      object.field("blob", block.blob->str());
    }
    if (!block.url.empty()) {
      object.field("url", block.url);
    }
    object.extra(block.extra).close();
  }
  void operator()(const UnknownBlock& block) const { out += block.json.text(); }
};

void append_time(json::ObjectWriter& object, std::string_view name,
                 const std::optional<Time>& time) {
  if (time && is_known(*time)) {
    object.field(name, format_time(*time));
  } else {
    object.null(name);
  }
}

}  // namespace

std::string_view state_text(const SessionInfo& info) {
  return is_interrupted(info) ? "interrupted" : to_string(info.state);
}

std::string short_id_text(const SessionId& id) {
  return short_id(id).value_or(id.str());
}

void append_info(json::ObjectWriter& object, const SessionInfo& info) {
  object.field("id", info.id.str())
      .field("short_id", short_id_text(info.id))
      .field("title", info.title)
      .field("mode", info.mode)
      .field("state", state_text(info))
      .field("provider", info.provider)
      .field("model", info.model)
      .field("working_dir", info.working_dir)
      .field("messages", info.head.value);
  append_time(object, "created_at", info.created_at);
  append_time(object, "updated_at", info.updated_at);
  append_time(object, "closed_at", info.closed_at);
  if (info.forked_from) {
    object.field("forked_from", info.forked_from->session.str())
        .field("forked_at", info.forked_from->at.value);
  } else {
    object.null("forked_from");
  }
}

void append_usage(json::ObjectWriter& object, const Usage& usage) {
  object.field("input_tokens", usage.input.value)
      .field("output_tokens", usage.output.value)
      .field("reasoning_tokens", usage.reasoning.value)
      .field("cached_tokens", usage.cached.value);
  if (usage.cache_written.value != 0) {
    object.field("cache_written_tokens", usage.cache_written.value);
  }
  if (usage.cost) {
    object.raw("cost", usage.cost->str()).field("price_source", usage.price_source);
  } else {
    object.null("cost");
  }
}

std::string session_document(const Session& session, const std::vector<std::string>& response_ids) {
  std::string out;
  json::ObjectWriter object(out);
  append_info(object, session.info);
  object.field("system_prompt", session.system_prompt).raw("config", session.config.text());
  object.key("usage");
  json::ObjectWriter usage(out);
  append_usage(usage, session.usage);
  usage.close();
  object.key("response_ids");
  json::ArrayWriter ids(out);
  for (const std::string& id : response_ids) {
    ids.item();
    json::append_string(out, id);
  }
  ids.close();
  if (!session.prompt_history.empty()) {
    object.key("prompt_history");
    json::ArrayWriter prompts(out);
    for (const std::string& prompt : session.prompt_history) {
      prompts.item();
      json::append_string(out, prompt);
    }
    prompts.close();
  }
  object.close();
  return out;
}

Result<Exit> show_session(Context& context, Store& store, const SessionId& id) {
  if (context.globals().json) {
    REPRISE_ASSIGN(const Session session, get(store, id));
    std::string out;
    json::ObjectWriter object(out);
    append_info(object, session.info);
    object.close();
    context.voice().print_json(out);
  }
  return Exit::done;
}

std::string message_document(const Message& message) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("seq", message.seq.value)
      .field("role", message.role)
      .field("state", message.state == MessageState::complete ? "complete" : "incomplete");
  append_time(object, "created_at", message.created_at);
  for (const auto& [name, value] :
       {std::pair("provider", &message.provider), std::pair("model", &message.model),
        std::pair("response_id", &message.response_id)}) {
    if (!value->empty()) {
      object.field(name, *value);
    }
  }
  if (message.usage) {
    object.key("usage");
    json::ObjectWriter usage(out);
    append_usage(usage, *message.usage);
    usage.close();
  }
  object.key("blocks");
  json::ArrayWriter blocks(out);
  for (const Block& block : message.blocks) {
    blocks.item();
    std::visit(BlockWriter{out}, block);
  }
  blocks.close();
  object.extra(message.extra).close();
  return out;
}

std::string todos_document(const std::vector<Todo>& todos) {
  std::string out;
  json::ArrayWriter array(out);
  for (const Todo& todo : todos) {
    array.item();
    json::ObjectWriter object(out);
    object.field("content", todo.content)
        .field("status", to_string(todo.status))
        .field("active_form", todo.active_form.empty() ? todo.content : todo.active_form)
        .extra(todo.extra)
        .close();
  }
  array.close();
  return out;
}

std::string damage_document(const std::vector<Damage>& damage) {
  std::string out;
  json::ArrayWriter array(out);
  for (const Damage& part : damage) {
    array.item();
    json::ObjectWriter object(out);
    object.field("where", part.where).field("reason", part.reason).close();
  }
  array.close();
  return out;
}

}  // namespace reprise::cli
