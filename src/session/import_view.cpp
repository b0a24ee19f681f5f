#include "session/import_view.h"

#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "engine/blobs.h"
#include "engine/origin.h"
#include "session/imported_copies.h"

namespace reprise::imports {
namespace {

constexpr std::string_view kParentField = "parent";  // of a sub-agent's session

bool is_of_sub_agent(const Session& session) {
  return json::find_field(session.extra, kParentField) != nullptr;
}

}  // namespace

std::string stored_title(const SessionInfo& info, std::string_view title) {
  return cat(title, is_branch(info) && !title.empty() ? " (fork)" : "");
}

ImportView::ImportView(Source& source, std::string_view tool, Store& target, SessionId foreign)
    : source_(source),
      tool_(tool),
      target_(target),
      foreign_(std::move(foreign)),
      holds_(source.capabilities()) {
  holds_.blob_reader = target.capabilities().blob_reader;
  holds_.change_reader = nullptr;
  holds_.last_message_reader = nullptr;
  holds_.message_finder = nullptr;
  holds_.short_session_reader = nullptr;
  holds_.word_index = nullptr;
  holds_.todo_reader = source.capabilities().todo_reader == nullptr ? nullptr : this;
}

void ImportView::show_as(SessionId id, std::optional<ForkOrigin> fork) {
  id_ = std::move(id);
  fork_ = std::move(fork);
}

Result<std::optional<Session>> ImportView::find(const SessionId& /*id*/) {
  REPRISE_ASSIGN(std::optional<Session> session, source_.find(foreign_));
  if (!session) {
    return session;
  }
  SessionInfo& info = session->info;
  const bool is_secondary = is_branch(info) || is_of_sub_agent(*session);
  info.title = stored_title(info, info.title);
  info.id = id_.value_or(info.id);
  info.state =
      state_.value_or(is_secondary || info.state == SessionState::archived ? SessionState::archived
                                                                           : SessionState::active);
  is_archived_ = info.state == SessionState::archived;
  info.state = is_archived_ ? SessionState::active : info.state;
  info.closed_at.reset();
  if (info.forked_from && !fork_) {
    REPRISE_ASSIGN(info.forked_from->session,
                   id_in(target_, tool_, info.forked_from->session.str()));
    const bool shares = target_.capabilities().forking != nullptr;
    inherited_ = shares ? Seq{} : info.forked_from->at;
  }
  if (fork_) {
    info.forked_from = fork_;
  }
  set_origin(session->extra, {.tool = tool_, .id = foreign_.str(), .is_archived = is_archived_});
  return session;
}

Result<ReadReport> ImportView::read(const SessionId& /*id*/, ReadRange range,
                                    const MessageSink& sink) {
  Result<> failure;
  auto report = source_.read(foreign_, range, [&](Message&& message) {
    for (Block& block : message.blocks) {
      auto* const image = std::get_if<ImageBlock>(&block);
      if (image == nullptr) {
        continue;
      }
      auto stored = put_image(&target_, std::move(*image));
      if (!stored) {
        failure = fail_with_context("cannot store an image", std::move(stored).error());
        return Flow::stop;
      }
      *image = *std::move(stored);
    }
    if (message.seq < inherited_) {
      message.usage.reset();  // counted in the session that was forked
    }
    return sink(std::move(message));
  });
  REPRISE_TRY(failure);
  return report;
}

Result<std::vector<Todo>> ImportView::todos(const SessionId& /*id*/) {
  return source_.capabilities().todo_reader->todos(foreign_);
}

}  // namespace reprise::imports
