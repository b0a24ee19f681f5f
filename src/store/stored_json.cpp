#include "store/stored_json.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <span>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "model/json_fields.h"
#include "reprise/capabilities.h"
#include "reprise/message.h"
#include "reprise/store.h"

namespace reprise::store {
namespace {

// Beyond this, arithmetic with std::chrono would overflow; no clock writes such times.
bool is_valid_time(std::int64_t microseconds) {
  constexpr std::int64_t kMax = std::int64_t{1} << 60;
  return microseconds > -kMax && microseconds < kMax;
}

bool read_answer_field(json::Scanner& scanner, std::string_view name, Partial& partial,
                       Extra& extra) {
  const std::pair<std::string_view, std::string*> texts[] = {
      {"host", &partial.owner.host},
      {"provider", &partial.provider},
      {"model", &partial.model},
  };
  for (const auto& [key, text] : texts) {
    if (key == name) {
      return model::read_field(scanner, name, *text, extra);
    }
  }
  const std::pair<std::string_view, std::int64_t*> numbers[] = {
      {"pid", &partial.owner.pid},
      {"started", &partial.owner.started},
      {"pid_namespace", &partial.owner.pid_namespace},
  };
  for (const auto& [key, number] : numbers) {
    if (key == name) {
      return model::read_field(scanner, name, *number, extra);
    }
  }
  std::string_view raw;
  if (name == "lease" && scanner.raw(raw)) {
    partial.owner.lease = lease_from_json(raw).value_or(Lease{});
    return true;
  }
  if (name == "started_us") {
    std::int64_t microseconds = 0;
    const bool read = model::read_field(scanner, name, microseconds, extra);
    partial.started_at = Time(std::chrono::microseconds(microseconds));
    return read;
  }
  return model::add_extra(scanner, name, extra);
}

void add_extra(Extra& extra, const Extra& more) {
  if (more.empty()) {
    return;
  }
  std::map<std::string, std::size_t, std::less<>> indexes;
  for (std::size_t i = 0; i < extra.size(); ++i) {
    indexes.try_emplace(extra[i].name, i);
  }
  for (const ExtraField& field : more) {
    const auto [entry, is_new] = indexes.try_emplace(field.name, extra.size());
    if (is_new) {
      extra.push_back(field);
    } else {
      extra[entry->second].value = field.value;
    }
  }
}

void add_input(RawJson& input, const RawJson& piece) {
  if (piece.is_null()) {
    return;
  }
  if (!json::join_strings(input, piece)) {
    input = piece;
  }
}

bool continue_block(TextBlock& block, const TextBlock& delta) {
  block.text += delta.text;
  add_extra(block.extra, delta.extra);
  return true;
}

bool continue_block(ThinkingBlock& block, const ThinkingBlock& delta) {
  block.text += delta.text;
  block.signature += delta.signature;
  add_extra(block.extra, delta.extra);
  return true;
}

bool continue_block(ToolUseBlock& block, const ToolUseBlock& delta) {
  if (block.id != delta.id) {
    return false;
  }
  if (block.name.empty()) {
    block.name = delta.name;
  }
  add_input(block.input, delta.input);
  add_extra(block.extra, delta.extra);
  return true;
}

// All other pairs remain separate blocks.
template <class Last, class First>
bool continue_block(Last& /*last*/, const First& /*first*/) {
  return false;
}

}  // namespace

std::string extra_to_json(const Extra& extra) {
  std::string out;
  json::ObjectWriter object(out);
  object.extra(extra).close();
  return out;
}

Extra extra_from_json(std::string_view json) {
  Extra extra;
  json::Scanner scanner(json);
  const bool is_valid =
      scanner.object([&](std::string_view name) { return model::add_extra(scanner, name, extra); });
  return is_valid ? extra : Extra{};
}

std::vector<std::string> strings_from_json(std::string_view json) {
  std::vector<std::string> strings;
  json::Scanner scanner(json);
  const bool is_valid = scanner.array([&] { return scanner.string(strings.emplace_back()); });
  return is_valid ? strings : std::vector<std::string>{};
}

void from_text(std::string_view text, std::string& out) {
  out = utf8::sanitize(text);
}

void from_text(std::string_view text, RawJson& out) {
  if (auto json = RawJson::parse(utf8::sanitize(text)); json) {
    out = *std::move(json);
  }
}

void from_text(std::string_view text, std::vector<ResponseLink>& out) {
  out = chain_from_json(text);
}

void from_text(std::string_view text, std::vector<std::string>& out) {
  out = strings_from_json(text);
}

void from_text(std::string_view text, Extra& out) {
  out = extra_from_json(text);
}

std::string answer_to_json(const PartialStart& start) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("answer", start.answer.str())
      .field("host", start.owner.host)
      .field("pid", start.owner.pid)
      .field("started", start.owner.started);
  if (start.owner.pid_namespace != 0) {
    object.field("pid_namespace", start.owner.pid_namespace);
  }
  if (start.owner.lease.length.count() != 0) {
    object.raw("lease", lease_to_json(start.owner.lease));
  }
  object.field("provider", start.provider)
      .field("model", start.model)
      .field("started_us", start.started_at.time_since_epoch().count());
  object.close();
  return out;
}

Result<Partial> answer_from_json(std::string_view json) {
  std::string answer;
  json::Scanner id(json::find_member(json, "answer"));
  (void)id.string(answer);  // an id that is not a string is ignored
  REPRISE_ASSIGN(OperationId name, OperationId::parse(answer));
  Partial partial{std::move(name), {}, {}, {}, {}, {}};
  Extra ignored;
  json::Scanner scanner(json);
  const auto member = [&](std::string_view field) {
    return read_answer_field(scanner, field, partial, ignored);
  };
  if (!scanner.object(member)) {
    return std::unexpected(scanner.fault());
  }
  if (Lease& lease = partial.owner.lease; lease.length.count() == 0) {
    const bool is_valid = is_valid_time(partial.started_at.time_since_epoch().count());
    lease = {.renewed_at = is_valid ? partial.started_at : Time{}, .uptime = {}, .length = {}};
  }
  return partial;
}

std::string lease_to_json(const Lease& lease) {
  return json::object_of("renewed_us", lease.renewed_at.time_since_epoch().count(), "uptime_us",
                         lease.uptime.count(), "length_ms", lease.length.count());
}

std::optional<Lease> lease_from_json(std::string_view json) {
  std::int64_t renewed = 0;
  std::int64_t uptime = 0;
  std::int64_t length = 0;
  json::Scanner scanner(json);
  const bool is_valid = scanner.kind() == json::Kind::object && scanner.object([&](auto name) {
    std::int64_t* const number = name == "renewed_us"  ? &renewed
                                 : name == "uptime_us" ? &uptime
                                 : name == "length_ms" ? &length
                                                       : nullptr;
    return number != nullptr ? scanner.integer(*number) : scanner.skip();
  });
  constexpr std::int64_t kLengthMax = std::int64_t{7} * 24 * 3'600'000;
  if (!is_valid || !is_valid_time(renewed) || !is_valid_time(uptime) || length <= 0 ||
      length > kLengthMax) {
    return std::nullopt;
  }
  return Lease{.renewed_at = Time(std::chrono::microseconds(renewed)),
               .uptime = std::chrono::microseconds(uptime),
               .length = std::chrono::milliseconds(length)};
}

std::string messages_to_json(const std::vector<Message>& messages) {
  std::string out;
  json::ArrayWriter array(out);
  for (const Message& message : messages) {
    array.item();
    out += message_to_json(message);
  }
  array.close();
  return out;
}

std::optional<std::vector<Message>> messages_from_json(std::string_view json) {
  std::vector<Message> messages;
  json::Scanner scanner(json);
  const auto element = [&] {
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    auto message = message_from_json(raw);
    if (!message) {
      return false;
    }
    messages.push_back(*std::move(message));
    return true;
  };
  const bool is_valid = scanner.kind() == json::Kind::array && scanner.array(element);
  return is_valid ? std::optional(std::move(messages)) : std::nullopt;
}

std::string chain_to_json(const std::vector<ResponseLink>& chain) {
  std::string out;
  json::ArrayWriter array(out);
  for (const ResponseLink& link : chain) {
    array.item();
    json::append_object(out, "provider", link.provider, "response_id", link.response_id);
  }
  array.close();
  return out;
}

std::vector<ResponseLink> chain_from_json(std::string_view json) {
  std::vector<ResponseLink> chain;
  json::Scanner scanner(json);
  const auto link = [&] {
    ResponseLink& added = chain.emplace_back();
    return scanner.object([&](std::string_view name) {
      if (name == "provider") {
        return scanner.string(added.provider);
      }
      return name == "response_id" ? scanner.string(added.response_id) : scanner.skip();
    });
  };
  return scanner.array(link) ? chain : std::vector<ResponseLink>{};
}

void append_delta(std::vector<Block>& blocks, std::span<const Block> delta) {
  if (delta.empty()) {
    return;
  }
  if (!blocks.empty() &&
      std::visit([](auto& last, const auto& first) { return continue_block(last, first); },
                 blocks.back(), delta.front())) {
    delta = delta.subspan(1);
  }
  blocks.insert(blocks.end(), delta.begin(), delta.end());
}

}  // namespace reprise::store
