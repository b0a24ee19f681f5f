#include "engine/copied_id.h"

#include "base/encode.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise {
namespace {

constexpr std::size_t kUuidBytes = 36;
constexpr std::size_t kVersionAt = 14;
constexpr std::size_t kVariantAt = 19;
constexpr std::size_t kNodeAt = 24;  // of the last group
constexpr std::string_view kCopiedFrom = "copied_from";
// The ids of all copies follow from these.
constexpr std::string_view kImportSeed = "reprise import ";
constexpr std::string_view kCopySeed = "reprise copy ";

bool is_version(std::string_view uuid, char version) {
  return is_uuid(uuid) && uuid[kVersionAt] == version &&
         std::string_view("89ab").contains(uuid[kVariantAt]);
}

// The last group of an imported session's id of version 4, by which it is recognised.
std::string imported_node(std::string_view uuid) {
  std::string node;
  for (std::uint64_t hash = fnv1a(cat(kImportSeed, uuid.substr(0, kNodeAt)));
       node.size() < kUuidBytes - kNodeAt; hash >>= 4U) {
    node += "0123456789abcdef"[hash & 0xFU];
  }
  return node;
}

// What a copy notes. A fork of the copy has the same note, which then says where its parent comes
// from.
struct Note {
  std::string as;           // the id of the copy
  std::string id;           // of the session that it comes from
  std::string forked_from;  // of that session; "" if it is the copy's

  bool is_of(const SessionId& session) const { return as == session.str(); }
};

Note note_of(const Session& session) {
  const RawJson* const field = json::find_field(session.extra, kCopiedFrom);
  if (field == nullptr) {
    return {};
  }
  const JsonView json(field->text());
  return {json["as"].text(), json["id"].text(), json["forked_from"].text()};
}

SessionId parsed(std::string_view text, const SessionId& otherwise) {
  auto id = SessionId::parse(text);
  return id ? *std::move(id) : otherwise;
}

// The id that the parent of a session comes from.
Result<SessionId> original_parent(Source& source, const SessionId& id, const SessionId& parent,
                                  const Note& note) {
  if (note.is_of(id) && !note.forked_from.empty()) {
    return parsed(note.forked_from, parent);
  }
  if (note.is_of(parent)) {
    return parsed(note.id, parent);
  }
  REPRISE_ASSIGN(const std::optional<Session> found, source.find(parent));
  const Note of_parent = found ? note_of(*found) : Note{};
  return of_parent.is_of(parent) ? parsed(of_parent.id, parent) : parent;
}

Result<SessionId> id_in(Source& target, const SessionId& id) {
  if (target.capabilities().new_ids != UuidVersion::v4) {
    return id;
  }
  REPRISE_ASSIGN(const std::optional<Session> present, target.find(id));
  return present ? id : version_4_id(id);
}

RawJson note_json(const Note& note) {
  std::string json;
  json::ObjectWriter object(json);
  object.field("as", note.as).field("id", note.id);
  if (!note.forked_from.empty()) {
    object.field("forked_from", note.forked_from);
  }
  object.close();
  return json::take(json);
}

}  // namespace

Result<SessionId> version_4_id(const SessionId& id) {
  const std::string& text = id.str();
  if (is_version(text, '4')) {
    return id;
  }
  std::string uuid = text;
  if (is_version(text, '8')) {
    uuid[kVersionAt] = '4';
    uuid.replace(kNodeAt, std::string::npos, imported_node(uuid));
    return SessionId::parse(uuid);
  }
  REPRISE_ASSIGN(const BlobHash hash, sha256(cat(kCopySeed, text)));
  uuid = hash.str().substr(0, 32);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    uuid.insert(at, "-");
  }
  uuid[kVersionAt] = '4';
  uuid[kVariantAt] = "89ab"[static_cast<unsigned char>(uuid[kVariantAt]) % 4];
  if (is_uuid(text)) {
    uuid.replace(kNodeAt, std::string::npos, text.substr(kNodeAt));
  }
  return SessionId::parse(uuid);
}

bool is_imported_id(const SessionId& id) {
  const std::string& text = id.str();
  return text.size() == kUuidBytes &&
         (text[kVersionAt] == '8' ||
          (text[kVersionAt] == '4' && text.substr(kNodeAt) == imported_node(text)));
}

Result<Session> with_copied_ids(Source& source, Source& target, Session session) {
  SessionInfo& info = session.info;
  const Note before = note_of(session);
  const SessionId id = before.is_of(info.id) ? parsed(before.id, info.id) : info.id;
  Note note{.as = {}, .id = id.str(), .forked_from = {}};
  if (info.forked_from) {
    REPRISE_ASSIGN(const SessionId parent,
                   original_parent(source, info.id, info.forked_from->session, before));
    REPRISE_ASSIGN(info.forked_from->session, id_in(target, parent));
    note.forked_from = info.forked_from->session == parent ? "" : parent.str();
  }
  REPRISE_ASSIGN(info.id, id_in(target, id));
  note.as = info.id.str();
  std::erase_if(session.extra, [](const ExtraField& field) { return field.name == kCopiedFrom; });
  if (note.as != note.id || !note.forked_from.empty()) {
    json::set_field(session.extra, kCopiedFrom, note_json(note));
  }
  return session;
}

}  // namespace reprise
