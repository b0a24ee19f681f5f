#include "session/outbox.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/outbox.h"
#include "store/outbox/outbox_file.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace outbox = store::outbox;

// Outbox files of this store, and unreadable ones.
Result<std::vector<fs::path>> files_for(const fs::path& folder, std::string_view store_url) {
  REPRISE_ASSIGN(std::vector<fs::path> files, outbox::find_outboxes(folder));
  // An unreadable file may be of this store: its reader reports the error.
  std::erase_if(files, [&](const fs::path& file) {
    const auto store = outbox::store_of_outbox(file);
    return store && *store != store_url;
  });
  return files;
}

// If a step replaces messages that only the server has, the local session starts with the step.
Result<> add_outbox(OutboxSessions& outboxes, const OutboxSession& outbox) {
  const SessionId& id = outbox.session.info.id;
  for (const OutboxStep& step : outbox.steps) {
    const Seq position = step.replace_from.value_or(step.after);
    const auto [begin, is_new] = outboxes.begin.try_emplace(id, position);
    if (is_new) {
      Session session = outbox.session;
      session.info.state = SessionState::active;
      REPRISE_TRY(outboxes.store->create(session));
    }
    begin->second = std::min(begin->second, position);
    REPRISE_ASSIGN(const Session current, get(*outboxes.store, id));
    const Seq at{std::min(position.value - begin->second.value, current.info.head.value)};
    REPRISE_TRY(
        outboxes.store->capabilities().rewriting->replace_suffix(id, at, step.messages, {}));
  }
  return {};
}

}  // namespace

bool is_on_a_server(std::string_view store_url) {
  return store_url.contains("://");
}

std::unique_ptr<Outbox> make_outbox(const fs::path& folder, std::string_view store_url) {
  return is_on_a_server(store_url) ? outbox::make_outbox_file(folder, std::string(store_url))
                                   : nullptr;
}

Result<std::size_t> count_outbox_sessions(const fs::path& folder, std::string_view store_url) {
  if (!is_on_a_server(store_url)) {
    return 0U;
  }
  REPRISE_ASSIGN(const std::vector<fs::path> files, files_for(folder, store_url));
  return static_cast<std::size_t>(std::ranges::count_if(files, [](const fs::path& file) {
    const auto lock = outbox::lock_outbox(file);
    return !lock || lock->has_value();
  }));
}

std::vector<Remnant> find_outbox_remnants(const fs::path& folder,
                                          std::span<const SessionId> sessions) {
  std::vector<Remnant> found;
  const auto files = outbox::find_outboxes(folder);
  if (!files) {
    return {{folder, files.error().message}};
  }
  for (const fs::path& file : *files) {
    const auto bytes = read_file(file);
    const bool is_named = bytes && std::ranges::any_of(sessions, [&](const SessionId& id) {
                            return bytes->find(id.str()) != std::string::npos;
                          });
    if (!bytes || is_named) {
      found.push_back({file, bytes ? "messages that a server did not accept; remove it"
                                   : bytes.error().message});
    }
  }
  return found;
}

Result<OutboxSessions> read_outboxes(const fs::path& folder, std::string_view store_url,
                                     const std::function<void(std::string_view)>& on_warning) {
  OutboxSessions outboxes{.store = open_memory_store(), .begin = {}};
  REPRISE_ASSIGN(const auto files, files_for(folder, store_url));
  for (const fs::path& file : files) {
    const auto lock = outbox::lock_outbox(file);
    if (lock && !*lock) {
      continue;
    }
    const auto outbox =
        lock ? outbox::read_outbox(file) : Result<OutboxSession>(std::unexpected(lock.error()));
    if (!outbox) {
      on_warning(cat("cannot read ", file.native(), ": ", outbox.error().message));
      continue;
    }
    REPRISE_TRY(add_outbox(outboxes, *outbox));
  }
  return outboxes;
}

Result<std::vector<fs::path>> find_outbox_files(const fs::path& default_folder,
                                                std::string_view named,
                                                std::string_view store_url) {
  const fs::path path = named;
  REPRISE_ASSIGN(const bool is_in_folder, path.empty() ? Result<bool>(false) : is_folder(path));
  if (!path.empty() && !is_in_folder) {
    REPRISE_ASSIGN(const fs::path file, resolve_path(path));
    return std::vector{file};
  }
  REPRISE_ASSIGN(const fs::path folder, resolve_path(path.empty() ? default_folder : path));
  REPRISE_ASSIGN(auto files,
                 path.empty() ? files_for(folder, store_url) : outbox::find_outboxes(folder));
  if (!files.empty()) {
    return files;
  }
  std::string other_files;
  REPRISE_ASSIGN(const auto all_files, outbox::find_outboxes(folder));
  for (const fs::path& file : all_files) {
    other_files += cat(other_files.empty() ? "; waiting for other stores: " : ", ", file.native());
  }
  return fail(Code::not_found, cat("nothing is waiting in ", folder.native(),
                                   path.empty() ? " for this store" : "", other_files));
}

}  // namespace reprise
