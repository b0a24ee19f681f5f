#include <algorithm>
#include <array>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/message.h"
#include "store/document/sidecar.h"
#include "store/sessions/content.h"
#include "store/sessions/parts_json.h"
#include "store/sessions/session_json.h"
#include "store/sessions/spelling.h"

namespace reprise::store::sessions {
namespace {

constexpr int kMessageMemberDepth = 3;  // the members of a message: root, conversation, message

// Reads the members of one entry.
class EntryReader {
 public:
  explicit EntryReader(std::string_view raw) : raw_(raw), scanner_(raw) {}

  Entry run() {
    if (scanner_.kind() != json::Kind::object) {
      entry_.reasons.emplace_back("not an object");
      return std::move(entry_);
    }
    scanner_.object([this](std::string_view name) { return member(name); });
    if (!role_ || !content_) {
      entry_.reasons.emplace_back(role_ ? "no text in it" : "no role in it");
      return std::move(entry_);
    }
    if (!entry_.at) {
      entry_.reasons.emplace_back(
          "no time in it that can be read: a neighbouring message's is used");
    }
    if (!utf8::is_valid(raw_)) {
      entry_.reasons.emplace_back(kNotUtf8);
    }
    message_.role = *std::move(role_);
    message_.blocks = blocks_of(*std::move(content_));
    entry_.native = std::move(message_);
    return std::move(entry_);
  }

 private:
  bool member(std::string_view name) {
    if (scanner_.kind() == json::Kind::string) {
      if (name == "role") {
        return scanner_.string(role_.emplace());
      }
      if (name == "content") {
        return scanner_.string(content_.emplace());
      }
      if (name == kSidecar) {
        return scanner_.string(entry_.sidecar);
      }
    }
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    if (name == "timestamp" && raw.starts_with('"')) {
      const std::string_view text = raw.substr(1, raw.size() - 2);
      entry_.at = parse_time(text);
      if (entry_.at && format_time(*entry_.at) == text) {
        return true;
      }
    }
    if (name == "usage") {
      message_.usage = read_usage(raw);
      if (message_.usage) {
        return true;
      }
      entry_.reasons.emplace_back("its usage cannot be read");
    }
    if (name == "id" && !raw.starts_with('"')) {
      entry_.reasons.emplace_back("its id is not a string");
    }
    message_.extra.push_back({std::string(name), json::take(json::compact(raw))});
    return true;
  }

  std::string_view raw_;
  json::Scanner scanner_;
  Entry entry_;
  Message message_;
  std::optional<std::string> role_;
  std::optional<std::string> content_;
};

// The id for a message without one, derived from its position.
std::string id_at(Seq seq) {
  return cat("reprise-", seq.value);
}

// The message's original id; "" if it has none.
std::string original_id(const Message& message) {
  const RawJson* const id = json::find_field(message.extra, "id");
  return id == nullptr ? "" : json::text_in(id->text()).value_or("");
}

// The results of tools have a role of their own in the format.
bool has_only_results(const Message& message) {
  return !message.blocks.empty() && std::ranges::all_of(message.blocks, [](const Block& block) {
    return std::holds_alternative<ToolResultBlock>(block);
  });
}

// The extra field with a time that is spelled differently from ours.
constexpr std::string_view kTimestamp = "timestamp";

bool is_spelled(const Message& message, Time time) {
  const RawJson* const spelling = json::find_field(message.extra, kTimestamp);
  const auto text = spelling == nullptr ? std::nullopt : json::text_in(spelling->text());
  return text && parse_time(*text) == time;
}

// The original program refuses files with other roles.
std::string_view role_of(const Message& message) {
  if (has_only_results(message)) {
    return role::kTool;
  }
  constexpr std::array<std::string_view, 4> kRoles = {role::kUser, role::kAssistant, role::kSystem,
                                                      role::kTool};
  return std::ranges::find(kRoles, message.role) == kRoles.end() ? role::kSystem
                                                                 : std::string_view(message.role);
}

constexpr std::array<std::string_view, 3> kUsageMembers = {"input_tokens", "output_tokens",
                                                           "total_cost"};

std::string cost_text(const Usage& usage) {
  constexpr double kNanos = 1e9;
  return float_text(static_cast<double>(usage.cost.value_or(Money()).nanos) / kNanos);
}

bool read_count(std::string_view raw, TokenCount& out) {
  json::Scanner scanner(raw);
  return scanner.integer(out.value) && scanner.end();
}

}  // namespace

Entry read_entry(std::string_view raw) {
  return EntryReader(raw).run();
}

Message finish_message(Message native, Entry& entry, Seq seq) {
  Message message = std::move(native);
  message.created_at = entry.at.value_or(Time());
  remove_default_id(message, seq);
  if (!entry.sidecar.empty()) {
    if (const auto added = add_entry_sidecar(message, entry.sidecar); !added) {
      entry.reasons.push_back(cat("its member ", kSidecar, ": ", added.error().message));
    }
  }
  return message;
}

std::string entry_id(const Message& message) {
  const std::string id = original_id(message);
  return id.empty() ? id_at(message.seq) : id;
}

void remove_default_id(Message& message, Seq seq) {
  if (original_id(message) == id_at(seq)) {
    std::erase_if(message.extra, [](const ExtraField& field) { return field.name == "id"; });
  }
}

std::string write_message(const Message& message, Time time) {
  const std::string content = content_of(message);
  const std::string id = original_id(message);
  const bool has_id = !id.empty() && id != id_at(message.seq);
  Members members(kMessageMemberDepth);
  members.text("content", content);
  members.text("id", has_id ? id : id_at(message.seq));
  const std::string_view role = role_of(message);
  members.text("role", role);
  std::vector<std::string_view> written_names = {"content", "role", kSidecar};
  if (!is_spelled(message, time)) {
    members.text(kTimestamp, format_time(time));
    written_names.emplace_back(kTimestamp);
  }
  if (!has_id) {
    written_names.emplace_back("id");
  }
  // What a reader gets from these members alone.
  Message native{.role = std::string(role), .blocks = blocks_of(content), .created_at = time};
  if (message.usage) {
    members.raw("usage", write_usage(*message.usage, kMessageMemberDepth));
    written_names.emplace_back("usage");
    native.usage = native_usage(*message.usage);
  }
  native.extra = extra_members(message.extra, written_names);
  for (const ExtraField& field : native.extra) {
    if (field.name != "id") {
      members.extra(field);
    }
  }
  if (const std::string sidecar = entry_sidecar(message, native); !sidecar.empty()) {
    members.text(kSidecar, sidecar);
  }
  return members.object();
}

std::string write_usage(const Usage& usage, int depth) {
  Members members(depth + 1);
  members.raw("input_tokens", std::to_string(usage.input.value));
  members.raw("output_tokens", std::to_string(usage.output.value));
  members.raw("total_cost", cost_text(usage));
  for (const ExtraField& field : extra_members(usage.extra, kUsageMembers)) {
    members.extra(field);
  }
  return members.object();
}

Usage native_usage(const Usage& usage) {
  return {.input = usage.input,
          .output = usage.output,
          .cost = Money::parse(cost_text(usage)),
          .extra = extra_members(usage.extra, kUsageMembers)};
}

std::optional<Usage> read_usage(std::string_view raw) {
  Usage usage;
  json::Scanner scanner(raw);
  const auto member = [&](std::string_view name) {
    std::string_view value;
    if (!scanner.raw(value)) {
      return false;
    }
    if (name == "input_tokens") {
      return read_count(value, usage.input);
    }
    if (name == "output_tokens") {
      return read_count(value, usage.output);
    }
    if (name == "total_cost") {
      usage.cost = Money::parse(value);
      return usage.cost.has_value();
    }
    usage.extra.push_back({std::string(name), json::take(json::compact(value))});
    return true;
  };
  if (scanner.kind() != json::Kind::object || !scanner.object(member)) {
    return std::nullopt;
  }
  return usage;
}

}  // namespace reprise::store::sessions
