#include "store/sessions/members.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_pretty.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "reprise/json.h"
#include "store/file/file_session.h"
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
  std::string json;
  append_string(json, text);
  raw(name, std::move(json));
}

void Members::extra(const ExtraField& field) {
  // RawJson is JSON: there is nothing that could be refused.
  raw(field.name, json::pretty(field.value.text(), {.depth = depth_}).value_or(field.value.text()));
}

const std::string* Members::find(std::string_view name) const {
  const auto member = std::ranges::find(members_, name, &Member::name);
  return member == members_.end() ? nullptr : &member->json;
}

const std::vector<Members::Member>& Members::sorted() {
  std::ranges::stable_sort(members_, {}, &Member::name);
  return members_;
}

void Members::replace(std::string_view name, std::string json) {
  std::ranges::find(members_, name, &Member::name)->json = std::move(json);
}

int Members::restore(const std::vector<SpelledPart>& spelled, std::string_view place) {
  int count = 0;
  for (Member& member : members_) {
    if (const auto* bytes = spelled_before(spelled, cat(place, "/", member.name), member.json)) {
      member.json = *bytes;
      ++count;
    }
  }
  const std::string prefix = cat(place, "/");
  for (const SpelledPart& part : spelled) {
    const std::string_view name =
        std::string_view(part.place).substr(std::min(prefix.size(), part.place.size()));
    if (part.written.empty() && part.place.starts_with(prefix) && find(name) == nullptr) {
      raw(name, part.bytes);
      ++count;
    }
  }
  return count;
}

const std::string* spelled_before(const std::vector<SpelledPart>& spelled, std::string_view place,
                                  std::string_view json) {
  const auto part = std::ranges::find_if(
      spelled, [&](const SpelledPart& one) { return one.place == place && one.written == json; });
  return part == spelled.end() ? nullptr : &part->bytes;
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

Extra extra_members(const Extra& fields, std::span<const std::string_view> taken) {
  Extra members;
  for (const ExtraField& field : fields) {
    if (std::ranges::find(taken, field.name) == taken.end() &&
        std::ranges::find(members, field.name, &ExtraField::name) == members.end()) {
      members.push_back({field.name, json::take(json::compact(field.value.text()))});
    }
  }
  std::ranges::stable_sort(members, {}, &ExtraField::name);
  return members;
}

}  // namespace reprise::store::sessions
