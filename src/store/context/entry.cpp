#include "store/context/entry.h"

#include <algorithm>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "model/json_fields.h"
#include "model/known_time.h"
#include "reprise/message.h"
#include "store/document/one_file.h"
#include "store/document/sidecar.h"
#include "store/stored_json.h"

namespace reprise::store::context {
namespace {

constexpr int kEntryDepth = 3;
constexpr std::string_view kBefore = "before";

bool read_usage(json::Scanner& scanner, Message& message) {
  Usage usage;
  const bool is_valid = scanner.object([&](std::string_view name) {
    if (name == "prompt_tokens") {
      return model::read_field(scanner, name, usage.input.value, usage.extra);
    }
    if (name == "completion_tokens") {
      return model::read_field(scanner, name, usage.output.value, usage.extra);
    }
    if (name == "model") {
      return model::read_field(scanner, name, message.model, usage.extra);
    }
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    if (name == "cost") {
      usage.cost = Money::parse(raw);
      usage.price_source = usage.cost ? "provider" : "";
    }
    if (name != "cost" || !usage.cost) {
      usage.extra.push_back({std::string(name), json::take(raw)});
    }
    return true;
  });
  message.usage = std::move(usage);
  return is_valid;
}

bool read_timestamp(json::Scanner& scanner, Message& message) {
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  const auto time = raw.starts_with('"') ? parse_time(raw.substr(1, raw.size() - 2)) : std::nullopt;
  if (time) {
    message.created_at = *time;
  } else {
    message.extra.push_back({"timestamp", json::take(raw)});
  }
  return true;
}

// An entry while it is read.
struct Entry {
  Message message;
  bool has_role = false;
  bool has_content = false;
  std::string_view sidecar = {};
};

bool read_content(json::Scanner& scanner, Entry& entry) {
  TextBlock block;
  entry.has_content = scanner.string(block.text);
  entry.message.blocks.clear();
  if (!block.text.empty()) {
    entry.message.blocks.emplace_back(std::move(block));
  }
  return entry.has_content;
}

bool read_member(json::Scanner& scanner, std::string_view name, Entry& entry) {
  const json::Kind kind = scanner.kind();
  Message& message = entry.message;
  if (name == "role" && kind == json::Kind::string) {
    entry.has_role = true;
    return scanner.string(message.role);
  }
  if (name == "content" && kind == json::Kind::string) {
    return read_content(scanner, entry);
  }
  if (name == "timestamp") {
    return read_timestamp(scanner, message);
  }
  if (name == "usage" && kind == json::Kind::object) {
    return read_usage(scanner, message);
  }
  if (name == kSidecar && kind == json::Kind::object) {
    return scanner.raw(entry.sidecar);
  }
  if (name == "incomplete" && scanner.rest().starts_with("true")) {
    message.state = MessageState::incomplete;
    return scanner.skip();
  }
  return model::add_extra(scanner, name, message.extra);
}

bool is_reserved(std::string_view name) {
  return name == "role" || name == "content" || name == kSidecar;
}

std::string usage_text(const Usage& usage, const std::string& model) {
  IndentedObject writer(kEntryDepth + 1);
  writer.raw("prompt_tokens", std::to_string(usage.input.value));
  writer.raw("completion_tokens", std::to_string(usage.output.value));
  if (usage.cost) {
    writer.raw("cost", usage.cost->str());
  }
  if (!model.empty()) {
    writer.text("model", model);
  }
  return writer.object();
}

void write_native(IndentedObject& writer, const Message& message) {
  writer.text("role", message.role);
  writer.text("content", plain_text(message));
  if (is_known(message.created_at) && json::find_field(message.extra, "timestamp") == nullptr) {
    writer.text("timestamp", format_milliseconds(message.created_at));
  }
  if (message.usage && json::find_field(message.extra, "usage") == nullptr) {
    writer.raw("usage", usage_text(*message.usage, message.model));
  }
  if (message.state == MessageState::incomplete &&
      json::find_field(message.extra, "incomplete") == nullptr) {
    writer.raw("incomplete", "true");
  }
  for (const ExtraField& field : message.extra) {
    if (!is_reserved(field.name)) {
      writer.raw(field.name, field.value.text());
    }
  }
}

}  // namespace

std::optional<Message> decode_entry(std::string_view json) {
  json::Scanner scanner(json);
  Entry entry;
  if (scanner.kind() != json::Kind::object) {
    return std::nullopt;
  }
  const bool is_valid =
      scanner.object([&](std::string_view name) { return read_member(scanner, name, entry); });
  if (!is_valid || !entry.has_role || !entry.has_content) {
    return std::nullopt;
  }
  if (!entry.sidecar.empty() && !add_message_sidecar(entry.message, entry.sidecar)) {
    entry.message.extra.push_back({std::string(kSidecar), json::take(entry.sidecar)});
  }
  return std::move(entry.message);
}

std::string encode_entry(const Message& message, const std::vector<Message>& before) {
  IndentedObject writer(kEntryDepth);
  write_native(writer, message);
  std::string text = writer.object();
  // What a reader would get from these members alone.
  const auto native = decode_entry(text);
  std::string sidecar = native ? message_sidecar(message, *native) : std::string();
  if (!before.empty()) {
    const std::string others =
        sidecar.empty() ? "}" : cat(",", std::string_view(sidecar).substr(1));
    sidecar = cat("{\"", kBefore, "\":", messages_to_json(before), others);
  }
  if (!sidecar.empty()) {
    writer.raw(kSidecar, sidecar);
    text = writer.object();
  }
  return text;
}

std::optional<std::vector<Message>> messages_before(std::string_view entry) {
  const std::string_view before = json::find_member(json::find_member(entry, kSidecar), kBefore);
  return before.empty() ? std::vector<Message>() : messages_from_json(before);
}

bool has_entry(const Message& message) {
  const auto is_result = [](const Block& block) {
    return std::holds_alternative<ToolResultBlock>(block);
  };
  const bool has_words = !trimmed(plain_text(message)).empty();
  if (message.role == role::kAssistant) {
    return has_words && (message.state == MessageState::incomplete || tool_calls(message).empty());
  }
  return message.role == role::kSystem ||
         (message.role == role::kUser &&
          (has_words || std::ranges::none_of(message.blocks, is_result)));
}

std::string format_entry(std::string_view json) {
  return formatted(json, kEntryDepth);
}

bool append_entry(std::string& out, json::Scanner& scanner) {
  return append_formatted(out, scanner, kEntryDepth);
}

bool is_answer(const Message& message) {
  return message.role == role::kAssistant && message.state == MessageState::complete &&
         tool_calls(message).empty();
}

std::string entry_mark(const Message& message, bool has_time) {
  const std::string time = has_time ? format_milliseconds(message.created_at) : "";
  return std::to_string(fnv1a(cat(message.role, "\n", time, "\n", plain_text(message))));
}

}  // namespace reprise::store::context
