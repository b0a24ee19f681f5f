#pragma once

// The store for a chat directory (docs/formats/chatdir.md): a folder for each chat, with an
// append-only log of its messages.

#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/chatdir/chats.h"
#include "store/chatdir/layout.h"
#include "store/provide.h"
#include "store/query.h"

namespace reprise::store::chatdir {

class ChatdirStore final : public Store,
                           public AtomicCreation,
                           public Rewriting,
                           public Partials,
                           public Todos,
                           public Artefacts,
                           public TurnRecording,
                           public Archives,
                           public CurrentSession,
                           public Trash,
                           public Repair,
                           public Backup {
 public:
  ChatdirStore(Layout layout, ChatSettings settings)
      : chats_(std::move(layout), std::move(settings)) {}

  // Finishes moves that a crash interrupted.
  Result<> prepare() { return chats_.recover_moves(); }

  // chatdir_store.cpp
  Result<> create(const Session& session) override;
  Result<> create_with(const Session& session, std::vector<Message> messages) override;
  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<> update(const SessionId& id, const SessionPatch& patch) override;
  Result<SessionPage> list(const SessionQuery& requested) override;
  Result<AppendResult> append(const SessionId& id, std::vector<Message> messages,
                              AppendOptions options) override;
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<AppendResult> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                      AppendOptions options) override;
  // Always 0: replaced messages are also the artefact replaced.jsonl.
  Result<std::int64_t> count_replaced(const SessionId& id) override;
  Result<ReadReport> read_replaced(const SessionId& id, const MessageSink& sink) override;
  Result<> add_partial(const SessionId& id, const OperationId& answer,
                       std::span<const Block> delta) override;
  Result<> renew_lease(const SessionId& id, const OperationId& answer, const Lease& lease) override;
  Result<std::optional<Partial>> find_partial(const SessionId& id) override;
  Result<std::vector<Todo>> todos(const SessionId& id) override;
  Result<std::vector<Todo>> edit_todos(
      const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) override;

  // artefacts.cpp: files in steps/NNN/, those of step 0 in the chat's own folder. A name may be a
  // file name, or the key that the original program uses ("parts" is stream.jsonl). Older layouts
  // can be read: flat folders, answer-step1.md, step/001/. invalid_argument for the files of the
  // record.
  Result<> save_artefact(const SessionId& id, Step step, std::string_view name,
                         std::string_view bytes) override;
  Result<> append_artefact(const SessionId& id, Step step, std::string_view name,
                           std::string_view bytes) override;
  Result<std::optional<std::string>> find_artefact(const SessionId& id, Step step,
                                                   std::string_view name) override;
  Result<std::vector<Entry>> list_artefacts(const SessionId& id) override;
  Result<std::vector<std::string>> list_unlisted(const SessionId& id) override;

  // step_recorder.cpp
  Result<std::unique_ptr<TurnRecorder>> record_turn(const SessionId& id,
                                                    const RecordedTurn& turn) override;

  // archives.cpp: a session is in exactly one place at any time (move_journal.h). One that is
  // restored from the archive becomes the current one.
  Result<> archive(const SessionId& id, Time when) override;
  Result<> unarchive(const SessionId& id) override;
  Result<> trash(const SessionId& id, Time when) override;
  Result<> restore(const SessionId& id) override;
  Result<> purge(const SessionId& id) override;

  // current.cpp
  Result<std::optional<SessionId>> current() override;
  Result<> set_current(const std::optional<SessionId>& id) override;

  // repair.cpp: other files than messages.jsonl and reprise.json are copied unchanged. If one of
  // these two is damaged, the original is copied beside the repaired one as .bak.
  Result<VerifyReport> verify() override;
  Result<VerifyReport> repair_into(const std::filesystem::path& named) override;

  // backup.cpp: a snapshot of the directory: its chats, their messages and metadata. Artefacts are
  // of the same moment or later. busy if the directory changes too fast for a consistent snapshot.
  Result<> backup(const std::filesystem::path& named) override;

 private:
  Result<> copy_parent_steps(const Session& session, const std::vector<Message>& messages,
                             const std::filesystem::path& folder);
  Result<> replace_step(const SessionId& id, Step step);

  Result<> list_at(Area area, const CheckedQuery& query, std::vector<SessionInfo>& matching,
                   std::vector<Damage>& damage);
  Result<> list_packed(const Layout::Listed& listed, const CheckedQuery& query,
                       std::vector<SessionInfo>& matching, std::vector<Damage>& damage);
  Result<> unpack(const SessionId& id);
  Result<> write_model(const SessionId& id);
  Result<> trash_now(const SessionId& id);
  Result<> purge_now(const SessionId& id);
  Result<> copy_all(const Layout& to);
  Result<> repair_all(const Layout& to, VerifyReport& report);

  Chats chats_;
  const Capabilities capabilities_ =
      capabilities_of(*this, {.any_id = false, .many_folders = false, .lists_at_once = true});
};

}  // namespace reprise::store::chatdir
