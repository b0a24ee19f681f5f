#pragma once

// A session in a file: the state common to all stores, and details of the file's bytes.

#include "store/stored_session.h"

namespace reprise::store {

// The maximum length of damaged bytes in a report.
inline constexpr std::size_t kExcerptMax = 10'000;

// An entry among the messages of the file that is not a message; it is written back in its place.
struct RawEntry {
  std::int64_t before = 0;  // the seq of the following message
  RawJson json;
  std::string bytes = {};  // as in the file, if the format writes them back unchanged
  friend bool operator==(const RawEntry&, const RawEntry&) = default;
};

// The first `count` messages (and the raw entries before them), encoded in a form private to the
// format. Saves encoding all messages again for each append.
struct EncodedMessages {
  std::string text;
  std::int64_t count = 0;
  // The end of each message's text; a format that does not record it encodes everything again when
  // messages are replaced.
  std::vector<std::size_t> ends = {};
  // The signed form of the text, if it is known; "" if it is `text` itself.
  bool signed_is_known = false;
  std::string signed_as = {};

  // Keeps at most the first `messages`.
  void cut(std::int64_t messages);
};

// A part of the file that another program spelled differently from us, or that cannot be read. As
// long as we would write `written` for it ("" for nothing), its bytes are preserved.
struct SpelledPart {
  std::string place;
  std::string written;
  std::string bytes;
};

struct FileSession {
  StoredSession stored;
  std::vector<RawEntry> raw_entries = {};  // by position
  std::vector<RawEntry> raw_todos = {};    // the same among the todos
  std::vector<Damage> damage = {};         // parts of the file that could not be read
  std::vector<Damage> gaps = {};           // parts that never existed: reported, but not as damage
  EncodedMessages encoded = {};
  std::vector<SpelledPart> spelled = {};
};

// A new session with the given fields, except those derived from messages.
FileSession new_file_session(const Session& session);

// Appends a decoded message: sets its seq and counts its usage.
void add_message(StoredSession& stored, Message message);

}  // namespace reprise::store
