#include "cli/program/tool_consent.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "cli/program/context.h"
#include "cli/settings/config.h"
#include "reprise/tool.h"

namespace reprise::cli {
namespace {

constexpr std::array<std::string_view, 3> kOnlyRead = {"list_dir", "read_file", "recall"};

}  // namespace

bool only_reads(std::string_view tool) {
  return std::ranges::find(kOnlyRead, tool) != kOnlyRead.end();
}

Result<> allow_tools_in(Context& context, const std::filesystem::path& folder) {
  ProgramConfig& start = context.config().at_start();
  if (folder.empty() || folder == start.project() ||
      is_trusted(folder, {start.working_dir().native()}) || context.globals().yes) {
    return {};
  }
  return context.voice().agree_once(
      cat("let tools work in ", folder.native(), ", which the session names?"),
      cat("tools would work in ", folder.native(),
          ", which the session names and which is not below this folder; start there, or allow it "
          "with --yes"),
      cat("no tools in ", folder.native()));
}

Approver ask_for_consent(Context& context) {
  // Shared by the copies of the function: what "always" was said to.
  auto always = std::make_shared<std::set<std::string, std::less<>>>();
  return [&context, always](const ToolUseBlock& call) {
    if (only_reads(call.name) || context.globals().yes || always->contains(call.name)) {
      return Approval::allow;
    }
    if (!context.voice().can_ask()) {
      context.voice().warn(
          cat("tool ", call.name, " was not allowed: nobody to ask, and no --yes"));
      return Approval::deny;
    }
    switch (context.voice().ask_choice(cat("run ", call.name, " ", call.input.text(), "?"))) {
      case Choice::always:
        always->insert(call.name);
        return Approval::allow;
      case Choice::yes:
        return Approval::allow;
      case Choice::no:
        return Approval::deny;
    }
    return Approval::deny;
  };
}

}  // namespace reprise::cli
