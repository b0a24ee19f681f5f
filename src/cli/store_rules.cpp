#include "cli/store_rules.h"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/program/context.h"
#include "cli/settings/settings.h"
#include "reprise/conversation.h"
#include "reprise/error.h"
#include "reprise/mode.h"
#include "reprise/open_store.h"
#include "reprise/provider.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise::cli {

namespace {

Result<std::optional<SessionId>> current_session(Context& context, Access access) {
  const auto store = access == Access::read ? context.store(access) : context.existing_store();
  if (!store || (*store)->offers().current == nullptr) {
    return std::nullopt;  // what is wrong with the store is said when it is needed
  }
  return (*store)->offers().current->current();
}

}  // namespace

Result<std::optional<SessionId>> usual_session(Context& context, Access access) {
  REPRISE_ASSIGN(const Settings* const settings, context.settings());
  if (settings->context_file.empty()) {
    return current_session(context, access);
  }
  const auto store = context.store(access);
  if (!store) {
    return std::nullopt;  // it is said where the new session cannot be stored
  }
  REPRISE_ASSIGN(const SessionPage page, (*store)->list({.limit = 1}));
  return page.sessions.empty() ? std::nullopt : std::optional(page.sessions.front().id);
}

void make_current(Context& context, Store& store, const SessionId& id, bool archive) {
  CurrentSession* const current = store.offers().current;
  if (current == nullptr) {
    return;
  }
  const auto before = current->current();
  if (before && *before == id) {
    return;
  }
  if (const auto done = current->set_current(id); !done) {
    context.warn(cat("this session is not the current one: ", done.error().message));
    return;
  }
  const std::optional<SessionId> old = before ? *before : std::nullopt;
  if (!archive || !old || store.offers().archives == nullptr) {
    return;
  }
  if (const auto done = store.offers().archives->archive(*old, context.clock().now()); done) {
    context.remark(cat("archived ", short_id(*old).value_or(old->str())));
  } else {
    context.warn(cat("the session before is not archived: ", done.error().message));
  }
}

Result<> check_provider_for(const Store& store, const Provider& provider) {
  if (store.holds().words || provider.keeps_responses()) {
    return {};
  }
  return fail(Code::unsupported,
              cat("this store keeps response ids only, and ", provider.name(),
                  " keeps no words: use --provider openai-responses, or another store"));
}

Result<> check_can_go_on(const Store& store, const Session& session) {
  if (store.holds().words || !session.response_chain.empty()) {
    return {};
  }
  const std::string name = session.info.title.empty() ? session.info.id.str() : session.info.title;
  return fail(Code::unsupported, cat("'", name,
                                     "' has no response ids: its words are nowhere, and "
                                     "there is nothing to go on from"));
}

void leave_out_words(Session& session, const Mode* mode, ConversationOptions& options) {
  if (mode == nullptr || mode->path == PathPolicy::none) {
    session.info.working_dir.clear();
  }
  if (mode != nullptr) {
    std::string prompt = std::exchange(session.system_prompt, "");
    if (!options.system) {
      options.system = std::move(prompt);
    }
  }
}

std::optional<std::string> instructions_of(Context& context, const Session& session,
                                           std::stop_token stop) {
  const auto settings = context.settings();
  if (!settings) {
    return std::nullopt;  // they were read before
  }
  if (session.info.mode.empty()) {
    return (*settings)->system;
  }
  const auto mode = (*settings)->modes.find(session.info.mode);
  if (mode == (*settings)->modes.end()) {
    context.warn(cat("no mode is called '", session.info.mode, "': its instructions are not sent"));
    return (*settings)->system;
  }
  const std::string& folder = session.info.working_dir;
  auto loaded = load_context(
      mode->second, folder.empty() ? context.working_dir() : std::filesystem::path(folder),
      [&](std::string_view line) { context.note(line); }, std::move(stop));
  if (!loaded) {
    context.warn(cat("without the mode's context: ", loaded.error().message));
    return mode->second.system;
  }
  return *std::move(loaded);
}

}  // namespace reprise::cli
