#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "base/command_line.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/known_time.h"
#include "store/context/codec.h"
#include "store/context/entry.h"
#include "store/context/members.h"
#include "store/document/document_format.h"
#include "store/document/one_file.h"
#include "store/document/sidecar.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store::context {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOthersSize = 16 << 10;

// The number of answers that are not in the file yet.
std::int64_t new_answers(const FileSession& session) {
  const auto& messages = session.stored.log->own;
  return std::count_if(messages.begin() + session.encoded.count, messages.end(),
                       [](const SharedMessage& message) { return is_answer(*message); });
}

// The encoded messages after the last entry: there is no following entry to hold them.
std::vector<Message> after_last_entry(const FileSession& session) {
  const std::vector<std::size_t>& ends = session.encoded.ends;
  std::size_t first = ends.size();
  while (first > 0 && ends[first - 1] == (first > 1 ? ends[first - 2] : 0)) {
    --first;
  }
  std::vector<Message> after;
  for (; first < ends.size(); ++first) {
    after.push_back(*session.stored.log->own[first]);
  }
  return after;
}

// The marks of the first and the last entry, to which the member "reprise" belongs; "" if there are
// none.
std::string described_entries(const FileSession& session) {
  const std::vector<std::size_t>& ends = session.encoded.ends;
  std::string first;
  std::string last;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] > (i > 0 ? ends[i - 1] : 0)) {
      const Message& message = *session.stored.log->own[i];
      last = json::quoted(entry_mark(message, is_known(message.created_at)));
      first = first.empty() ? last : first;
    }
  }
  return first.empty() ? "" : cat("[", first, ",", last, "]");
}

// Whether the next entry is or will be a question, too, because the answer in between has no words.
// The original program refuses two questions in a row.
bool is_unanswered(std::span<const SharedMessage> messages) {
  if (messages.front()->role != role::kUser) {
    return false;
  }
  const auto later = messages.subspan(1);
  const auto next = std::ranges::find_if(later, [](const SharedMessage& message) {
    return has_entry(*message) && message->role != role::kSystem;
  });
  if (next != later.end()) {
    return (*next)->role == role::kUser;
  }
  // Calls may still be answered, and an interrupted answer continued.
  return std::ranges::any_of(later,
                             [](const SharedMessage& message) { return is_answer(*message); });
}

bool is_meta(const RawJson& value) {
  const Extra members = extra_from_json(value.text());
  return !members.empty() && json::find_field(members, kLastUpdated) == nullptr &&
         json::find_field(members, kTotalTurns) == nullptr;
}

// The session's extra fields that can be members of the file.
Extra members_in(const Extra& extra) {
  Extra members;
  std::set<std::string_view> names;
  for (const ExtraField& field : extra) {
    const bool is_reserved = is_default(field.name) || field.name == kConversation ||
                             field.name == kSidecar || names.contains(field.name);
    if (!is_reserved && (field.name != kMeta || is_meta(field.value))) {
      names.insert(field.name);
      members.push_back(field);
    }
  }
  return members;
}

// A new file takes its settings from a session that was copied from a context file.
void fill_in_defaults(Document& document) {
  const bool is_new = document.extra.empty() && !document.sessions.empty();
  const Extra config =
      is_new ? extra_from_json(document.sessions.front().stored.session.config.text()) : Extra{};
  const bool is_copied = json::find_field(config, "provider") != nullptr &&
                         json::find_field(config, "base_url") != nullptr;
  for (const auto& [name, default_value] : kDefaults) {
    const RawJson* const copied = is_copied ? json::find_field(config, name) : nullptr;
    if (json::find_field(document.extra, name) == nullptr &&
        (copied != nullptr || default_value != "null")) {
      json::set_field(document.extra, name,
                      copied != nullptr ? *copied : json::take(default_value));
    }
  }
}

class Writer {
 public:
  Writer(const Origin& origin, Document& document) : origin_(origin), document_(document) {}

  std::string run() {
    FileSession* const session = document_.sessions.empty() ? nullptr : &document_.sessions.front();
    if (session == nullptr) {
      fill_in_defaults(document_);
    } else {
      fill_in_defaults_of(session->stored);
    }
    for (const auto& [name, ignored] : kDefaults) {
      if (const RawJson* const value = json::find_field(document_.extra, name); value != nullptr) {
        member(name, value->text());
      }
    }
    std::int64_t answers = 0;
    if (session != nullptr) {
      answers = new_answers(*session);
      encode_new(*session);
    }
    conversation(session);
    meta(session, answers);
    Extra others = unknown_members(session);
    for (const ExtraField& field : others) {
      member(field.name, field.value.text());
    }
    if (session != nullptr) {
      others.push_back({std::string(kMeta), *json::find_field(document_.extra, kMeta)});
      sidecar(*session, others);
    }
    return std::move(out_) + "\n}\n";
  }

 private:
  void member(std::string_view name, std::string_view json) {
    out_ += out_.size() == 1 ? "\n  " : ",\n  ";
    json::append_string(out_, name);
    out_.append(": ").append(json);
  }

  Session native_session(const StoredSession& stored, const Extra& members) const {
    StoredSession native{.session = {.info = {.id = stored.session.info.id}}, .log = stored.log};
    add_native(origin_.project, members, native);
    for (const SharedMessage& message : stored.log->own) {
      count_usage(native, *message);
    }
    return native.session;
  }

  // Values that the session took from the file continue to come from the file.
  void fill_in_defaults_of(StoredSession& stored) {
    const Session before = native_session(stored, document_.extra);
    fill_in_defaults(document_);
    if (before.system_prompt != stored.session.system_prompt) {
      json::set_field(document_.extra, "system", RawJson::string(stored.session.system_prompt));
    }
    if (stored.session.config == before.config) {
      stored.session.config = native_session(stored, document_.extra).config;
    }
  }

  static void encode_new(FileSession& session) {
    EncodedMessages& encoded = session.encoded;
    std::vector<Message> before = after_last_entry(session);
    const std::int64_t entries = encoded.count - std::ssize(before);
    auto entry = std::ranges::lower_bound(session.raw_entries, entries, {}, &RawEntry::before);
    const auto& messages = session.stored.log->own;
    for (; encoded.count < std::ssize(messages); ++encoded.count) {
      const auto remaining = std::span(messages).subspan(static_cast<std::size_t>(encoded.count));
      const Message& message = *remaining.front();
      if (!has_entry(message) || is_unanswered(remaining)) {
        before.push_back(message);
      } else {
        for (; entry != session.raw_entries.end() && entry->before <= encoded.count; ++entry) {
          encoded.text.append(kEntrySeparator).append(format_entry(entry->json.text()));
        }
        encoded.text.append(kEntrySeparator).append(encode_entry(message, before));
        before.clear();
      }
      encoded.ends.push_back(encoded.text.size());
    }
  }

  void conversation(const FileSession* session) {
    member(kConversation, "[");
    if (session != nullptr) {
      const std::string_view text = session->encoded.text;
      out_.reserve(out_.size() + text.size() + kOthersSize);
      const std::size_t start = out_.size();
      const auto add = [&](std::string_view entries) {  // the first one without the comma
        out_ += out_.size() > start || entries.empty() ? entries : entries.substr(1);
      };
      add(text);
      const std::int64_t entries = session->encoded.count - std::ssize(after_last_entry(*session));
      for (const RawEntry& entry : session->raw_entries) {
        if (entry.before >= entries) {
          add(cat(kEntrySeparator, format_entry(entry.json.text())));
        }
      }
      out_ += out_.size() > start ? "\n  " : "";
    }
    out_ += ']';
  }

  void meta(const FileSession* session, std::int64_t answers) {
    const RawJson* const before = json::find_field(document_.extra, kMeta);
    Meta meta = read_meta(before);
    if (session != nullptr) {
      const Session& value = session->stored.session;
      const Extra members = members_in(value.extra);
      if (const RawJson* const member = json::find_field(members, kMeta); member != nullptr) {
        meta.others = extra_from_json(member->text());
      }
      meta.last_updated =
          !is_known(value.info.updated_at) ? std::nullopt : std::optional(value.info.updated_at);
    }
    std::string text = "{\n    \"last_updated\": ";
    text += meta.last_updated ? json::quoted(format_milliseconds(*meta.last_updated)) : "null";
    text += ",\n    \"total_turns\": " + add_turns(meta.total_turns, answers);
    for (const ExtraField& field : meta.others) {
      text.append(",\n    ").append(json::quoted(field.name)).append(": ");
      text += field.value.text();
    }
    text += "\n  }";
    member(kMeta, text);
    json::set_field(document_.extra, kMeta, json::take(text));
  }

  Extra unknown_members(const FileSession* session) const {
    Extra fields = session == nullptr ? Extra{} : members_in(session->stored.session.extra);
    std::erase_if(fields, [](const ExtraField& field) { return field.name == kMeta; });
    Extra merged;
    const std::set<std::string_view> names = names_of(fields);
    for (const ExtraField& field : document_.extra) {
      if (!is_default(field.name) && field.name != kMeta && !names.contains(field.name)) {
        merged.push_back(field);
      }
    }
    merged.insert(merged.end(), fields.begin(), fields.end());
    return merged;
  }

  // Writes the member "reprise": what a reader could not derive from the members written so far.
  void sidecar(const FileSession& session, Extra members) {
    const StoredSession& stored = session.stored;
    for (const auto& [name, ignored] : kDefaults) {
      if (const RawJson* const value = json::find_field(document_.extra, name); value != nullptr) {
        members.push_back({std::string(name), *value});
      }
    }
    std::string text = cat(R"({"id":)", json::quoted(stored.session.info.id.str()));
    if (const std::string entries = described_entries(session); !entries.empty()) {
      text += cat(R"(,"entries":)", entries);
    }
    if (!stored.todos.empty()) {
      text += cat(R"(,"todos":)", todos_to_json(stored.todos));
    }
    if (const std::vector<Message> after = after_last_entry(session); !after.empty()) {
      text += cat(R"(,"after":{"at":)", session.encoded.count - std::ssize(after),
                  R"(,"messages":)", messages_to_json(after), "}");
    }
    const std::string fields = session_sidecar(stored, native_session(stored, members));
    text += fields.empty() ? "}" : cat(",", std::string_view(fields).substr(1));
    member(kSidecar, text);
  }

  const Origin& origin_;
  Document& document_;
  std::string out_ = "{";
};

}  // namespace

Result<std::string> encode(const Origin& origin, Document& document) {
  if (document.sessions.size() > 1) {
    return fail(Code::unsupported,
                cat(origin.file.native(), " holds one session and already has it: `",
                    shell_command({"--store", cat("context:", origin.file.native()), "clear"}),
                    "` moves it to the trash"));
  }
  return Writer(origin, document).run();
}

}  // namespace reprise::store::context
