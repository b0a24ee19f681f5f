#include "store/context/members.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "store/stored_json.h"
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
  if (auto text = text_of(json::find_field(members, name)); text) {
    return *std::move(text);
  }
  const RawJson default_value = json::take(default_of(name));
  return text_of(&default_value).value_or("");
}

Extra connection(const Extra& members) {
  Extra out;
  for (const auto& [name, ignored] : kDefaults) {
    const RawJson* const value = json::find_field(members, name);
    if (value != nullptr && name != "system") {
      out.push_back({std::string(name), *value});
    }
  }
  return out;
}

Extra unknown(const Extra& members, const Meta& meta) {
  Extra out;
  if (meta.others != default_notes()) {
    out.push_back({std::string(kMeta), json::take(extra_to_json(meta.others))});
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
  return written.empty() || written == "openai" ? "openai-chat" : std::string(written);
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

std::set<std::string_view> names_of(const Extra& members) {
  std::set<std::string_view> names;
  for (const ExtraField& member : members) {
    names.insert(member.name);
  }
  return names;
}

std::optional<std::string> text_of(const RawJson* value) {
  return value == nullptr ? std::nullopt : json::text_in(value->text());
}

Meta read_meta(const RawJson* meta) {
  if (meta == nullptr) {
    return {.others = default_notes()};
  }
  Meta read{.others = {}};
  for (ExtraField& member : extra_from_json(meta->text())) {
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

std::string add_turns(const std::string& total_turns, std::int64_t by) {
  const auto number = parse_number<std::int64_t>(total_turns);
  return by == 0 || !number ? total_turns : std::to_string(*number + by);
}

void subtract_turns(Extra& members, std::int64_t turns) {
  const RawJson* const meta = json::find_field(members, kMeta);
  if (meta == nullptr || turns == 0) {
    return;
  }
  Extra inner = extra_from_json(meta->text());
  const Meta read = read_meta(meta);
  json::set_field(inner, kTotalTurns, json::take(add_turns(read.total_turns, -turns)));
  json::set_field(members, kMeta, json::take(extra_to_json(inner)));
}

void add_native(const fs::path& project, const Extra& members, StoredSession& stored) {
  Session& session = stored.session;
  const Meta meta = read_meta(json::find_field(members, kMeta));
  session.info.provider = provider_name(text_or_default(members, "provider"));
  session.info.model = text_or_default(members, "model");
  session.info.working_dir = project.native();
  session.config = json::take(extra_to_json(connection(members)));
  session.extra = unknown(members, meta);
  session.system_prompt = text_or_default(members, "system");
  const auto& messages = stored.log->own;
  session.info.updated_at =
      meta.last_updated.value_or(messages.empty() ? Time{} : messages.back()->created_at);
  session.info.created_at =
      messages.empty() ? session.info.updated_at : messages.front()->created_at;
}

}  // namespace reprise::store::context
