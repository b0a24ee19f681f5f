#include "store/sessions/ours.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "model/fields.h"
#include "store/sessions/layout.h"  // IWYU pragma: keep
#include "store/sessions/parts_json.h"
#include "store/sessions/session_json.h"
#include "store/stored_json.h"

namespace reprise::store::sessions {
namespace {

// What the original did not change is as it was with us.
template <class Fields, class Owner>
void take_unchanged(const Fields& fields, Owner& now, const Owner& whole, const Owner& known) {
  model::for_each(fields, [&](const auto& field) {
    if (!field.derived && now.*field.member == known.*field.member) {
      now.*field.member = whole.*field.member;
    }
  });
}

// The fields with those that are missing among them: dropping a member changes nothing.
Extra with_dropped(const Extra& fields, Extra before) {
  for (const ExtraField& field : fields) {
    json::set_field(before, field.name, field.value);
  }
  return before;
}

RawJson with_dropped(const RawJson& settings, const RawJson& before) {
  const bool are_objects =
      before.text().starts_with('{') && (settings.is_null() || settings.text().starts_with('{'));
  if (!are_objects) {
    return settings;
  }
  const Extra now = settings.is_null() ? Extra() : extra_from_json(settings.text());
  return json::take(extra_to_json(with_dropped(now, extra_from_json(before.text()))));
}

// Both programs have added to the sums.
Usage added(const Usage& whole, const Usage& now, const Usage& known) {
  Usage sum = whole;
  sum.input.value += now.input.value - known.input.value;
  sum.output.value += now.output.value - known.output.value;
  if (now.cost != known.cost) {
    sum.cost = Money{whole.cost.value_or(Money()).nanos + now.cost.value_or(Money()).nanos -
                     known.cost.value_or(Money()).nanos};
  }
  return sum;
}

}  // namespace

Ours::Ours(FileSession whole, FileSession known)
    : whole_(std::move(whole.stored)), known_(std::move(known.stored)) {
  for (std::int64_t at = 0; at < known_.log->size(); ++at) {
    places_.emplace(key_of(*known_.log->at(at)), at);
  }
}

Result<Ours> Ours::read(const Location& location, std::string_view json) {
  REPRISE_ASSIGN(FileSession whole, read_session(location, json, Spelling::ignored));
  REPRISE_ASSIGN(FileSession known, read_known(location, json));
  if (whole.stored.log->size() != known.stored.log->size()) {
    return fail(Code::corrupt, "its messages cannot be read");
  }
  return Ours(std::move(whole), std::move(known));
}

Ours::Key Ours::key_of(const Message& message) {
  return {entry_id(message), message.role, plain_text(message)};
}

std::optional<std::int64_t> Ours::find(const Message& entry) const {
  const auto place = places_.find(key_of(entry));
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

Message Ours::merged(Message entry, std::int64_t at) const {
  const Message& whole = *whole_.log->at(at);
  const Extra extra = entry.extra;
  take_unchanged(model::kMessageFields, entry, whole, *known_.log->at(at));
  entry.extra = with_dropped(extra, whole.extra);
  return entry;
}

void Ours::merge_into(StoredSession& session) const {
  Session& now = session.session;
  const Session& whole = whole_.session;
  const Session& known = known_.session;
  const Usage usage = now.usage;
  const bool same_provider = now.info.provider == known.info.provider;
  const SessionState state = now.info.state;
  if (same_provider) {
    now.config = with_dropped(now.config, known.config);
  }
  const Extra extra = with_dropped(now.extra, whole.extra);
  take_unchanged(model::kInfoFields, now.info, whole.info, known.info);
  take_unchanged(model::kSessionFields, now, whole, known);
  now.info.state = state;  // that of its place
  now.extra = extra;
  if (usage != known.usage) {
    now.usage = added(whole.usage, usage, known.usage);
  }
  if (session.todos == known_.todos) {
    session.todos = whole_.todos;
  }
  session.replaced = whole_.replaced;
  session.operations = whole_.operations;
  session.counted_requests.insert(whole_.counted_requests.begin(), whole_.counted_requests.end());
}

}  // namespace reprise::store::sessions
