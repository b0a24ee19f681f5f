// One row of the index.

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/json_fields.h"
#include "model/known_time.h"
#include "store/chain/codec.h"
#include "store/document/one_file.h"
#include "store/document/sidecar.h"
#include "store/stored_session.h"

namespace reprise::store::chain {
namespace {

constexpr int kRowDepth = 3;

// The original program knows these two modes: it takes a row of any other mode for a draft, and
// does not go on without its folder.
constexpr std::string_view kExplore = "explore";
constexpr std::string_view kDraft = "draft";

std::string_view mode_in_row(const SessionInfo& info) {
  return info.mode == kDraft ? kDraft : kExplore;
}

Result<SessionId> id_of(std::string_view row) {
  const auto text = json::text_in(json::find_member(row, "id"));
  if (!text) {
    return fail(Code::corrupt, "it has no id");
  }
  auto id = SessionId::parse(*text);
  return id ? std::move(id) : Result<SessionId>(fail(Code::corrupt, "its id is not valid"));
}

// Reads a row's own members into a session.
class RowReader {
 public:
  RowReader(json::Scanner& scanner, Session& session) : scanner_(scanner), session_(session) {}

  bool member(std::string_view name) {
    const json::Kind kind = scanner_.kind();
    SessionInfo& info = session_.info;
    if (name == "id") {
      return scanner_.skip();
    }
    if (name == "responseIds") {
      return ids();
    }
    if (name == "title") {
      return model::read_field(scanner_, name, info.title, session_.extra);
    }
    if (name == "mode") {
      return model::read_field(scanner_, name, info.mode, session_.extra);
    }
    if (name == "draftPath") {
      return folder(name);
    }
    if (name == "createdAt") {
      return time(name, info.created_at, created_);
    }
    if (name == "updatedAt") {
      return time(name, info.updated_at, updated_);
    }
    if (name == kSidecar && kind == json::Kind::object) {
      return scanner_.raw(sidecar_);
    }
    return model::add_extra(scanner_, name, session_.extra);
  }

  std::string_view sidecar() const { return sidecar_; }
  // nullopt if the row has no valid time.
  std::optional<Time> created() const { return created_; }
  std::optional<Time> updated() const { return updated_; }

 private:
  bool ids() {
    session_.response_chain.clear();
    return scanner_.kind() == json::Kind::array && scanner_.array([this] {
      ResponseLink& link = session_.response_chain.emplace_back();
      link.provider = kProvider;
      return scanner_.kind() == json::Kind::string && scanner_.string(link.response_id);
    });
  }

  bool folder(std::string_view name) {
    auto text = json::text_in(scanner_.rest());
    if (!text || !text->starts_with('/')) {
      return model::add_extra(scanner_, name, session_.extra);
    }
    session_.info.working_dir = *std::move(text);
    return scanner_.skip();
  }

  bool time(std::string_view name, Time& out, std::optional<Time>& read) {
    const auto text = json::text_in(scanner_.rest());
    read = text ? parse_time(*text) : std::nullopt;
    if (!read) {
      return model::add_extra(scanner_, name, session_.extra);
    }
    out = *read;
    return scanner_.skip();
  }

  json::Scanner& scanner_;
  Session& session_;
  std::string_view sidecar_;
  std::optional<Time> created_;
  std::optional<Time> updated_;
};

// Applies the row's own members, and keeps what its sidecar recorded of them if it still agrees.
void correct(Session& session, const Session& native, const RowReader& reader) {
  const auto newer = [](Time& recorded, const std::optional<Time>& written) {
    if (written && truncate_to_milliseconds(recorded) != *written) {
      recorded = *written;
    }
  };
  SessionInfo& info = session.info;
  if (mode_in_row(info) != native.info.mode) {
    info.mode = native.info.mode;
  }
  // An unknown time stands in the row as the other one, until another program changes it.
  const bool is_unchanged = !reader.created() || reader.created() == reader.updated();
  if (is_known(info.created_at)) {
    newer(info.created_at, reader.created());
  }
  if (is_known(info.updated_at) || !is_unchanged) {
    newer(info.updated_at, reader.updated());
  }
  std::map<std::string_view, std::string_view> providers;
  for (const ResponseLink& recorded : session.response_chain) {
    providers.try_emplace(recorded.response_id, recorded.provider);
  }
  std::vector<ResponseLink> chain = native.response_chain;
  for (ResponseLink& link : chain) {
    if (const auto recorded = providers.find(link.response_id); recorded != providers.end()) {
      link.provider = recorded->second;
    }
  }
  if (!std::ranges::equal(session.response_chain, chain, {}, &ResponseLink::response_id,
                          &ResponseLink::response_id)) {
    session.response_chain = std::move(chain);
  }
}

std::string ids_text(const std::vector<ResponseLink>& chain) {
  std::string out;
  for (const ResponseLink& link : chain) {
    out += cat(out.empty() ? "" : ",", "\n        ", json::quoted(link.response_id));
  }
  return out.empty() ? "[]" : cat("[", out, "\n      ]");
}

void write_native(IndentedObject& lines, const Session& session) {
  const SessionInfo& info = session.info;
  const auto is_ours = [&session](std::string_view name) {
    return json::find_field(session.extra, name) == nullptr;
  };
  lines.text("id", info.id.str());
  if (is_ours("title")) {
    lines.text("title", info.title);
  }
  if (is_ours("mode")) {
    lines.text("mode", mode_in_row(info));
  }
  if (info.working_dir.starts_with('/') && is_ours("draftPath")) {
    lines.text("draftPath", info.working_dir);
  }
  lines.raw("responseIds", ids_text(session.response_chain));
  // The design requires both; the sidecar has what is unknown.
  const Time created = known_time({info.created_at, info.updated_at});
  if (is_known(info.created_at) || is_ours("createdAt")) {
    lines.text("createdAt", format_milliseconds(created));
  }
  if (is_known(info.updated_at) || is_ours("updatedAt")) {
    lines.text("updatedAt", format_milliseconds(known_time({info.updated_at, created})));
  }
  for (const ExtraField& field : session.extra) {
    const bool is_reserved = field.name == "id" || field.name == "responseIds" ||
                             field.name == kSidecar ||
                             (field.name == "createdAt" && is_known(info.created_at)) ||
                             (field.name == "updatedAt" && is_known(info.updated_at));
    if (!is_reserved) {
      lines.raw(field.name, field.value.text());
    }
  }
}

}  // namespace

Result<StoredSession> decode_row(std::string_view json) {
  json::Scanner scanner(json);
  if (scanner.kind() != json::Kind::object) {
    return fail(Code::corrupt, "it is not an object");
  }
  REPRISE_ASSIGN(SessionId id, id_of(json));
  StoredSession stored{
      .session = {.info = {.id = std::move(id), .provider = std::string(kProvider)}}};
  RowReader reader(scanner, stored.session);
  if (!scanner.object([&reader](std::string_view name) { return reader.member(name); })) {
    return fail(Code::corrupt, "its responseIds are not a list of strings");
  }
  if (!reader.sidecar().empty()) {
    const Session native = stored.session;
    if (!add_session_sidecar(stored, reader.sidecar())) {
      stored.session = native;
      stored.session.extra.push_back({std::string(kSidecar), json::take(reader.sidecar())});
    }
    correct(stored.session, native, reader);
  }
  return stored;
}

std::string encode_row(const StoredSession& stored) {
  IndentedObject lines(kRowDepth);
  write_native(lines, stored.session);
  std::string text = lines.object();
  // What a reader would get from these members alone.
  if (const auto native = decode_row(text); native) {
    if (const std::string sidecar = session_sidecar(stored, native->session); !sidecar.empty()) {
      lines.raw(kSidecar, sidecar);
      text = lines.object();
    }
  }
  return text;
}

std::string format_row(std::string_view json) {
  return formatted(json, kRowDepth);
}

}  // namespace reprise::store::chain
