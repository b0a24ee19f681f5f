#include "cli/output/session_json.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/fields.h"
#include "model/json_fields.h"
#include "reprise/select.h"
#include "session/import.h"
#include "store/usage_sum.h"

namespace reprise::cli {
namespace {

using model::JsonForm;

// Writes a session's fields; some have other names in the JSON.
struct InfoWriter {
  json::ObjectWriter& object;
  const SessionInfo& info;

  template <class Value>
  void write(std::string_view name, const Value& value) const {
    model::append_json(object.key(name), value, JsonForm::output);
  }
  void write(std::string_view name, SessionState /*state*/) const {
    object.field(name, state_text(info));
  }
  void write(std::string_view name, const std::optional<ForkOrigin>& origin) const {
    if (origin) {
      object.field(name, origin->session.str()).field(model::kForkedAt, origin->at.value);
    } else {
      object.null(name);
    }
  }
};

}  // namespace

std::string_view state_text(const SessionInfo& info) {
  return is_interrupted(info) ? "interrupted" : to_string(info.state);
}

std::string brief_id(Source& source, const SessionId& id) {
  return unique_short_id(source, id).value_or(short_id(id));
}

namespace {

std::string name_with(const std::string& brief, const std::string& title) {
  return title.empty() ? cat("session ", brief) : cat("'", title, "' (", brief, ")");
}

}  // namespace

std::string session_name(Source& source, const SessionInfo& info) {
  return name_with(brief_id(source, info.id), info.title);
}

std::string session_name(const SessionInfo& info) {
  return name_with(short_id(info.id), info.title);
}

std::vector<std::string> short_ids_of(const std::vector<SessionInfo>& sessions) {
  std::vector<SessionId> ids;
  std::ranges::transform(sessions, std::back_inserter(ids), &SessionInfo::id);
  return short_ids(ids);
}

void append_info(json::ObjectWriter& object, const SessionInfo& info, std::string_view short_id) {
  object.field("id", info.id.str()).field("short_id", short_id);
  if (!info.is_head_known) {
    object.field("messages_at_least", true);
  }
  const InfoWriter writer{object, info};
  model::for_each(model::kInfoFields, [&](const auto& field) {
    if (!field.output_name.empty()) {
      writer.write(field.output_name, info.*field.member);
    }
  });
}

Usage total_usage(const Session& session) {
  Usage usage = session.usage;
  if (const auto origin = origin_of(session); origin && origin->usage) {
    store::add_usage(usage, *origin->usage);
  }
  return usage;
}

std::string session_document(Source& source, const Session& session,
                             const std::vector<std::string>& response_ids) {
  std::string out;
  json::ObjectWriter object(out);
  append_info(object, session.info, brief_id(source, session.info.id));
  object.field("system_prompt", session.system_prompt).raw("config", session.config.text());
  model::append_json(object.key("usage"), total_usage(session), JsonForm::output);
  object.raw("response_ids", json::array_of(response_ids));
  if (!session.prompt_history.empty()) {
    object.raw("prompt_history", json::array_of(session.prompt_history));
  }
  // The session that began this sub-agent's session.
  if (const RawJson* const parent = json::find_field(session.extra, "parent"); parent != nullptr) {
    object.raw("parent", parent->text());
  }
  if (const auto origin = origin_of(session)) {
    json::ObjectWriter from(object.key("origin"));
    from.field("tool", origin->tool).field("id", origin->id);
    if (const std::string_view gone = to_string(origin->gone); !gone.empty()) {
      from.field("gone", gone);
    }
    from.close();
  }
  object.close();
  return out;
}

std::string infos_document(const std::vector<SessionInfo>& sessions) {
  const std::vector<std::string> brief = short_ids_of(sessions);
  std::string out;
  json::ArrayWriter array(out);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    array.item();
    json::ObjectWriter object(out);
    append_info(object, sessions[i], brief[i]);
    object.close();
  }
  array.close();
  return out;
}

Result<Exit> show_session(Context& context, Store& store, const SessionId& id) {
  if (context.globals().json) {
    REPRISE_ASSIGN(const Session session, get(store, id));
    std::string out;
    json::ObjectWriter object(out);
    append_info(object, session.info, brief_id(store, id));
    object.close();
    context.console().print_json(out);
  }
  return Exit::success;
}

Result<Exit> show_sessions(Context& context, Store& store,
                           const std::vector<SessionInfo>& changed) {
  if (context.globals().json) {
    std::vector<SessionInfo> now;
    for (const SessionInfo& info : changed) {
      REPRISE_ASSIGN(Session session, get(store, info.id));
      now.push_back(std::move(session.info));
    }
    context.console().print_json(infos_document(now));
  }
  return Exit::success;
}

std::string message_document(const Message& message) {
  std::string out;
  model::append_json(out, message, JsonForm::output);
  return out;
}

std::string answer_document(const UnfinishedAnswer& answer) {
  std::string out = message_document(answer.message);
  if (answer.owner == OwnerState::alive) {
    out.insert(out.rfind('}'), ",\"running\":true");
  }
  return out;
}

std::string appended_document(const SessionId& id, const AppendResult& appended) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("id", id.str()).key("seqs");
  json::ArrayWriter seqs(out);
  for (Seq seq = appended.first; seq < appended.head; seq = seq.next()) {
    seqs.item();
    out += std::to_string(seq.value);
  }
  seqs.close();
  object.close();
  return out;
}

void print_appended(Context& context, const SessionId& id, const AppendResult& appended) {
  if (context.globals().json) {
    return context.console().print_json(appended_document(id, appended));
  }
  std::string line = id.str();
  for (Seq seq = appended.first; seq < appended.head; seq = seq.next()) {
    line += cat(" ", seq.value);
  }
  context.console().out().write(line += "\n");
}

std::string todos_document(const std::vector<Todo>& todos) {
  std::string out;
  model::append_json(out, todos, JsonForm::output);
  return out;
}

std::string damage_document(const std::vector<Damage>& damage) {
  std::string out;
  json::ArrayWriter array(out);
  for (const Damage& part : damage) {
    array.item();
    json::append_object(out, "where", part.where, "reason", part.reason, "excerpt",
                        utf8::sanitize(part.excerpt));
  }
  array.close();
  return out;
}

namespace {

std::string snippet_text(const std::vector<SearchPiece>& pieces) {
  std::string text;
  for (const SearchPiece& piece : pieces) {
    text += piece.text;
  }
  return text;
}

void append_hit(std::string& out, const SearchHit& hit, const std::string& source) {
  json::ObjectWriter object(out);
  object.field("place", hit_selector(hit));
  if (!source.empty()) {
    object.field("source", source);
  }
  append_info(object, hit.session, hit.short_id);
  object.field("seq", hit.seq.value)
      .field("role", hit.role)
      .field("part", to_string(hit.part))
      .field("time", format_time(hit.time))
      .field("snippet", snippet_text(hit.snippet));
  object.key("pieces");
  json::ArrayWriter pieces(out);
  for (const auto& [text, matches] : hit.snippet) {
    pieces.item();
    json::append_object(out, "text", text, "matches", matches);
  }
  pieces.close();
  object.close();
}

}  // namespace

std::string hit_selector(const SearchHit& hit) {
  return cat(hit.short_id, "#", hit.seq.value);
}

std::string hits_document(const SearchPage& page, std::span<const std::string> sources) {
  std::string out;
  json::ObjectWriter object(out);
  object.key("hits");
  json::ArrayWriter hits(out);
  for (const SearchHit& hit : page.hits) {
    hits.item();
    append_hit(out, hit, sources[hit.source]);
  }
  hits.close();
  object.text_or_null("next", page.next).close();
  return out;
}

}  // namespace reprise::cli
