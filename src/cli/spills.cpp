#include "cli/spills.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/program/context.h"
#include "cli/settings/settings.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/spill.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/spill/spill_folder.h"
#include "store/spill/spill_lines.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;
namespace spill = store::spill;

fs::path spill_folder(const Context& context) {
  return context.state_folder() / "spill";
}

bool is_on_a_server(std::string_view store_url) {
  return store_url.find("://") != std::string_view::npos;
}

Result<std::vector<fs::path>> spills_of(const fs::path& folder, std::string_view store_url) {
  REPRISE_ASSIGN(std::vector<fs::path> files, spill::find_spills(folder));
  std::erase_if(files,
                [&](const fs::path& file) { return spill::store_of_spill(file) != store_url; });
  return files;
}

// What a step replaces may be on the server alone: the session begins with the step then.
Result<> hold(HeldSessions& held, const SpilledSession& spilled) {
  const SessionId& id = spilled.session.info.id;
  for (const SpilledStep& step : spilled.steps) {
    const Seq place = step.replace_from.value_or(step.after);
    const auto [begin, is_new] = held.begin.try_emplace(id, place);
    if (is_new) {
      Session session = spilled.session;
      session.info.state = SessionState::active;
      REPRISE_TRY(held.store->create(session));
    }
    begin->second = std::min(begin->second, place);
    REPRISE_ASSIGN(const Session now, get(*held.store, id));
    const Seq at{std::min(place.value - begin->second.value, now.info.head.value)};
    REPRISE_TRY(held.store->offers().rewriting->replace_suffix(id, at, step.messages, {}));
  }
  return {};
}

}  // namespace

std::unique_ptr<Spill> make_spill(const Context& context, const Settings& settings) {
  std::string url = context.store_url(settings);
  if (!is_on_a_server(url) || !settings.spill.value_or(true)) {
    return nullptr;
  }
  return spill::make_spill_file(spill_folder(context), std::move(url));
}

void remark_on_spills(Context& context, std::string_view store_url) {
  if (!is_on_a_server(store_url)) {
    return;
  }
  const auto files = spills_of(spill_folder(context), store_url);
  if (!files) {
    return context.warn(files.error().message);
  }
  const auto count = std::ranges::count_if(*files, [](const fs::path& file) {
    const auto lock = spill::lock_spill(file);
    return lock && lock->has_value();
  });
  if (count > 0) {
    context.remark(cat(count, count == 1 ? " conversation" : " conversations",
                       " could not be saved and ", count == 1 ? "is" : "are",
                       " kept here; bring it in with: reprise copy spill: '", store_url, "'"));
  }
}

std::vector<Remnant> find_spilled(const Context& context, const std::vector<SessionId>& sessions) {
  std::vector<Remnant> found;
  const auto files = spill::find_spills(spill_folder(context));
  if (!files) {
    return {{spill_folder(context), files.error().message}};
  }
  for (const fs::path& file : *files) {
    const auto bytes = read_file(file);
    const bool is_named = bytes && std::ranges::any_of(sessions, [&](const SessionId& id) {
                            return bytes->find(id.str()) != std::string::npos;
                          });
    if (!bytes || is_named) {
      found.push_back({file, bytes ? "what a server did not take and is kept here: remove it"
                                   : bytes.error().message});
    }
  }
  return found;
}

Result<HeldSessions> held_sessions(Context& context, std::string_view store_url) {
  HeldSessions held{.store = open_memory_store(), .begin = {}};
  REPRISE_ASSIGN(const auto files, spills_of(spill_folder(context), store_url));
  for (const fs::path& file : files) {
    const auto lock = spill::lock_spill(file);
    if (lock && !*lock) {
      continue;
    }
    const auto spilled =
        lock ? spill::read_spill(file) : Result<SpilledSession>(std::unexpected(lock.error()));
    if (!spilled) {
      context.warn(cat("cannot read ", file.native(), ": ", spilled.error().message));
      continue;
    }
    REPRISE_TRY(hold(held, *spilled));
  }
  return held;
}

Result<std::vector<fs::path>> find_named_spills(Context& context, std::string_view url,
                                                std::string_view target) {
  const fs::path place = url.substr(url.find(':') + 1);
  REPRISE_ASSIGN(const bool is_in_folder, place.empty() ? Result<bool>(false) : is_folder(place));
  if (!place.empty() && !is_in_folder) {
    REPRISE_ASSIGN(const fs::path file, resolve_path(place));
    return std::vector{file};
  }
  const fs::path named = place.empty() ? spill_folder(context) : place;
  REPRISE_ASSIGN(const fs::path folder, resolve_path(named));
  REPRISE_ASSIGN(auto files, place.empty() ? spills_of(folder, without_password(target))
                                           : spill::find_spills(folder));
  if (!files.empty()) {
    return files;
  }
  std::string others;
  REPRISE_ASSIGN(const auto all, spill::find_spills(folder));
  for (const fs::path& file : all) {
    others += cat(others.empty() ? "; for other stores there are " : ", ", file.native());
  }
  return fail(Code::not_found, cat("nothing is kept in ", folder.native(),
                                   place.empty() ? " for this store" : "", others));
}

}  // namespace reprise::cli
