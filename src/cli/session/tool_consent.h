#pragma once

// Decides whether a tool may run. todo_write and recall always may, as they stay within the session
// and its folder's sessions. Access to files, to sessions of other folders and foreign tools needs
// the user's consent, except for reading files in folders of the setting `trust`. Without a
// terminal, --yes is needed.

#include <set>

#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/interrupts.h"
#include "reprise/tool.h"  // IWYU pragma: export

namespace reprise::cli {

// The user's consents: for a session until the program exits, and permanently for a folder in
// `consents.json` of the state folder. Not thread-safe.
class ToolConsents {
 public:
  using Ask = std::function<Choice(const ToolUseBlock& call)>;

  explicit ToolConsents(Context& context);
  // Files in and below the folders of `trusted` may be read without asking.
  ToolConsents(std::filesystem::path file, bool allow_all, std::vector<std::string> trusted = {})
      : file_(std::move(file)), allow_all_(allow_all), trusted_(std::move(trusted)) {}
  // Sets the session's folder; called before the first call.
  void begin(std::string folder) { folder_ = std::move(folder); }

  struct Answer {
    Approval approval = Approval::deny;
    // An error if a permanent consent could not be stored; the tool may run anyway.
    Result<> remembered = {};
  };
  // Asks unless an earlier consent applies.
  Answer approve(const ToolUseBlock& call, const Ask& ask);

 private:
  Result<> remember(const std::string& scope) const;

  std::filesystem::path file_;
  bool allow_all_;
  std::vector<std::string> trusted_;
  std::string folder_;
  std::set<std::string, std::less<>> consents_;
};

// Whether tools may run in a folder that is not in the start folder: asks the user once.
// invalid_argument without a terminal and without --yes.
Result<> allow_tools_in(Context& context, const std::filesystem::path& folder,
                        const std::stop_token& stop);

// Asks on the terminal; a signal means no. The arguments must outlive it.
Approver ask_for_consent(Context& context, ToolConsents& consents, const Interrupts& interrupts);

}  // namespace reprise::cli
