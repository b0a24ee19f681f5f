#pragma once

// A session as we last wrote it, for a file that the original program has rewritten since: it keeps
// the members that it knows, and drops ours. What it dropped is taken from there again, message by
// message if the message is still the same, and for the session if one of its messages is.

#include <map>

#include "reprise/source.h"
#include "store/document/document_format.h"

namespace reprise::store::sessions {

struct Location;

class Ours {
 public:
  // Of a file that we wrote.
  static Result<Ours> read(const Location& location, std::string_view json);

  // Where it has this entry, as read from the other file without our members; nullopt if nowhere.
  std::optional<std::int64_t> find(const Message& entry) const;
  // The entry with what was dropped.
  Message merged(Message entry, std::int64_t at) const;
  bool has_messages() const { return !places_.empty(); }
  // The same for the session.
  void merge_into(StoredSession& session) const;

 private:
  Ours(FileSession whole, FileSession known);

  struct Key {
    std::string id, role, content;
    auto operator<=>(const Key&) const = default;
  };
  static Key key_of(const Message& message);

  StoredSession whole_;
  StoredSession known_;  // only what the original knows of it
  std::map<Key, std::int64_t> places_;
};

}  // namespace reprise::store::sessions
