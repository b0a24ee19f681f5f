#include "session/given_message.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>
#include <variant>

#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/fields.h"
#include "model/json_fields.h"
#include "model/known_time.h"

namespace reprise {
namespace {

constexpr std::string_view kRoles[] = {role::kUser, role::kAssistant, role::kSystem, role::kTool};
constexpr std::string_view kBlocks = "blocks";

std::unexpected<Error> refuse_given(std::string message) {
  return fail(Code::invalid_argument, std::move(message));
}

// The members that blocks of a type must have.
struct NeededMember {
  std::string_view type;
  std::string_view name;
  json::Kind kind = json::Kind::string;  // none: any
};
constexpr NeededMember kNeededMembers[] = {
    {"text", "text"},
    {"thinking", "text"},
    {"tool_use", "id"},
    {"tool_use", "name"},
    {"tool_use", "input", json::Kind::none},
    {"tool_result", "tool_use_id"},
    {"tool_result", "text"},
    {"image", "media_type"},
    {"document", "media_type"},
};
// Those that they may have, too.
constexpr NeededMember kOptionalMembers[] = {
    {"thinking", "signature"}, {"tool_result", "is_error", json::Kind::boolean},
    {"tool_result", "blob"},   {"image", "blob"},
    {"image", "url"},          {"document", "blob"},
    {"document", "url"},
};

std::string_view kind_words(json::Kind kind) {
  return kind == json::Kind::boolean ? "true or false" : "a string";
}

struct GivenMember {
  std::string name;
  json::Kind kind = json::Kind::none;
};

// The members of a validated object.
std::vector<GivenMember> members_of(std::string_view object) {
  std::vector<GivenMember> members;
  json::Scanner scanner(object);
  scanner.object([&](std::string_view name) {
    members.push_back({std::string(name), scanner.kind()});
    return scanner.skip();
  });
  return members;
}

Result<> check_once(const std::vector<GivenMember>& members) {
  std::set<std::string_view> seen;
  for (const GivenMember& member : members) {
    if (!seen.insert(member.name).second) {
      return refuse_given(cat("'", member.name, "' stands twice"));
    }
  }
  return {};
}

// Extra fields are compared with each other when they are written.
Result<> check_count(const Extra& extra) {
  constexpr std::size_t kMembersMax = 1000;
  return extra.size() <= kMembersMax
             ? Result<>()
             : refuse_given(cat("an object has more than ", kMembersMax, " members of its own"));
}

Result<> check_member(const std::vector<GivenMember>& members, const NeededMember& rule,
                      bool is_needed) {
  const auto found = std::ranges::find(members, rule.name, &GivenMember::name);
  if (found == members.end()) {
    return is_needed ? refuse_given(cat("a ", rule.type, " block needs '", rule.name, "'"))
                     : Result<>();
  }
  if (rule.kind != json::Kind::none && found->kind != rule.kind) {
    return refuse_given(
        cat("'", rule.name, "' of a ", rule.type, " block must be ", kind_words(rule.kind)));
  }
  return {};
}

Result<> check_block(std::string_view raw) {
  const std::vector<GivenMember> members = members_of(raw);
  const std::optional<std::string> type = json::text_in(json::find_member(raw, "type"));
  if (!type || type->empty()) {
    return refuse_given("a block must be an object with a 'type'");
  }
  REPRISE_TRY(check_once(members));
  for (const NeededMember& rule : kNeededMembers) {
    if (rule.type == *type) {
      REPRISE_TRY(check_member(members, rule, true));
    }
  }
  for (const NeededMember& rule : kOptionalMembers) {
    if (rule.type == *type) {
      REPRISE_TRY(check_member(members, rule, false));
    }
  }
  return {};
}

Result<> check_blob(std::string_view type, const Extra& extra) {
  return json::find_field(extra, "blob") == nullptr
             ? Result<>()
             : refuse_given(cat("'blob' of a ", type, " block must be a SHA-256 hash in hex"));
}

// What only the reader finds.
Result<> check_read(const Block& block) {
  REPRISE_TRY(std::visit(
      [](const auto& part) {
        if constexpr (requires { part.extra; }) {
          return check_count(part.extra);
        } else {
          return Result<>();
        }
      },
      block));
  if (const auto* const unknown = std::get_if<UnknownBlock>(&block);
      unknown != nullptr && (unknown->type == "image" || unknown->type == "document")) {
    return refuse_given(
        cat("'image' and 'document' blocks need a 'blob' or a 'url', and the media type "
            "application/pdf stands for a 'document'"));
  }
  if (const auto* const result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
    return check_blob("tool_result", result->extra);
  }
  const auto* const image = std::get_if<ImageBlock>(&block);
  return image == nullptr ? Result<>() : check_blob("image", image->extra);
}

Result<> check_blocks(std::string_view array) {
  Result<> checked;
  std::size_t index = 0;
  json::Scanner scanner(array);
  scanner.array([&] {
    std::string_view raw;
    if (checked && scanner.raw(raw)) {
      checked = check_block(raw);
      index += checked ? 1U : 0U;
      return true;
    }
    return scanner.failed() ? false : scanner.skip();
  });
  return checked ? checked : fail_with_context(cat("block ", index), std::move(checked).error());
}

bool is_mark(std::string_view name) {
  return name == kInjectedField || name == model::kSummaryMark;
}

std::vector<std::string_view> message_members() {
  std::vector<std::string_view> names = {kInjectedField, model::kSummaryMark, model::kOthers};
  model::for_each(model::kMessageFields, [&](const auto& field) { names.push_back(field.name); });
  return names;
}

Result<> check_members(const std::vector<GivenMember>& members) {
  const std::vector<std::string_view> known = message_members();
  for (const auto& [name, kind] : members) {
    if (std::ranges::find(known, name) == known.end()) {
      const std::string_view near = nearest(name, known);
      return refuse_given(
          near.empty() ? cat("a message has no '", name, "'; what is yours goes into 'others'")
                       : cat("a message has no '", name, "'; did you mean '", near, "'?"));
    }
    if (is_mark(name) && kind != json::Kind::boolean) {
      return refuse_given(cat("'", name, "' must be true or false"));
    }
    if (name == model::kOthers && kind != json::Kind::object) {
      return refuse_given("'others' must be an object");
    }
    if (name == kBlocks && kind != json::Kind::array) {
      return refuse_given("'blocks' must be an array of blocks");
    }
  }
  REPRISE_TRY(check_once(members));
  for (const std::string_view needed : {std::string_view("role"), kBlocks}) {
    if (std::ranges::find(members, needed, &GivenMember::name) == members.end()) {
      return refuse_given(cat("a message needs '", needed, "'"));
    }
  }
  return {};
}

bool is_negative(TokenCount count) {
  return count.value < 0;
}

// The reader keeps a value that it does not understand under its name.
Result<> check_usage(const Usage& usage) {
  REPRISE_TRY(check_count(usage.extra));
  for (const ExtraField& field : usage.extra) {
    if (model::visit_named(model::kUsageFields, field.name, [](const auto&) { return true; })) {
      return refuse_given(cat("'", field.name, "' of the usage has a value that is not valid"));
    }
  }
  const bool has_negative =
      std::ranges::any_of(std::initializer_list{usage.input, usage.output, usage.reasoning,
                                                usage.cached, usage.cache_written},
                          is_negative);
  return has_negative ? refuse_given("the usage must not be negative") : Result<>();
}

Result<> check_values(const Message& message) {
  REPRISE_TRY(check_count(message.extra));
  for (const ExtraField& field : message.extra) {
    if (model::visit_named(model::kMessageFields, field.name, [](const auto&) { return true; })) {
      return refuse_given(cat("'", field.name, "' of the message has a value that is not valid"));
    }
  }
  REPRISE_TRY(check_role(message.role));
  if (message.usage) {
    REPRISE_TRY(check_usage(*message.usage));
  }
  for (std::size_t i = 0; i < message.blocks.size(); ++i) {
    if (auto checked = check_read(message.blocks[i]); !checked) {
      return fail_with_context(cat("block ", i), std::move(checked).error());
    }
  }
  return {};
}

std::int64_t line_at(std::string_view text, std::size_t at) {
  return 1 + std::ranges::count(text.substr(0, at), '\n');
}

// Calls take(value) for each of the JSON values that follow each other, and adds the line to an
// error.
Result<> for_each_value(std::string_view text,
                        const std::function<Result<>(std::string_view value)>& take) {
  REPRISE_TRY(check_utf8(text));
  std::int64_t line = 1;
  for (;;) {
    json::Scanner scanner(text);
    scanner.kind();  // skips the blanks before it
    line += line_at(text, scanner.position()) - 1;
    if (scanner.rest().empty()) {
      return {};
    }
    const std::size_t start = scanner.position();
    std::string_view raw;
    auto taken = scanner.raw(raw) ? take(raw) : refuse_given(scanner.fault().message);
    if (!taken) {
      const std::size_t at = scanner.failed() ? scanner.position() : start;
      line += line_at(text, at) - line_at(text, start);
      return fail_with_context(cat("line ", line), std::move(taken).error());
    }
    line += line_at(text, scanner.position()) - line_at(text, start);
    text.remove_prefix(scanner.position());
  }
}

}  // namespace

Result<> check_role(std::string_view role) {
  return std::ranges::find(kRoles, role) != std::end(kRoles)
             ? Result<>()
             : refuse_given(
                   cat("the role must be user, assistant, system or tool, not '", role, "'"));
}

Result<> check_utf8(std::string_view text) {
  const std::size_t good = utf8::valid_prefix(text);
  return good == text.size()
             ? Result<>()
             : refuse_given(cat("line ", line_at(text, good), ": the input is not valid UTF-8"));
}

Result<Message> message_given(std::string_view json, Time now) {
  json::Scanner scanner(json);
  if (scanner.kind() != json::Kind::object) {
    std::string_view raw;
    return refuse_given(scanner.raw(raw) ? "a message must be an object" : scanner.fault().message);
  }
  Message message;
  const bool is_read = model::read_fields(scanner, model::kMessageFields, message) && scanner.end();
  if (!is_read) {
    // Only `blocks` can fail although the JSON is well-formed.
    std::string_view raw;
    json::Scanner whole(json);
    return refuse_given(whole.raw(raw) && whole.end() ? "'blocks' must be an array of blocks"
                                                      : scanner.fault().message);
  }
  if (scanner.lossy()) {
    return refuse_given("a string has half of a surrogate pair");
  }
  const std::vector<GivenMember> members = members_of(json);
  REPRISE_TRY(check_members(members));
  REPRISE_TRY(check_blocks(json::find_member(json, kBlocks)));
  REPRISE_TRY(check_values(message));
  if (std::ranges::find(members, "created_at", &GivenMember::name) == members.end()) {
    message.created_at = now;
  }
  message.seq = {};
  return message;
}

Result<std::vector<Message>> messages_given(std::string_view text, Time now) {
  std::vector<Message> messages;
  REPRISE_TRY(for_each_value(text, [&](std::string_view value) -> Result<> {
    REPRISE_ASSIGN(Message message, message_given(value, now));
    messages.push_back(std::move(message));
    return {};
  }));
  return messages;
}

Result<std::vector<Message>> message_array_given(std::string_view json, Time now) {
  std::vector<Message> messages;
  Result<> taken;
  json::Scanner scanner(json);
  const bool is_read = scanner.kind() == json::Kind::array && scanner.array([&] {
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    if (auto message = message_given(raw, now); message && taken) {
      messages.push_back(*std::move(message));
    } else if (taken) {
      taken = fail_with_context(cat("message ", messages.size()), std::move(message).error());
    }
    return true;
  });
  if (taken && (!is_read || messages.empty())) {
    return refuse_given("'messages' must be an array of at least one message");
  }
  return taken ? Result<std::vector<Message>>(std::move(messages))
               : std::unexpected(std::move(taken).error());
}

Result<std::vector<Block>> blocks_given(std::string_view text) {
  std::vector<Block> blocks;
  REPRISE_TRY(for_each_value(text, [&](std::string_view value) -> Result<> {
    REPRISE_ASSIGN(Message message,
                   message_given(cat(R"({"role":"assistant","blocks":[)", value, "]}"), {}));
    blocks.push_back(std::move(message.blocks.front()));
    return {};
  }));
  return blocks;
}

Result<Message> text_given(std::string_view role, std::string text, Time now) {
  REPRISE_TRY(check_role(role));
  REPRISE_TRY(check_utf8(text));
  if (trimmed(text).empty()) {
    return refuse_given("the text is empty");
  }
  return Message{
      .role = std::string(role), .blocks = {TextBlock{std::move(text), {}}}, .created_at = now};
}

}  // namespace reprise
