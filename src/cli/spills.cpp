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
#include "cli/context.h"
#include "cli/settings.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/spill.h"
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
