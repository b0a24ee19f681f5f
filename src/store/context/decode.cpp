#include <algorithm>
#include <iterator>
#include <set>
#include <system_error>

#include "base/encode.h"
#include "base/file.h"
#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"
#include "store/context/codec.h"
#include "store/context/entry.h"
#include "store/context/members.h"
#include "store/document/document_format.h"
#include "store/document/one_file.h"
#include "store/document/sidecar.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store::context {
namespace {

namespace fs = std::filesystem;

// Two hashes of the path formatted as a UUID, because the file has no other identity.
Result<SessionId> id_of_path(const fs::path& absolute) {
  const std::string& text = absolute.native();
  std::string hex;
  for (const std::uint64_t offset : {kFnvOffset, 0x84222325cbf29ce4U}) {
    const std::uint64_t hash = fnv1a(text, offset);
    for (unsigned shift = 64; shift > 0; shift -= 4) {
      hex += "0123456789abcdef"[(hash >> (shift - 4)) & 15U];
    }
  }
  hex[12] = '8';  // UUID version 8: custom
  hex[16] = 'a';
  const std::string_view digits = hex;
  return SessionId::parse(cat(digits.substr(0, 8), "-", digits.substr(8, 4), "-",
                              digits.substr(12, 4), "-", digits.substr(16, 4), "-",
                              digits.substr(20)));
}

std::optional<SessionId> id_in(std::string_view sidecar) {
  auto parsed = SessionId::parse(JsonView(sidecar)["id"].text());
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

// Reads the file's members and records whether they can be written back unchanged.
class Reader {
 public:
  Reader(const Origin& origin, std::string_view bytes)
      : origin_(origin),
        bytes_(bytes),
        session_{.stored = {.session = {.info = {.id = origin.unnamed}}}} {}

  Document run() {
    json::Scanner scanner(bytes_);
    const bool is_valid =
        scanner.kind() == json::Kind::object &&
        scanner.object([&](std::string_view name) { return member(scanner, name); });
    if (!is_valid || !scanner.end()) {
      Document empty;
      empty.unreadable =
          damage(scanner.failed() ? scanner.fault().message : "it does not contain a JSON object");
      return empty;
    }
    if (!utf8::is_valid(bytes_)) {
      set_unreadable("not valid UTF-8");
    }
    const std::optional<SessionId> id = id_in(sidecar_);
    SessionInfo& info = session_.stored.session.info;
    info.id = id.value_or(info.id);
    if (id || !session_.raw_entries.empty() || !session_.stored.log->own.empty()) {
      finish(std::move(session_));
    } else if (!sidecar_.empty()) {
      set_unreadable("the member reprise names no session");
    }
    return std::move(document_);
  }

 private:
  Damage damage(std::string_view reason) const {
    return {origin_.file.native(), std::string(reason), excerpt_of(bytes_)};
  }

  void set_unreadable(std::string_view reason) {
    if (!document_.unreadable) {
      document_.unreadable = damage(reason);
    }
  }

  bool member(json::Scanner& scanner, std::string_view name) {
    const json::Kind kind = scanner.kind();
    if (name == kConversation) {
      return conversation(scanner, kind);
    }
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    if (name == kSidecar) {
      const bool is_object = kind == json::Kind::object;
      check(is_object, !sidecar_.empty(), "reprise is not an object");
      sidecar_ = is_object ? raw : "";
    } else if (name == kMeta && kind != json::Kind::object) {
      set_unreadable("meta is not an object");
    } else {
      const auto [entry, is_new] = indexes_.try_emplace(std::string(name), document_.extra.size());
      if (is_new) {
        document_.extra.push_back({std::string(name), json::take(raw)});
      } else {
        set_unreadable(cat("it has two members named ", name));
        document_.extra[entry->second].value = json::take(raw);
      }
    }
    return true;
  }

  // Of duplicate members, the last one is used.
  void check(bool is_expected_kind, bool is_duplicate, std::string_view reason) {
    if (!is_expected_kind || is_duplicate) {
      set_unreadable(is_expected_kind ? "it has a duplicate member" : reason);
    }
  }

  bool conversation(json::Scanner& scanner, json::Kind kind) {
    const bool is_array = kind == json::Kind::array;
    check(is_array, std::exchange(has_conversation_, is_array), "conversation is not a list");
    session_ = {.stored = {.session = {.info = {.id = session_.stored.session.info.id}}}};
    if (!is_array) {
      return scanner.skip();
    }
    EncodedMessages& encoded = session_.encoded;
    encoded.text.reserve(scanner.rest().size());
    const bool is_valid = scanner.array([&] { return entry(scanner); });
    encoded.text.resize(encoded.ends.empty() ? 0 : encoded.ends.back());
    return is_valid;
  }

  bool entry(json::Scanner& scanner) {
    (void)scanner.kind();  // skips what is before the entry
    EncodedMessages& encoded = session_.encoded;
    const std::string_view before = scanner.rest();
    encoded.text += kEntrySeparator;
    if (!append_entry(encoded.text, scanner)) {
      return false;
    }
    const std::string_view raw = before.substr(0, before.size() - scanner.rest().size());
    if (auto message = decode_entry(raw); message) {
      add_before(raw);
      encoded.ends.push_back(encoded.text.size());
      ++encoded.count;
      add_message(session_.stored, *std::move(message));
      return true;
    }
    const auto number = static_cast<std::int64_t>(session_.raw_entries.size()) + encoded.count + 1;
    session_.raw_entries.push_back({encoded.count, json::take(raw)});
    session_.damage.push_back({cat(origin_.file.native(), ": conversation entry ", number),
                               "it is not a message; it stays in the file, but is not sent",
                               excerpt_of(raw)});
    return true;
  }

  // Adds the messages in "before", which have no entry of their own.
  void add_before(std::string_view entry) {
    auto before = messages_before(entry);
    if (!before) {
      set_unreadable("what precedes an entry cannot be read");
      return;
    }
    EncodedMessages& encoded = session_.encoded;
    for (Message& message : *before) {
      encoded.ends.push_back(encoded.ends.empty() ? 0 : encoded.ends.back());
      ++encoded.count;
      add_message(session_.stored, std::move(message));
    }
  }

  // Adds the messages in "after", which had no following entry when they were written. If another
  // program has appended entries since, those are encoded again with the next change, so that
  // "after" moves into the first of them.
  void add_after(FileSession& session) {
    const std::string_view after = json::find_member(sidecar_, "after");
    if (after.empty()) {
      return;
    }
    json::Scanner scanner(json::find_member(after, "at"));
    std::int64_t at = 0;
    auto messages = messages_from_json(json::find_member(after, "messages"));
    StoredSession& stored = session.stored;
    if (!messages || scanner.kind() != json::Kind::number || !scanner.integer(at) || at < 0) {
      set_unreadable("what follows the last entry cannot be read");
      return;
    }
    std::vector<SharedMessage> later;
    std::vector<SharedMessage>& log = stored.log->own;
    if (at < std::ssize(log)) {
      later.assign(log.begin() + at, log.end());
      subtract_turns(document_.extra, std::ranges::count_if(later, [](const auto& message) {
                       return is_answer(*message);
                     }));
      log.resize(static_cast<std::size_t>(at));
      session.encoded.truncate(at);
    }
    EncodedMessages& encoded = session.encoded;
    for (Message& message : *messages) {
      encoded.ends.push_back(encoded.ends.empty() ? 0 : encoded.ends.back());
      ++encoded.count;
      stored.session.info.head = Seq{std::ssize(log)};
      add_message(stored, std::move(message));
    }
    for (const SharedMessage& message : later) {
      Message moved = *message;
      moved.seq = Seq{std::ssize(log)};
      log.push_back(std::make_shared<const Message>(std::move(moved)));
    }
    stored.session.info.head = Seq{std::ssize(log)};
    for (RawEntry& entry : session.raw_entries) {
      entry.before += !later.empty() && entry.before > at ? std::ssize(*messages) : 0;
    }
  }

  // Whether none of the entries is left to which the member "reprise" belongs.
  bool is_outlived(const StoredSession& stored) const {
    std::set<std::string, std::less<>> marks;
    json::Scanner scanner(json::find_member(sidecar_, "entries"));
    const bool is_list = scanner.kind() == json::Kind::array && scanner.array([&] {
      std::string mark;
      const bool is_text = scanner.kind() == json::Kind::string && scanner.string(mark);
      marks.insert(std::move(mark));
      return is_text;
    });
    return is_list && !marks.empty() &&
           std::ranges::none_of(stored.log->own, [&marks](const SharedMessage& message) {
             return marks.contains(entry_mark(*message, true)) ||
                    marks.contains(entry_mark(*message, false));
           });
  }

  // Another program has replaced the conversation. Only that its operations were applied still
  // counts: they are not to be repeated.
  void forget_outlived(StoredSession& stored) {
    StoredSession before{.session = {.info = {.id = stored.session.info.id}}};
    if (add_session_sidecar(before, sidecar_)) {
      stored.operations = std::move(before.operations);
    }
    document_.outlived =
        "another program has replaced the conversation that its title, todos and settings belong "
        "to";
    sidecar_ = "";
  }

  void finish(FileSession session) {
    if (is_outlived(session.stored)) {
      forget_outlived(session.stored);
    }
    add_after(session);
    StoredSession& stored = session.stored;
    Session& value = stored.session;
    add_native(origin_.project, document_.extra, stored);
    const Time written = value.info.updated_at;
    if (!sidecar_.empty() && !add_session_sidecar(stored, sidecar_)) {
      set_unreadable("the member reprise cannot be read");
    }
    const std::string_view written_todos = json::find_member(sidecar_, "todos");
    if (auto todos = todos_from_json(written_todos); todos) {
      stored.todos = *std::move(todos);
    } else if (!written_todos.empty()) {
      set_unreadable("the todos in the member reprise cannot be read");
    }
    // Another program, which knows only these times, has written since.
    if (read_meta(json::find_field(document_.extra, kMeta)).last_updated &&
        truncate_to_milliseconds(value.info.updated_at) != written) {
      value.info.updated_at = written;
    }
    // The session's extra fields are removed from the document; all others remain the file's.
    const std::set<std::string_view> names = names_of(value.extra);
    std::erase_if(document_.extra, [&names](const ExtraField& member) {
      return !is_default(member.name) && member.name != kMeta && names.contains(member.name);
    });
    document_.sessions.push_back(std::move(session));
  }

  const Origin& origin_;
  std::string_view bytes_;
  Document document_;
  std::map<std::string, std::size_t> indexes_;  // of the members in `extra`
  FileSession session_;
  bool has_conversation_ = false;
  std::string_view sidecar_;
};

}  // namespace

Result<Origin> origin_of(const fs::path& file) {
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(file, error);
  if (error) {
    return std::unexpected(os_error("find", file, error.value()));
  }
  REPRISE_ASSIGN(SessionId unnamed, id_of_path(absolute));
  REPRISE_ASSIGN(fs::path project, root_folder(file));
  return Origin{file, std::move(unnamed), std::move(project)};
}

Document decode(const Origin& origin, std::string_view bytes) {
  return Reader(origin, bytes).run();
}

}  // namespace reprise::store::context
