#include "store/rules.h"

#include <algorithm>
#include <utility>

#include "base/encode.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
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
    REPRISE_ASSIGN(auto sharer, SessionId::parse(text));
    ids.push_back(std::move(sharer));
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
  if (patch.updated_at) {
    session.info.updated_at = *patch.updated_at;
    session.info.arrived_at = known_arrival(session.info);
  }
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

Result<> check_append(const AppendState& state, Seq from, std::size_t messages,
                      const AppendOptions& options) {
  const std::string id = short_id(state.id);
  if (!is_valid_head(state.head)) {
    return fail(Code::corrupt, cat("session ", id, ": ", head_out_of_range(state.head),
                                   ": run `reprise verify --repair`"));
  }
  if (options.expected_head && *options.expected_head != state.head) {
    return fail(Code::conflict, cat("session ", id, " has ", state.head.value, " messages, not ",
                                    options.expected_head->value, ": read it again"));
  }
  if (from.value < 0 || from > state.head) {
    return fail(Code::invalid_argument, cat("session ", id, " has no position ", from.value,
                                            ": it has ", state.head.value, " messages"));
  }
  if (std::cmp_greater(messages, kSeqMax.value - from.value)) {
    return fail(Code::unsupported,
                cat("session ", id, " has ", from.value, " messages, the limit is ", kSeqMax.value,
                    ": continue in a new session"));
  }
  if (options.end_partial && state.answer != options.end_partial->str()) {
    return std::unexpected(answer_not_running(state.id, *options.end_partial));
  }
  if (options.begin_partial && state.answer && !options.end_partial) {
    return fail(Code::busy, cat("session ", id, " is already being answered"));
  }
  return {};
}

AppendResult appended_at(Seq first, std::size_t messages) {
  return {first, first.next(static_cast<std::int64_t>(messages)), false};
}

std::string once_name(const OperationId& operation) {
  return cat("operation:", operation.str());
}

std::string once_name_of_request(std::string_view request_id) {
  return cat("request:", request_id);
}

Remnant unreferenced_blobs(std::string where, std::int64_t count) {
  return {std::move(where), cat(count,
                                count == 1 ? " attachment or large result is removed"
                                           : " attachments or large results are removed",
                                " by the first purge a day after being stored")};
}

Result<> read_blob(const BlobHash& hash, const FindPiece& find,
                   const std::function<Flow(std::string_view)>& sink) {
  std::string bytes;  // for the hash check; the pieces are passed on as they are read
  for (std::int64_t number = 0;; ++number) {
    REPRISE_ASSIGN(const auto piece, find(number));
    if (!piece) {
      if (number == 0) {
        return fail(Code::not_found, cat("no blob ", hash.str()));
      }
      break;
    }
    if (sink(*piece) == Flow::stop) {
      return {};
    }
    bytes += *piece;
  }
  REPRISE_ASSIGN(const BlobHash found, sha256(bytes));
  if (found != hash) {
    return fail(Code::corrupt, cat("blob ", hash.str(), " does not match its hash"));
  }
  return {};
}

}  // namespace reprise::store
