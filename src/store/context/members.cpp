#include "store/context/members.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "store/stored_session.h"

namespace reprise::store::context {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDefaultNotes =
    R"("This file is updated by the CLI after each run. Do not check secrets into VCS.")";

Extra default_notes() {
  return {{"notes", json::take(kDefaultNotes)}};
}

const auto* find_default(std::string_view name) {
  return std::ranges::find(kDefaults, name, &std::pair<std::string_view, std::string_view>::first);
}

std::string text_or_default(const Extra& members, std::string_view name) {
  if (auto text = text_of(find(members, name)); text) {
    return *std::move(text);
  }
  const RawJson otherwise = json::take(default_of(name));
  return text_of(&otherwise).value_or("");
}

Extra connection(const Extra& members) {
  Extra out;
  for (const auto& [name, ignored] : kDefaults) {
    const RawJson* const value = find(members, name);
    if (value != nullptr && name != "system") {
      out.push_back({std::string(name), *value});
    }
  }
  return out;
}

Extra unknown(const Extra& members, const Meta& meta) {
  Extra out;
  if (meta.others != default_notes()) {
    out.push_back({std::string(kMeta), json::take(object_of(meta.others))});
  }
  for (const ExtraField& member : members) {
    if (!is_default(member.name) && member.name != kMeta) {
      out.push_back(member);
    }
  }
  return out;
}

}  // namespace

std::string_view default_of(std::string_view name) {
  const auto* const found = find_default(name);
  return found == kDefaults.end() ? "null" : found->second;
}

bool is_default(std::string_view name) {
  return find_default(name) != kDefaults.end();
}

std::string provider_name(std::string_view written) {
  constexpr std::string_view kKnown[] = {
      "anthropic",   "cerebras", "deepseek", "echo",   "gemini",     "google",           "groq",
      "huggingface", "lmstudio", "mistral",  "ollama", "openrouter", "openai-responses", "xai"};
  const bool is_known = std::ranges::find(kKnown, written) != std::end(kKnown);
  return is_known ? std::string(written) : "openai-chat";
}

Result<fs::path> root_folder(const fs::path& file) {
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(file, error);
  if (error) {
    return std::unexpected(os_error("find", file, error.value()));
  }
  const fs::path folder = absolute.parent_path();
  return folder.filename() == ".ai" ? folder.parent_path() : folder;
}

const RawJson* find(const Extra& members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &ExtraField::name);
  return found == members.end() ? nullptr : &found->value;
}

std::set<std::string_view> names_of(const Extra& members) {
  std::set<std::string_view> names;
  for (const ExtraField& member : members) {
    names.insert(member.name);
  }
  return names;
}

void put(Extra& members, std::string_view name, RawJson value) {
  const auto found = std::ranges::find(members, name, &ExtraField::name);
  if (found == members.end()) {
    members.push_back({std::string(name), std::move(value)});
  } else {
    found->value = std::move(value);
  }
}

std::optional<std::string> text_of(const RawJson* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  json::Scanner scanner(value->text());
  std::string text;
  if (scanner.kind() != json::Kind::string || !scanner.string(text)) {
    return std::nullopt;
  }
  return text;
}

Extra members_of(std::string_view object) {
  Extra members;
  json::Scanner scanner(object);
  if (scanner.kind() != json::Kind::object) {
    return {};
  }
  const bool whole = scanner.object([&](std::string_view name) {
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    members.push_back({std::string(name), json::take(raw)});
    return true;
  });
  return whole ? members : Extra{};
}

std::string object_of(const Extra& members) {
  std::string out;
  json::ObjectWriter object(out);
  object.extra(members).close();
  return out;
}

Meta read_meta(const RawJson* meta) {
  if (meta == nullptr) {
    return {.others = default_notes()};
  }
  Meta read{.others = {}};
  for (ExtraField& member : members_of(meta->text())) {
    if (member.name == kTotalTurns) {
      read.total_turns = member.value.text();
    } else if (member.name == kLastUpdated) {
      const auto text = text_of(&member.value);
      read.last_updated = text ? parse_time(*text) : std::nullopt;
    } else {
      read.others.push_back(std::move(member));
    }
  }
  return read;
}

std::string grown(const std::string& total_turns, std::int64_t by) {
  std::int64_t number = 0;
  const char* const last = total_turns.data() + total_turns.size();
  const auto [end, code] = std::from_chars(total_turns.data(), last, number);
  return by == 0 || code != std::errc{} || end != last ? total_turns : std::to_string(number + by);
}

void take_back_turns(Extra& members, std::int64_t turns) {
  const RawJson* const meta = find(members, kMeta);
  if (meta == nullptr || turns == 0) {
    return;
  }
  Extra inner = members_of(meta->text());
  const Meta read = read_meta(meta);
  put(inner, kTotalTurns, json::take(grown(read.total_turns, -turns)));
  put(members, kMeta, json::take(object_of(inner)));
}

void add_native(const fs::path& project, const Extra& members, StoredSession& stored) {
  Session& session = stored.session;
  const Meta meta = read_meta(find(members, kMeta));
  session.info.provider = provider_name(text_or_default(members, "provider"));
  session.info.model = text_or_default(members, "model");
  session.info.working_dir = project.native();
  session.config = json::take(object_of(connection(members)));
  session.extra = unknown(members, meta);
  session.system_prompt = text_or_default(members, "system");
  const auto& messages = stored.log->own;
  session.info.updated_at =
      meta.last_updated.value_or(messages.empty() ? Time{} : messages.back()->created_at);
  session.info.created_at =
      messages.empty() ? session.info.updated_at : messages.front()->created_at;
}

}  // namespace reprise::store::context
