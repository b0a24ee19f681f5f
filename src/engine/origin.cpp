#include "engine/origin.h"

#include <algorithm>
#include <array>

#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/session.h"

namespace reprise {
namespace {

constexpr std::string_view kOriginField = "origin";
constexpr std::int64_t kPiecesMax = 1'000'000;
constexpr std::array<std::string_view, 3> kGone = {"", "messages", "session"};

Gone gone_from(std::string_view text) {
  const auto found = std::ranges::find(kGone, text);
  return found == kGone.end() ? Gone::nothing : static_cast<Gone>(found - kGone.begin());
}

}  // namespace

std::string_view to_string(Gone gone) {
  return kGone.at(static_cast<std::size_t>(gone));
}

std::optional<Origin> origin_of(const Session& session) {
  const RawJson* const field = json::find_field(session.extra, kOriginField);
  if (field == nullptr) {
    return std::nullopt;
  }
  const JsonView json(field->text());
  const auto time = [&](std::string_view name) {
    return parse_time(json[name].text()).value_or(Time{});
  };
  auto usage = json["usage"] ? usage_from_json(json["usage"].raw()) : Usage{};
  return Origin{.tool = json["tool"].text(),
                .id = json["id"].text(),
                .place = json["place"].text(),
                .gone = gone_from(json["gone"].text()),
                .seen_at = time("seen_at"),
                .revision = json["revision"].text(),
                .head = Seq{json["messages"].count()},
                .updated_at = time("updated_at"),
                .title = json["title"].text(),
                .is_archived = json["archived"].raw() == "true",
                .fork = json["fork"].text(),
                .usage = json["usage"] && usage ? std::optional(*std::move(usage)) : std::nullopt};
}

void set_origin(Extra& extra, const Origin& origin) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("tool", origin.tool).field("id", origin.id);
  if (!origin.place.empty()) {
    object.field("place", origin.place);
  }
  if (origin.gone != Gone::nothing) {
    object.field("gone", to_string(origin.gone));
  }
  if (origin.seen_at != Time{}) {
    object.field("seen_at", format_time(origin.seen_at));
  }
  if (!origin.revision.empty()) {
    object.field("revision", origin.revision);
  }
  if (origin.head > Seq{}) {
    object.field("messages", origin.head.value)
        .field("updated_at", format_time(origin.updated_at))
        .field("title", origin.title);
  }
  if (origin.is_archived) {
    object.field("archived", true);
  }
  if (!origin.fork.empty()) {
    object.field("fork", origin.fork);
  }
  if (origin.usage) {
    object.raw("usage", usage_to_json(*origin.usage));
  }
  object.close();
  json::set_field(extra, kOriginField, json::take(out));
}

std::string request_id_of_session(std::string_view tool, std::string_view id) {
  return cat(tool, ":", id);
}

bool is_unchanged_since(const Session& session, const Origin& origin) {
  return has_unchanged_messages(session, origin) && session.info.title == origin.title;
}

bool has_unchanged_messages(const Session& session, const Origin& origin) {
  return origin.head > Seq{} && session.info.head == origin.head &&
         session.info.updated_at == origin.updated_at;
}

bool has_ended_elsewhere(const Session& session) {
  const auto origin = origin_of(session);
  return origin && origin->head == session.info.head;
}

std::string original_piece_name(std::string_view file, std::int64_t number) {
  return cat(kOriginalsFolder, file, "/", std::to_string(kPiecesMax + number).substr(1));
}

}  // namespace reprise
