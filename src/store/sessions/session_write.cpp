#include <algorithm>  // IWYU pragma: keep
#include <array>

#include "base/json_write.h"
#include "base/text.h"
#include "model/known_time.h"
#include "store/document/document_format.h"
#include "store/sessions/parts_json.h"
#include "store/sessions/session_json.h"
#include "store/sessions/session_members.h"
#include "store/sessions/signature.h"
#include "store/sessions/spelling.h"
#include "store/stored_session.h"

namespace reprise::store::sessions {
namespace {

constexpr std::string_view kConversation = "conversation";
constexpr std::string_view kSignature = "signature";

// A part of the file in its written and its signed form.
struct Part {
  std::string written;
  std::string payload;
};

// The signed form of entries.
Result<std::string> formatted_entries(const std::string& entries) {
  REPRISE_ASSIGN(const std::string array, formatted(cat("[", entries, "]"), kEntryDepth - 1));
  const std::size_t end = entries.empty() ? 1 : array.rfind('\n');
  return array.substr(1, end - 1);
}

// Adds an entry of the conversation; updates `signed_as` if it differs from the text.
Result<> add_encoded(EncodedMessages& encoded, std::string_view json, bool is_signed) {
  if (is_signed) {
    REPRISE_ASSIGN(const std::string payload, formatted(json, kEntryDepth));
    std::string& other = encoded.signed_as;
    if (other.empty() && payload != json) {
      other = encoded.text;
    }
    if (!other.empty() || payload != json) {
      append_entry(other, payload);
    }
  }
  append_entry(encoded.text, json);
  return {};
}

// The time to write for the message at this position if its own is unknown: that of a message
// before or behind it, else that of the session.
Time nearest_known_time(const StoredSession& stored, std::int64_t position) {
  const SessionInfo& info = stored.session.info;
  Time beside = kUnknownTime;
  for (std::int64_t at = position - 1; at >= 0 && !is_known(beside); --at) {
    beside = stored.log->at(at)->created_at;
  }
  for (std::int64_t at = position; at < info.head.value && !is_known(beside); ++at) {
    beside = stored.log->at(at)->created_at;
  }
  return known_time({beside, info.created_at, info.updated_at});
}

// Encodes the new messages, and the raw entries before them.
Result<> encode_new(FileSession& file, bool is_signed) {
  EncodedMessages& encoded = file.encoded;
  if (is_signed && !encoded.signed_is_known) {
    REPRISE_ASSIGN(std::string payload, formatted_entries(encoded.text));
    encoded.signed_as = payload == encoded.text ? "" : std::move(payload);
  }
  encoded.signed_is_known = is_signed;
  auto next = std::ranges::lower_bound(file.raw_entries, encoded.count, {}, &RawEntry::before);
  Time time = kUnknownTime;
  for (; encoded.count < file.stored.session.info.head.value; ++encoded.count) {
    for (; next != file.raw_entries.end() && next->before <= encoded.count; ++next) {
      REPRISE_TRY(add_encoded(encoded, write_raw_entry(*next), is_signed));
    }
    const Message& message = *file.stored.log->at(encoded.count);
    if (is_known(message.created_at)) {
      time = message.created_at;
    } else if (!is_known(time)) {
      time = nearest_known_time(file.stored, encoded.count);
    }
    const std::string json = write_message(message, time);
    REPRISE_TRY(add_encoded(encoded, json, is_signed));
    encoded.ends.push_back(encoded.text.size());
  }
  return {};
}

// The entries after the last message.
Result<Part> last_entries(const FileSession& file, bool is_signed) {
  Part last;
  auto next = std::ranges::lower_bound(file.raw_entries, file.encoded.count, {}, &RawEntry::before);
  for (; next != file.raw_entries.end(); ++next) {
    const std::string json = write_raw_entry(*next);
    const bool is_first = file.encoded.text.empty() && last.written.empty();
    for (std::string* out : {&last.written, &last.payload}) {
      *out += is_first ? "" : ",";
      append_line(*out, kEntryDepth);
    }
    last.written += json;
    if (is_signed) {
      REPRISE_ASSIGN(const std::string payload, formatted(json, kEntryDepth));
      last.payload += payload;
    }
  }
  return last;
}

Result<> add_member(Part& part, const Members::Member& member, bool is_signed) {
  const auto add = [&member](std::string& out, std::string_view json) {
    out += out == "{" ? "" : ",";
    append_line(out, 1);
    append_string(out, member.name);
    out += ": ";
    out += json;
  };
  add(part.written, member.json);
  if (is_signed) {
    REPRISE_ASSIGN(const std::string payload, formatted(member.json, 1));
    add(part.payload, payload);
  }
  return {};
}

// Joins all pieces with one allocation, since a file may be large.
std::string joined(std::span<const std::string_view> pieces) {
  std::size_t size = 0;
  for (const std::string_view piece : pieces) {
    size += piece.size();
  }
  std::string joined_text;
  joined_text.reserve(size);
  for (const std::string_view piece : pieces) {
    joined_text += piece;
  }
  return joined_text;
}

}  // namespace

Result<std::string> write_session(FileSession& file, const SigningKey* key) {
  const bool is_signed = key != nullptr;
  REPRISE_TRY(encode_new(file, is_signed));
  REPRISE_ASSIGN(const Part last, last_entries(file, is_signed));
  const bool is_empty = file.encoded.text.empty() && last.written.empty();
  const std::string close = is_empty ? "]" : "\n  ]";
  Part head{"{", "{"};
  Part middle{close, close};
  Part end;
  Members members = file_members(file, key);
  for (const Members::Member& member : members.sorted()) {
    Part& part = member.name < kConversation ? head : member.name < kSignature ? middle : end;
    REPRISE_TRY(add_member(part, member, is_signed));
  }
  const std::string open = ",\n  \"conversation\": [";
  std::string signature;
  if (is_signed) {
    const std::string& other = file.encoded.signed_as;
    const std::array<std::string_view, 7> pieces = {
        head.payload, open, other.empty() ? file.encoded.text : other, last.payload, middle.payload,
        end.payload,  "\n}"};
    REPRISE_ASSIGN(const std::string bytes, key->sign(pieces));
    signature = cat(",\n  \"signature\": \"", bytes, "\"");
  }
  const std::array<std::string_view, 8> pieces = {head.written, open,           file.encoded.text,
                                                  last.written, middle.written, signature,
                                                  end.written,  "\n}"};
  return joined(pieces);
}

}  // namespace reprise::store::sessions
