#include "store/rules.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/fields.h"
#include "reprise/store.h"

namespace reprise::store {
namespace {

constexpr std::size_t kArtefactNameMax = 4000;
constexpr std::size_t kComponentMax = 255;

template <class Owner>
void replace(Owner& owner, const auto& fields, const SessionPatch& patch) {
  model::for_each(fields, [&](const auto& field) {
    if (field.patch != nullptr && patch.*field.patch) {
      owner.*field.member = *(patch.*field.patch);
    }
  });
}

Result<> check_not_trashed(const SessionInfo& info) {
  if (info.state == SessionState::trashed) {
    return fail(Code::invalid_argument,
                cat("session ", short_id(info.id), " is in the trash: restore it first"));
  }
  return {};
}

Result<> check_new_state(const Session& session, SessionState state) {
  if (state != SessionState::active && state != SessionState::closed) {
    return fail(Code::invalid_argument,
                cat("a session cannot be updated to the state ", to_string(state)));
  }
  if (session.info.state == SessionState::archived) {
    return fail(Code::invalid_argument,
                cat("session ", short_id(session.info.id), " is archived: restore it first"));
  }
  return check_not_trashed(session.info);
}

bool is_artefact_name(std::string_view name) {
  if (name.size() > kArtefactNameMax || name.find('\0') != std::string_view::npos) {
    return false;
  }
  for (;;) {
    const std::size_t slash = name.find('/');
    const std::string_view component = name.substr(0, slash);
    if (component.empty() || component.size() > kComponentMax || component == "." ||
        component == "..") {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

Error no_session(const SessionId& id) {
  return {Code::not_found, cat("no session ", short_id(id))};
}

Error session_exists(const SessionId& id) {
  return {Code::conflict, cat("session ", short_id(id), " already exists")};
}

Error answer_not_running(const SessionId& id, const OperationId& answer) {
  return {Code::conflict,
          cat("the answer ", answer.str(), " is not running in session ", short_id(id))};
}

Error not_in_trash(const SessionId& id) {
  return {Code::invalid_argument, cat("session ", short_id(id), " is not in the trash")};
}

Error read_only(std::string_view name) {
  return {Code::unsupported, cat(name, " is open for reading only")};
}

Result<> check_new_session(const Session& session) {
  if (session.info.state == SessionState::trashed) {
    return fail(Code::invalid_argument,
                cat("session ", short_id(session.info.id), " cannot be created in the trash"));
  }
  return {};
}

Result<> check_unshared(const SessionId& id, const std::vector<std::string>& sharing) {
  if (sharing.empty()) {
    return {};
  }
  std::vector<SessionId> ids = {id};
  for (const std::string& text : sharing) {
    REPRISE_ASSIGN(auto other, SessionId::parse(text));
    ids.push_back(std::move(other));
  }
  std::vector<std::string> names = short_ids(ids);
  const std::string name = names.front();
  names.erase(names.begin());
  return fail(Code::conflict, cat("session ", name, " shares its messages with ", joined(names),
                                  ": purge those first"));
}

Result<> check_fork(const SessionId& parent, Seq head, Seq at) {
  if (at.value >= 0 && at <= head) {
    return {};
  }
  return fail(Code::invalid_argument, cat("cannot fork session ", short_id(parent), " at ",
                                          at.value, ": it has ", head.value, " messages"));
}

Result<> apply_patch(Session& session, const SessionPatch& patch) {
  if (patch.state) {
    REPRISE_TRY(check_new_state(session, *patch.state));
  }
  replace(session.info, model::kInfoFields, patch);
  replace(session, model::kSessionFields, patch);
  return {};
}

Result<bool> check_archive(const SessionInfo& info) {
  REPRISE_TRY(check_not_trashed(info));
  if (info.answering && state_of(*info.answering) != OwnerState::gone) {
    return fail(Code::busy, cat("session ", short_id(info.id), " has a running answer"));
  }
  return info.state != SessionState::archived;
}

Result<SessionState> state_unarchived(const SessionInfo& info) {
  if (info.state != SessionState::archived) {
    return fail(Code::invalid_argument, cat("session ", short_id(info.id), " is not archived"));
  }
  return info.closed_at ? SessionState::closed : SessionState::active;
}

Result<> check_artefact(Step step, std::string_view name) {
  if (step.value < 0) {
    return fail(Code::invalid_argument, cat("no step ", step.value, ": steps begin at 0"));
  }
  if (!is_artefact_name(name)) {
    return fail(Code::invalid_argument,
                "not an artefact's name: use a relative path without . and .. in it");
  }
  return {};
}

std::vector<BlobHash> blobs_in(const std::vector<Block>& blocks) {
  std::vector<BlobHash> hashes;
  const auto collect = [&hashes](const auto& block) {
    if constexpr (requires { block.blob; }) {
      if (block.blob) {
        hashes.push_back(*block.blob);
      }
    }
  };
  for (const Block& block : blocks) {
    std::visit(collect, block);
  }
  return hashes;
}

std::string head_out_of_range(Seq head) {
  return cat("the head ", head.value, " is out of range");
}

std::string position_out_of_range(Seq seq) {
  return cat("the position ", seq.value, " is out of range");
}

Span clamp(const ReadRange& range, Seq head) {
  const std::int64_t end = std::clamp<std::int64_t>(head.value, 0, kSeqMax.value);
  const std::int64_t from = std::clamp<std::int64_t>(range.from.value, 0, end);
  return {from, std::clamp(range.to.value, from, end)};
}

}  // namespace reprise::store
