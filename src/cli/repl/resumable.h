#pragma once

// Stored sessions as /resume lists, finds and removes them: those that are not open. In a store
// with one open session per folder they are left out as long as a session of their folder is open;
// in every other store a session that is open in another process can be joined.

#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/last_list.h"
#include "cli/program/open_sessions.h"
#include "reprise/source.h"  // IWYU pragma: export
#include "reprise/types.h"   // IWYU pragma: export

namespace reprise {
class Store;
}

namespace reprise::cli {

// Its title; if it has none, the first words of its first question, else its short id.
std::string shown_name(Store& store, const SessionInfo& info);

// Not thread-safe.
class Resumable {
 public:
  // The sessions that this program has open.
  struct Here {
    std::vector<SessionId> ids;
    bool stay_open = false;  // when another one is resumed
  };

  explicit Resumable(Context& context) : context_(context) {}

  // The text of /resume, which gives each session a number.
  Result<std::string> list(const Here& here);
  // A number of that list as an id; anything else is returned as it is.
  Result<std::string> numbered(const std::string& sel) const;
  // `name` is the user's name for it, for errors. not_found; invalid_argument if its folder is
  // none.
  Result<SessionInfo> find(const std::string& sel, const std::string& name) const;
  // conflict if the store allows no other session in its folder while one is open.
  Result<> check_not_open(const SessionInfo& info, const Here& here) const;
  // Moves it to the trash. Returns what to tell the user.
  Result<std::string> remove(const std::string& sel, const Here& here);
  // Closed sessions, and moving all of them to the trash.
  Result<std::size_t> count_closed() const;
  Result<std::string> clear_closed();

 private:
  struct Others;
  Result<Others> find_others(Store& store, const Here& here) const;

  Context& context_;
  std::optional<LastList> numbers_;
};

}  // namespace reprise::cli
