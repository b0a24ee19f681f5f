#include "store/chatdir/chatdir_store.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/chatdir/chat.h"
#include "store/chatdir/chat_metadata.h"
#include "store/chatdir/chat_writer.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/chatdir/message_log.h"
#include "store/chatdir/packed_chat.h"
#include "store/provide.h"
#include "store/query.h"
#include "store/rules.h"
#include "store/stored_session.h"

namespace reprise {
namespace store::chatdir {
namespace {

namespace fs = std::filesystem;

// Creates the folder of a chat with all its files, outside the folder of chats.
Result<> fill_folder(const fs::path& folder, const Session& session,
                     const std::vector<Message>& messages, std::int64_t messages_max) {
  REPRISE_TRY(remove_tree(folder));
  REPRISE_TRY(make_private_folders(folder));
  MetadataFile metadata(session.info.id);
  metadata.current.stored.session = session;
  SessionInfo& info = metadata.current.stored.session.info;
  info.head = {};
  info.answering.reset();
  metadata.current.stored.session.usage = {};
  REPRISE_TRY(replace_file(folder / kMessagesFile, ""));
  REPRISE_TRY(write_metadata(folder, metadata));
  if (messages.empty()) {
    return {};
  }
  REPRISE_ASSIGN(std::shared_ptr<MessageLog> log, MessageLog::open(folder / kMessagesFile));
  ChatWriter writer(folder, std::move(metadata), std::move(log), messages_max);
  REPRISE_TRY(writer.write(std::nullopt, messages, {}));
  return {};
}

}  // namespace

// The steps of a fork that is a copy of its parent's first messages.
Result<> ChatdirStore::copy_parent_steps(const Session& session,
                                         const std::vector<Message>& messages,
                                         const fs::path& folder) {
  const auto& origin = session.info.forked_from;
  if (!origin || messages.empty() || !check_id(origin->session)) {
    return {};
  }
  REPRISE_ASSIGN(const auto parent, chats_.layout().find(origin->session));
  if (!parent) {
    return {};
  }
  if (parent->is_packed()) {
    if (chats_.settings().on_warning) {
      chats_.settings().on_warning(
          cat("the files of its steps stay in the archive of ", short_id(origin->session)));
    }
    return {};
  }
  REPRISE_ASSIGN(const StoredSession stored,
                 chats_.with(origin->session, [](Chat& chat) { return chat.load(); }));
  const auto shared = std::min(origin->at.value, static_cast<std::int64_t>(messages.size()));
  const ForkedSteps steps{.answers = std::count_if(messages.begin(), messages.begin() + shared,
                                                   [](const Message& message) {
                                                     return message.role == role::kAssistant;
                                                   }),
                          .is_whole = shared >= stored.session.info.head.value};
  return copy_steps(parent->folder, folder, steps);
}

Result<> ChatdirStore::create(const Session& session) {
  return create_with(session, {});
}

Result<> ChatdirStore::create_with(const Session& session, std::vector<Message> messages) {
  REPRISE_TRY(check_new_session(session));
  const SessionId& id = session.info.id;
  REPRISE_TRY(check_id(id));
  if (session.info.state == SessionState::archived) {
    return fail(Code::invalid_argument,
                cat("session ", id.str(), " cannot be created archived: archive it afterwards"));
  }
  REPRISE_ASSIGN(const LockFile::Hold hold, chats_.lock());
  const Layout& layout = chats_.layout();
  REPRISE_ASSIGN(const auto existing, layout.find(id));
  if (existing) {
    return std::unexpected(session_exists(id));
  }
  // Atomic: the folder is renamed when it is complete.
  const fs::path folder = layout.chats() / cat(kCreatingPrefix, id.str());
  auto filled = fill_folder(folder, session, messages, chats_.settings().messages_max);
  if (filled) {
    filled = copy_parent_steps(session, messages, folder);
  }
  if (!filled) {
    (void)remove_tree(folder);
    return filled;
  }
  return move_file(folder, layout.chat(id));
}

Result<std::optional<Session>> ChatdirStore::find(const SessionId& id) {
  REPRISE_ASSIGN(const auto location, chats_.layout().find(id));
  if (!location) {
    return std::nullopt;
  }
  if (location->is_packed()) {
    return read_packed_session(id, *location).stored.session;
  }
  auto found = chats_.with(id, [](Chat& chat) { return chat.load_with_lease(); });
  if (!found && found.error().code == Code::not_found) {
    REPRISE_ASSIGN(const auto now, chats_.layout().find(id));
    if (!now) {
      return std::nullopt;
    }
  }
  REPRISE_ASSIGN(StoredSession stored, std::move(found));
  return std::move(stored.session);
}

Result<> ChatdirStore::update(const SessionId& id, const SessionPatch& patch) {
  const auto change = [&](Chat& chat) {
    return chat.change([&](StoredSession& stored) { return apply_patch(stored.session, patch); });
  };
  REPRISE_TRY(chats_.with(id, change));
  return {};
}

Result<> ChatdirStore::list_at(Area area, const CheckedQuery& query,
                               std::vector<SessionInfo>& matching, std::vector<Damage>& damage) {
  REPRISE_ASSIGN(const auto sessions, chats_.layout().list(area));
  for (const Layout::Listed& listed : sessions) {
    if (!listed.id.str().starts_with(query.query.id_prefix) ||
        !has_short_id_prefix(listed.id, query.query.short_id_prefix)) {
      continue;
    }
    if (listed.location.is_packed()) {
      REPRISE_TRY(list_packed(listed, query, matching, damage));
      continue;
    }
    const auto opened = chats_.at(listed, MetadataScope::all_but_usage);
    if (!opened) {
      damage.push_back({listed.id.str(), opened.error().message, ""});
      continue;
    }
    const std::shared_ptr<Chat>& chat = *opened;
    const auto stored = chat->load_with_lease();
    if (const auto is_in_place = chat->is_in_place(); !stored && is_in_place && !*is_in_place) {
      continue;  // it was moved meanwhile
    }
    if (!stored) {
      damage.push_back({listed.id.str(), stored.error().message, ""});
      continue;
    }
    REPRISE_ASSIGN(std::vector<Damage> found, chat->damage());
    std::ranges::move(found, std::back_inserter(damage));
    if (matches(stored->session.info, query)) {
      matching.push_back(stored->session.info);
    }
  }
  return {};
}

Result<> ChatdirStore::list_packed(const Layout::Listed& listed, const CheckedQuery& query,
                                   std::vector<SessionInfo>& matching,
                                   std::vector<Damage>& damage) {
  REPRISE_ASSIGN(const bool has_chat, listed.location.area == Area::archive
                                          ? file_exists(chats_.layout().chat(listed.id))
                                          : Result<bool>(false));
  if (has_chat) {
    return {};  // the chat hides the archive
  }
  PackedSession packed = read_packed_session(listed.id, listed.location);
  std::ranges::move(packed.damage, std::back_inserter(damage));
  if (matches(packed.stored.session.info, query)) {
    matching.push_back(std::move(packed.stored.session.info));
  }
  return {};
}

Result<SessionPage> ChatdirStore::list(const SessionQuery& requested) {
  SessionQuery query = requested;
  // Archived chats can also be addressed by the names of their folders.
  if (const auto id = parse_archive_name(requested.short_id_prefix); id) {
    query.id_prefix = id->str();
    query.short_id_prefix.clear();
  }
  REPRISE_ASSIGN(const CheckedQuery checked, check_query(query, capabilities()));
  const auto includes = [&query](SessionState state) {
    return std::ranges::find(query.states, state) != query.states.end();
  };
  std::vector<SessionInfo> matching;
  std::vector<Damage> damage;
  if (includes(SessionState::active) || includes(SessionState::closed)) {
    REPRISE_TRY(list_at(Area::chats, checked, matching, damage));
  }
  if (includes(SessionState::archived)) {
    REPRISE_TRY(list_at(Area::archive, checked, matching, damage));
  }
  if (includes(SessionState::trashed)) {
    REPRISE_TRY(list_at(Area::trash, checked, matching, damage));
  }
  SessionPage page = make_page(std::move(matching), query);
  page.damage = std::move(damage);
  return page;
}

Result<AppendResult> ChatdirStore::append(const SessionId& id, std::vector<Message> messages,
                                          AppendOptions options) {
  return chats_.with(id, [&](Chat& chat) { return chat.write(std::nullopt, messages, options); });
}

Result<ReadReport> ChatdirStore::read(const SessionId& id, ReadRange range,
                                      const MessageSink& sink) {
  REPRISE_ASSIGN(const auto location, chats_.layout().find(id));
  if (location && location->is_packed()) {
    return read_packed(id, *location, range, sink);
  }
  return chats_.with(id, [&](Chat& chat) { return chat.read(range, sink); });
}

Result<AppendResult> ChatdirStore::replace_suffix(const SessionId& id, Seq from,
                                                  std::vector<Message> messages,
                                                  AppendOptions options) {
  return chats_.with(id, [&](Chat& chat) { return chat.write(from, messages, options); });
}

Result<std::int64_t> ChatdirStore::count_replaced(const SessionId& id) {
  REPRISE_ASSIGN(const auto location, chats_.layout().find(id));
  return location ? Result<std::int64_t>(0) : std::unexpected(no_session(id));
}

Result<ReadReport> ChatdirStore::read_replaced(const SessionId& id, const MessageSink& sink) {
  REPRISE_ASSIGN(const auto location, chats_.layout().find(id));
  if (!location) {
    return std::unexpected(no_session(id));
  }
  if (location->is_packed()) {
    return fail(Code::invalid_argument,
                cat("session ", short_id(id), " is archived: restore it first"));
  }
  REPRISE_ASSIGN(const bool is_described,
                 chats_.with(id, [](Chat& chat) { return chat.is_described(); }));
  if (!is_described) {
    return ReadReport{};  // they were replaced in another conversation
  }
  return chatdir::read_replaced(location->folder / kReplacedFile, kReplacedFile, sink);
}

Result<> ChatdirStore::add_partial(const SessionId& id, const OperationId& answer,
                                   std::span<const Block> delta) {
  return chats_.with(id, [&](Chat& chat) { return chat.add_partial(answer, delta); });
}

Result<> ChatdirStore::renew_lease(const SessionId& id, const OperationId& answer,
                                   const Lease& lease) {
  return chats_.with(id, [&](Chat& chat) { return chat.renew(answer, lease); });
}

Result<std::optional<Partial>> ChatdirStore::find_partial(const SessionId& id) {
  REPRISE_ASSIGN(const auto location, chats_.layout().find(id));
  if (location && location->is_packed()) {
    return std::nullopt;  // an archive has no running answer
  }
  return chats_.with(id, [](Chat& chat) { return chat.find_partial(); });
}

Result<std::vector<Todo>> ChatdirStore::todos(const SessionId& id) {
  REPRISE_ASSIGN(const auto location, chats_.layout().find(id));
  if (location && location->is_packed()) {
    return read_packed_session(id, *location).stored.todos;
  }
  REPRISE_ASSIGN(StoredSession session, chats_.with(id, [](Chat& chat) { return chat.load(); }));
  return std::move(session.todos);
}

Result<std::vector<Todo>> ChatdirStore::edit_todos(
    const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) {
  const auto change = [&](Chat& chat) {
    return chat.change([&](StoredSession& session) { return edit(session.todos); });
  };
  REPRISE_ASSIGN(StoredSession session, chats_.with(id, change));
  return std::move(session.todos);
}

}  // namespace store::chatdir

// NOLINTBEGIN(performance-unnecessary-value-param): all stores are opened alike.
Result<std::unique_ptr<Store>> open_chatdir_store(const std::filesystem::path& folder,
                                                  StoreOptions options, ChatdirOptions chatdir) {
  // NOLINTEND(performance-unnecessary-value-param)
  REPRISE_ASSIGN(const std::filesystem::path root, resolve_path(folder));
  const store::chatdir::Layout layout(root);
  if (options.access == Access::write) {
    REPRISE_TRY(make_private_folders(layout.chats()));
  } else {
    REPRISE_ASSIGN(const bool has_root, is_folder(root));
    if (!has_root) {
      return fail(Code::not_found, cat("no store at ", folder.string()), ENOENT);
    }
  }
  std::error_code error;
  const std::filesystem::path working_dir = std::filesystem::weakly_canonical(root, error);
  if (error) {
    return std::unexpected(os_error("find", root, error.value()));
  }
  auto store = std::make_unique<store::chatdir::ChatdirStore>(
      layout, store::chatdir::ChatSettings{.access = options.access,
                                           .busy_timeout = options.busy_timeout,
                                           .messages_max = chatdir.messages_max,
                                           .working_dir = working_dir.string(),
                                           .on_progress = options.on_progress,
                                           .on_warning = options.on_warning});
  REPRISE_TRY(store->prepare());
  return store::guard(std::move(store), store::CallOptions(options));
}

}  // namespace reprise
