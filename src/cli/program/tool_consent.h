#pragma once

// Whether a tool may run. todo_write and recall may: they stay within the session and its folder's
// sessions. For files, for the sessions of other folders and for a tool that is none of ours the
// person is asked. Files of a folder in the setting `trust` are read unasked; for the rest --yes is
// needed where nobody can be asked.

#include <set>

#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/settings/settings.h"
#include "reprise/tool.h"  // IWYU pragma: export

namespace reprise::cli {

// What a person has agreed to: for a session as long as the program runs, and what is remembered
// for a folder in `consents.json` of the state folder. One thread at a time.
class ToolConsents {
 public:
  using Ask = std::function<Choice(const ToolUseBlock& call)>;

  explicit ToolConsents(Context& context)
      : ToolConsents(context.config().state_folder() / "consents.json", context.globals().yes) {
    if (const auto settings = context.config().settings(); settings) {
      trusted_ = (*settings)->trust;
    }
  }
  // In the folders of `trusted`, and below, files may be read unasked.
  ToolConsents(std::filesystem::path file, bool allow_all, std::vector<std::string> trusted = {})
      : file_(std::move(file)), allow_all_(allow_all), trusted_(std::move(trusted)) {}
  // Of a session that works in this folder; before the first call.
  void begin(std::string folder) { folder_ = std::move(folder); }

  // Asks where nothing answers it that was agreed to before. An error where that cannot be
  // remembered: the tool may run all the same.
  struct Answer {
    Approval approval = Approval::deny;
    Result<> remembered = {};
  };
  Answer approve(const ToolUseBlock& call, const Ask& ask);

 private:
  Result<> remember(const std::string& what) const;

  std::filesystem::path file_;
  bool allow_all_;
  std::vector<std::string> trusted_;
  std::string folder_;
  std::set<std::string, std::less<>> agreed_;
};

// Whether tools may work in a folder that is neither that of the start nor below it: the person is
// asked, once. invalid_argument where nobody can be, without --yes.
Result<> allow_tools_in(Context& context, const std::filesystem::path& folder);

// Asks on the terminal. `context` and `consents` must outlive it.
Approver ask_for_consent(Context& context, ToolConsents& consents);

}  // namespace reprise::cli
