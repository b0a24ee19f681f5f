#pragma once

// The members of an object on their way into a file: in byte order, each on its line.

#include <map>
#include <span>

#include "reprise/json.h"
#include "store/document/file_session.h"

namespace reprise::store::sessions {

class Members {
 public:
  // The object's members stand `depth` levels deep.
  explicit Members(int depth) : depth_(depth) {}

  // `json` is spelled for that depth already.
  void raw(std::string_view name, std::string json);
  void text(std::string_view name, std::string_view text);
  // Pretty, its own spelling and order kept.
  void extra(const ExtraField& field);

  const std::string* find(std::string_view name) const;   // nullptr: it is not there
  void replace(std::string_view name, std::string json);  // of one that is there
  // All of them by name, the first of each. Until the next change.
  std::map<std::string_view, std::string_view> texts() const;
  // Those that would be written as they were give way to what stood in the file, at "PLACE/NAME".
  // How many did.
  int restore(const std::vector<SpelledPart>& spelled, std::string_view place);
  struct Member {
    std::string name;
    std::string json;
  };
  // In byte order.
  const std::vector<Member>& sorted();

  // The whole object.
  std::string object();

 private:
  int depth_;
  std::vector<Member> members_;
};

// Those of the fields which can stand as members of their own: the others have a name that is
// taken, or that an earlier one has. As they are read back.
Extra extra_members(const Extra& fields, std::span<const std::string_view> taken);

// What other programs' parts of the file, which must outlive it, were spelled like.
class SpelledBefore {
 public:
  explicit SpelledBefore(const std::vector<SpelledPart>& spelled);
  // What stood at `place`, where `json` would be written now; nullptr: it was that, or it has
  // changed.
  const std::string* find(std::string_view place, std::string_view json) const;

 private:
  std::map<std::pair<std::string_view, std::string_view>, const std::string*> parts_;
};

// "\n" and two blanks for each level.
void append_line(std::string& out, int depth);

}  // namespace reprise::store::sessions
