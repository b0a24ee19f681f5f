#pragma once

// A session as a file holds it: what every store keeps, and what only the bytes of the file say.

#include "store/stored_session.h"

namespace reprise::store {

// Of damaged bytes, in a report.
inline constexpr std::size_t kExcerptMax = 10'000;

// Stands among the messages in the file and is none; it is kept and written back in its place.
struct RawEntry {
  std::int64_t before = 0;  // the seq of the message that follows
  RawJson json;
  std::string bytes = {};  // as they stand in the file, where the format writes them back so
  friend bool operator==(const RawEntry&, const RawEntry&) = default;
};

// The first `count` messages (and the kept entries before them) as the format spells them; what
// the text is, only the format knows. It saves encoding everything again for each message more.
struct EncodedMessages {
  std::string text;
  std::int64_t count = 0;
  // Where the text of each message ends; a format that does not say it has all encoded again when
  // messages give way.
  std::vector<std::size_t> ends = {};
  // The same as it is signed, where somebody has looked: "" when that is `text` itself.
  bool signed_is_known = false;
  std::string signed_as = {};

  // Keeps at most the first `messages`.
  void cut(std::int64_t messages);
};

// A part of the file that another program spelled otherwise than it would be written here, or that
// cannot be read. As long as it would be `written` so ("": not at all), it stays as it was.
struct SpelledPart {
  std::string place;
  std::string written;
  std::string bytes;
};

struct FileSession {
  StoredSession stored;
  std::vector<RawEntry> raw_entries = {};  // by place
  std::vector<RawEntry> raw_todos = {};    // the same among the todos
  std::vector<Damage> damage = {};         // what the file has and could not be read
  std::vector<Damage> gaps = {};  // what was never there: readers are told, nothing is damaged
  EncodedMessages encoded = {};
  std::vector<SpelledPart> spelled = {};
};

// Of what a session is created with, what does not follow from its messages.
FileSession new_file_session(const Session& session);

// Appends a message as it was read: numbers it, counts its usage. For decoders.
void add_message(StoredSession& stored, Message message);

}  // namespace reprise::store
