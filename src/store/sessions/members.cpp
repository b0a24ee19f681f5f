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
#include "reprise/json.h"
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

bool Members::has(std::string_view name) const {
  return std::ranges::find(members_, name, &Member::name) != members_.end();
}

const std::vector<Members::Member>& Members::sorted() {
  std::ranges::stable_sort(members_, {}, &Member::name);
  return members_;
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
