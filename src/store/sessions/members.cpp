#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "store/document/document_format.h"
#include "store/sessions/spelling.h"

namespace reprise::store::sessions {

void append_line(std::string& out, int depth) {
  out += '\n';
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

void Members::raw(std::string_view name, std::string json) {
  members_.push_back({std::string(name), std::move(json)});
}

void Members::text(std::string_view name, std::string_view text) {
  raw(name, quoted_string(text));
}

void Members::extra(const ExtraField& field) {
  // RawJson is valid JSON, so formatting cannot fail.
  raw(field.name, json::pretty(field.value.text(), depth_).value_or(field.value.text()));
}

const std::string* Members::find(std::string_view name) const {
  const auto member = std::ranges::find(members_, name, &Member::name);
  return member == members_.end() ? nullptr : &member->json;
}

std::map<std::string_view, std::string_view> Members::texts() const {
  std::map<std::string_view, std::string_view> texts;
  for (const Member& member : members_) {
    texts.try_emplace(member.name, member.json);
  }
  return texts;
}

const std::vector<Members::Member>& Members::sorted() {
  std::ranges::stable_sort(members_, {}, &Member::name);
  return members_;
}

void Members::replace(std::string_view name, std::string json) {
  std::ranges::find(members_, name, &Member::name)->json = std::move(json);
}

int Members::restore(const std::vector<PreservedText>& preserved, std::string_view position) {
  int count = 0;
  const PreservedTexts before(preserved);
  std::set<std::string, std::less<>> names;
  for (Member& member : members_) {
    names.insert(member.name);
    if (const auto* bytes = before.find(cat(position, "/", member.name), member.json)) {
      member.json = *bytes;
      ++count;
    }
  }
  const std::string prefix = cat(position, "/");
  for (const PreservedText& part : preserved) {
    if (!part.written.empty() || !part.position.starts_with(prefix)) {
      continue;
    }
    if (const auto [name, is_new] = names.insert(part.position.substr(prefix.size())); is_new) {
      raw(*name, part.bytes);
      ++count;
    }
  }
  return count;
}

PreservedTexts::PreservedTexts(const std::vector<PreservedText>& preserved) {
  for (const PreservedText& part : preserved) {
    parts_.try_emplace({part.position, part.written}, &part.bytes);
  }
}

const std::string* PreservedTexts::find(std::string_view position, std::string_view json) const {
  const auto part = parts_.find({position, json});
  return part == parts_.end() ? nullptr : part->second;
}

std::string Members::object() {
  std::string out = "{";
  for (const auto& [name, json] : sorted()) {
    out += out.size() == 1 ? "" : ",";
    append_line(out, depth_);
    append_string(out, name);
    out += ": ";
    out += json;
  }
  if (!members_.empty()) {
    append_line(out, depth_ - 1);
  }
  out += '}';
  return out;
}

Extra extra_members(const Extra& fields, std::span<const std::string_view> written_names) {
  Extra members;
  std::set<std::string_view> names(written_names.begin(), written_names.end());
  for (const ExtraField& field : fields) {
    if (names.insert(field.name).second) {
      members.push_back({field.name, json::take(json::compact(field.value.text()))});
    }
  }
  std::ranges::stable_sort(members, {}, &ExtraField::name);
  return members;
}

}  // namespace reprise::store::sessions
