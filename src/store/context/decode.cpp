#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/context/codec.h"
#include "store/context/entry.h"
#include "store/context/members.h"
#include "store/file/file_session.h"
#include "store/file/milliseconds.h"
#include "store/file/rest.h"
#include "store/file/session_files.h"
#include "store/stored_session.h"

namespace reprise::store::context {
namespace {

namespace fs = std::filesystem;

}  // namespace

// Two 64-bit FNV-1a hashes in the shape of a UUID: the path is the only name that such a file has.
Result<SessionId> id_of_path(const fs::path& file) {
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(file, error);
  const std::string& text = error ? file.native() : absolute.native();
  std::string hex;
  for (std::uint64_t hash : {0xcbf29ce484222325U, 0x84222325cbf29ce4U}) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    for (unsigned shift = 64; shift > 0; shift -= 4) {
      hex += "0123456789abcdef"[(hash >> (shift - 4)) & 15U];
    }
  }
  hex[12] = '8';  // the version for schemes of one's own
  hex[16] = 'a';
  const std::string_view digits = hex;
  return SessionId::parse(cat(digits.substr(0, 8), "-", digits.substr(8, 4), "-",
                              digits.substr(12, 4), "-", digits.substr(16, 4), "-",
                              digits.substr(20)));
}

namespace {

std::optional<SessionId> id_in(std::string_view rest) {
  json::Scanner scanner(json::find_member(rest, "id"));
  std::string id;
  if (scanner.kind() != json::Kind::string || !scanner.string(id)) {
    return std::nullopt;
  }
  auto parsed = SessionId::parse(id);
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

// The file's members, and whether they can be written back as they are.
class Reader {
 public:
  Reader(const fs::path& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  Result<Document> run() {
    json::Scanner scanner(bytes_);
    const bool whole = scanner.kind() == json::Kind::object &&
                       scanner.object([&](std::string_view name) { return member(scanner, name); });
    if (!whole || !scanner.end()) {
      Document none;
      none.aside = damage(scanner.failed() ? scanner.fault().message : "it holds no JSON object");
      return none;
    }
    if (!utf8::is_valid(bytes_)) {
      set_aside("not valid UTF-8");
    }
    const std::optional<SessionId> id = id_in(rest_);
    REPRISE_ASSIGN(SessionId fallback, id_of_path(file_));
    FileSession session{.stored = {.session = {.info = {.id = id.value_or(std::move(fallback))}}}};
    read_entries(session);
    if (id || !session.kept.empty() || !session.stored.log->own.empty()) {
      finish(std::move(session));
    } else if (!rest_.empty()) {
      set_aside("what stands in reprise names no session");
    }
    return std::move(document_);
  }

 private:
  Damage damage(std::string_view reason) const {
    return {file_.native(), std::string(reason), std::string(bytes_.substr(0, kExcerptMax))};
  }

  void set_aside(std::string_view reason) {
    if (!document_.aside) {
      document_.aside = damage(reason);
    }
  }

  bool member(json::Scanner& scanner, std::string_view name) {
    const json::Kind kind = scanner.kind();
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    if (name == kConversation) {
      take(conversation_, raw, kind == json::Kind::array, "conversation is no list");
    } else if (name == kRest) {
      take(rest_, raw, kind == json::Kind::object, "reprise is no object");
    } else if (name == kMeta && kind != json::Kind::object) {
      set_aside("meta is no object");
    } else {
      if (find(document_.extra, name) != nullptr) {
        set_aside(cat("it has two members ", name));
      }
      put(document_.extra, name, json::take(raw));
    }
    return true;
  }

  // The last one counts, as everywhere.
  void take(std::string_view& out, std::string_view raw, bool fits, std::string_view otherwise) {
    if (!fits || !out.empty()) {
      set_aside(fits ? "it has a member twice" : otherwise);
    }
    out = fits ? raw : "";
  }

  void read_entries(FileSession& session) {
    json::Scanner scanner(conversation_);
    std::string waiting;  // kept entries before the next message
    if (scanner.kind() != json::Kind::array) {
      return;
    }
    // All of it was found to be valid before.
    (void)scanner.array([&] {
      std::string_view raw;
      if (!scanner.raw(raw)) {
        return false;
      }
      read_entry(raw, session, waiting);
      return true;
    });
  }

  void read_entry(std::string_view raw, FileSession& session, std::string& waiting) {
    StoredSession& stored = session.stored;
    EncodedMessages& encoded = session.encoded;
    waiting.append(kBetweenEntries).append(respell_entry(raw));
    auto message = decode_entry(raw);
    if (!message) {
      const auto number = static_cast<std::int64_t>(session.kept.size()) + encoded.count + 1;
      session.kept.push_back({encoded.count, json::take(raw)});
      session.damage.push_back({cat(file_.native(), ": conversation entry ", number),
                                "it is no message: kept, and not sent",
                                std::string(raw.substr(0, kExcerptMax))});
      return;
    }
    encoded.text += std::exchange(waiting, "");
    encoded.ends.push_back(encoded.text.size());
    ++encoded.count;
    add_message(stored, *std::move(message));
  }

  void finish(FileSession session) {
    StoredSession& stored = session.stored;
    Session& value = stored.session;
    add_native(file_, document_.extra, stored);
    const Time written = value.info.updated_at;
    if (!rest_.empty() && !add_session_rest(stored, rest_)) {
      set_aside("what stands in reprise cannot be read");
    }
    if (auto todos = todos_from_json(json::find_member(rest_, "todos")); todos) {
      stored.todos = *std::move(todos);
    }
    // Another program has written since, and knows no times but these.
    if (read_meta(find(document_.extra, kMeta)).last_updated &&
        cut_to_milliseconds(value.info.updated_at) != written) {
      value.info.updated_at = written;
    }
    // What the session holds is its own; all else stays the file's.
    std::erase_if(document_.extra, [&value](const ExtraField& member) {
      return !is_default(member.name) && member.name != kMeta &&
             find(value.extra, member.name) != nullptr;
    });
    document_.sessions.push_back(std::move(session));
  }

  const fs::path& file_;
  std::string_view bytes_;
  Document document_;
  std::string_view conversation_;
  std::string_view rest_;
};

}  // namespace

Result<Document> decode(const fs::path& file, std::string_view bytes) {
  return Reader(file, bytes).run();
}

}  // namespace reprise::store::context
