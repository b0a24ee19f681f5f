#pragma once

// A session of a tool in the form in which it is stored.

#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise::imports {

// The title in the store: that of the session in use is not repeated.
std::string stored_title(const SessionInfo& info, std::string_view title);

// With the session's id in the store, and with images as blobs of the store.
class ImportView final : public Source, public TodoReader {
 public:
  ImportView(Source& source, std::string_view tool, Store& target, SessionId foreign);

  // The state to store, if the session exists already.
  void set_state(SessionState state) { state_ = state; }
  // Whether the session that find() has returned is to be archived, once it is complete.
  bool is_archived() const { return is_archived_; }

  void show_as(SessionId id, std::optional<ForkOrigin> fork);

  Result<std::optional<Session>> find(const SessionId& id) override;
  Result<SessionPage> list(const SessionQuery& query) override { return source_.list(query); }
  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override;
  Result<std::vector<Todo>> todos(const SessionId& id) override;
  const SourceCapabilities& capabilities() const override { return holds_; }

 private:
  Source& source_;
  std::string tool_;
  Store& target_;
  SessionId foreign_;
  std::optional<SessionId> id_;
  std::optional<ForkOrigin> fork_;
  std::optional<SessionState> state_;
  bool is_archived_ = false;
  Seq inherited_;
  SourceCapabilities holds_;
};

}  // namespace reprise::imports
