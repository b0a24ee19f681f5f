#include "cli/session/tool_consent.h"

#include <array>
#include <chrono>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/lock_file.h"
#include "base/place.h"
#include "base/text.h"
#include "cli/output/tool_text.h"
#include "cli/settings/config.h"
#include "cli/settings/program_config.h"

namespace reprise::cli {
namespace {

constexpr std::int64_t kConsentBytesMax = 1 << 20;

constexpr std::chrono::seconds kLockTimeout{5};

constexpr std::string_view kFiles = "files";

// The group of tools that one consent covers; "" if no consent is needed. Foreign tools are their
// own group.
std::string scope_of(std::string_view tool) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kBuiltIns = {{
      {"todo_write", ""},
      {"recall", ""},
      {"read_file", kFiles},
      {"list_dir", kFiles},
      {"recall_all", "sessions"},
  }};
  for (const auto& [name, scope] : kBuiltIns) {
    if (name == tool) {
      return std::string(scope);
    }
  }
  return cat("tool ", tool);
}

bool is_of_files(std::string_view tool) {
  return scope_of(tool) == kFiles;
}

using Scopes = std::set<std::string, std::less<>>;
using StoredConsents = std::map<std::string, Scopes, std::less<>>;  // by folder

// Parses {"/folder":["files","sessions"]}.
Result<StoredConsents> read_remembered(const std::filesystem::path& file) {
  const auto text = read_file(file, kConsentBytesMax);
  if (!text && text.error().code == Code::not_found) {
    return StoredConsents{};
  }
  if (!text) {
    return std::unexpected(text.error());
  }
  json::Scanner scanner(*text);
  StoredConsents out;
  const bool read = scanner.object([&](std::string_view folder) {
    return scanner.array([&, &scopes = out[std::string(folder)]] {
      std::string scope;
      if (!scanner.string(scope)) {
        return false;
      }
      scopes.insert(std::move(scope));
      return true;
    });
  });
  if (!read) {
    return fail(Code::corrupt, cat(file.native(), ": ", scanner.fault().message));
  }
  return out;
}

std::string consent_json(const StoredConsents& remembered) {
  std::string out;
  json::ObjectWriter object(out);
  for (const auto& [folder, scopes] : remembered) {
    object.key(folder);
    json::ArrayWriter array(out);
    for (const std::string& scope : scopes) {
      array.item();
      json::append_string(out, scope);
    }
    array.close();
  }
  object.close();
  return cat(out, "\n");
}

}  // namespace

ToolConsents::ToolConsents(Context& context)
    : ToolConsents(context.config().state_folder() / "consents.json", context.globals().yes) {
  if (const auto settings = context.config().settings(); settings) {
    trusted_ = (*settings)->trust;
  }
}

ToolConsents::Answer ToolConsents::approve(const ToolUseBlock& call, const Ask& ask) {
  const std::string scope = scope_of(call.name);
  if (scope.empty() || allow_all_ || consents_.contains(scope)) {
    return {.approval = Approval::allow};
  }
  if (scope == kFiles && !folder_.empty() && is_trusted(folder_, trusted_)) {
    return {.approval = Approval::allow};
  }
  // An unreadable file allows nothing.
  const StoredConsents remembered = read_remembered(file_).value_or(StoredConsents{});
  if (const auto entry = remembered.find(folder_);
      entry != remembered.end() && entry->second.contains(scope)) {
    return {.approval = Approval::allow};
  }
  Answer answer{.approval = Approval::allow};
  switch (ask(call)) {
    case Choice::no:
      return {};
    case Choice::once:
      break;
    case Choice::always:
      answer.remembered = remember(scope);
      [[fallthrough]];
    case Choice::yes:
      consents_.insert(scope);
      break;
  }
  return answer;
}

Result<> ToolConsents::remember(const std::string& scope) const {
  REPRISE_TRY(make_private_folders(file_.parent_path()));
  REPRISE_ASSIGN(const auto lock, LockFile::open(cat(file_.native(), ".lock")));
  REPRISE_ASSIGN(const LockFile::Hold hold,
                 lock->acquire(std::chrono::steady_clock::now() + kLockTimeout));
  REPRISE_ASSIGN(StoredConsents consents, read_remembered(file_));
  consents[folder_].insert(scope);
  return replace_file(file_, consent_json(consents));
}

Result<> allow_tools_in(Context& context, const std::filesystem::path& folder,
                        const std::stop_token& stop) {
  ProgramConfig& start = context.config().at_start();
  if (folder.empty() || Place(start.project()).is_at(folder.native()) ||
      is_trusted(folder, {start.working_dir().native()}) || context.globals().yes) {
    return {};
  }
  return context.console().ask_consent_once(
      cat("allow tools to work in ", folder.native(), ", the session's folder?"),
      cat("the session's folder ", folder.native(),
          " is outside the current folder; start there, or use --yes"),
      cat("no tools in ", folder.native()), stop);
}

Approver ask_for_consent(Context& context, ToolConsents& consents, const Interrupts& interrupts) {
  return [&context, &consents, &interrupts](const ToolUseBlock& call) {
    const auto answer = consents.approve(call, [&](const ToolUseBlock& tool_use) {
      if (!context.console().can_ask()) {
        context.console().warn(cat(
            "tool ", tool_use.name, " was not allowed: there is no terminal to ask on; use --yes",
            is_of_files(tool_use.name) ? ", or run `reprise config trust` in this folder once"
                                       : ""));
        return Choice::no;
      }
      return context.console().ask_choice(
          cat("run ", tool_use.name, " ", tool_input_line(tool_use.input.text(), kInputAsked), "?"),
          interrupts.token());
    });
    if (!answer.remembered) {
      context.console().warn(
          cat("cannot store this permission: ", answer.remembered.error().message));
    }
    return answer.approval;
  };
}

}  // namespace reprise::cli
