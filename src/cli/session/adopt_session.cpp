#include <algorithm>

#include "cli/program/store_opener.h"
#include "cli/session/find_session.h"
#include "reprise/sessions.h"
#include "session/import.h"

namespace reprise::cli {
namespace {

const SourceKind* kind_in(std::string_view sel) {
  const std::size_t colon = sel.find(':');
  if (colon == std::string_view::npos) {
    return nullptr;
  }
  const auto kinds = source_kinds();
  const auto found = std::ranges::find(kinds, sel.substr(0, colon), &SourceKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

Result<std::string> adopt_session(Context& context, std::string sel) {
  const SourceKind* const kind = kind_in(sel);
  if (kind == nullptr) {
    return sel;
  }
  const std::string url = cat(kind->name, ":");
  const std::string named = sel.substr(url.size());
  REPRISE_ASSIGN(const std::unique_ptr<Source> source, context.stores().open_source_at(url));
  // Numbers refer to the tool's own list.
  REPRISE_ASSIGN(const SessionInfo info,
                 context.stores().select(*source, named.empty() ? "last" : named, Use::read,
                                         every_state(), url));
  REPRISE_ASSIGN(Store* const store, context.stores().open(Access::write));
  REPRISE_ASSIGN(const ContinuedSession continued,
                 continue_imported(*source, kind->name, *store, info, context.clock()));
  for (const std::string& part : continued.damage) {
    context.console().warn(part);
  }
  context.console().notice(
      cat("continuing a copy of ", kind->title, "'s session: ", short_id(continued.id)));
  return continued.id.str();
}

}  // namespace reprise::cli
