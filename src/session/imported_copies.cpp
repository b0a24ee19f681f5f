#include "session/imported_copies.h"

#include <algorithm>
#include <span>

#include "base/encode.h"
#include "base/text.h"
#include "engine/content.h"
#include "engine/copied_id.h"
#include "engine/copy_reduce.h"
#include "engine/origin.h"
#include "reprise/capabilities.h"
#include "reprise/sessions.h"
#include "session/import.h"

namespace reprise::imports {
namespace {

constexpr std::int64_t kComparedAtOnce = 64;

// All messages of the range, or an error: one that cannot be read is not a different one.
Result<std::vector<Message>> read_whole(Source& store, const SessionId& id, ReadRange range) {
  std::vector<Message> messages;
  REPRISE_ASSIGN(const ReadReport report, store.read(id, range, [&](Message&& message) {
    messages.push_back(std::move(message));
    return Flow::proceed;
  }));
  if (std::ssize(messages) == range.to.value - range.from.value) {
    return messages;
  }
  return report.damage.empty()
             ? fail(Code::conflict, cat("session ", short_id(id), " has changed in the meantime"))
             : fail(Code::corrupt, cat("session ", short_id(id), " cannot be compared: ",
                                       report.damage[0].where, ": ", report.damage[0].reason));
}

// Whether the session is a copy of the tool's messages at the place of the difference, or has none
// there yet.
Result<bool> may_continue(Source& store, const Session& present, const Difference& difference) {
  if (present.info.head <= difference.at) {
    return true;
  }
  REPRISE_ASSIGN(
      const std::vector<Message> stored,
      read_whole(store, present.info.id, {.from = difference.at, .to = difference.at.next()}));
  return has_same_content(stored.front(), difference.message) ||
         has_grown(stored.front(), difference.message);
}

class ForkChoice {
 public:
  ForkChoice(const ForeignSession& foreign, const Difference& difference,
             std::span<const SessionId> tried)
      : foreign_(foreign), difference_(difference), tried_(tried) {}

  // The fork that the last import noted. It may be one of a fork at this place.
  Result<bool> take_noted(std::string_view noted) {
    const auto id = SessionId::parse(noted);
    if (!id || was_tried(*id)) {
      return false;
    }
    REPRISE_ASSIGN(const std::optional<Session> present, foreign_.store.find(*id));
    const ForkOrigin here{difference_.copy, difference_.at};
    const bool may_be_here =
        present && (present->info.head > difference_.at || present->info.forked_from == here);
    return may_be_here ? take(*id, present) : Result<bool>(false);
  }

  enum class IfMissing : std::uint8_t { skip, take };
  Result<bool> take_named(std::string_view name, IfMissing if_missing) {
    REPRISE_ASSIGN(const SessionId id,
                   id_in(foreign_.store, foreign_.tool,
                         cat(foreign_.id.str(), " from ", difference_.at.value, " ", name)));
    if (was_tried(id)) {
      return false;
    }
    REPRISE_ASSIGN(const std::optional<Session> present, foreign_.store.find(id));
    if (!present && if_missing == IfMissing::skip) {
      return false;
    }
    return take(id, present);
  }

  const std::optional<ChosenFork>& chosen() const { return chosen_; }

 private:
  bool was_tried(const SessionId& id) const {
    return std::ranges::find(tried_, id) != tried_.end();
  }

  Result<bool> take(const SessionId& id, const std::optional<Session>& present) {
    REPRISE_ASSIGN(const bool is_it, present ? may_continue(foreign_.store, *present, difference_)
                                             : Result<bool>(true));
    if (is_it) {
      chosen_ = ChosenFork{id, present};
    }
    return is_it;
  }

  const ForeignSession& foreign_;
  const Difference& difference_;
  std::span<const SessionId> tried_;
  std::optional<ChosenFork> chosen_;
};

}  // namespace

bool is_branch(const SessionInfo& info) {
  return info.forked_from && info.id.str().starts_with(cat(info.forked_from->session.str(), ":"));
}

bool is_seen(const Session& present, const SessionInfo& info) {
  const auto origin = origin_of(present);
  if (!origin || !info.revision.empty()) {
    return origin && origin->revision == info.revision;
  }
  return origin->seen_at != Time{} && origin->seen_at == info.updated_at;
}

Result<SessionId> id_in(Source& target, std::string_view tool, std::string_view id) {
  const UuidVersion new_ids = target.capabilities().new_ids;
  if (new_ids == UuidVersion::v4) {
    REPRISE_ASSIGN(SessionId before, imported_id(tool, id));
    REPRISE_ASSIGN(const std::optional<Session> present, target.find(before));
    if (present) {
      return before;
    }
  }
  return imported_id(tool, id, new_ids);
}

Result<std::optional<ChosenFork>> choose_fork(const ForeignSession& foreign,
                                              const Difference& difference,
                                              std::span<const SessionId> tried,
                                              std::string_view noted) {
  ForkChoice choice(foreign, difference, tried);
  const Message& message = difference.message;
  const std::string content = content_of(message);
  REPRISE_ASSIGN(bool is_chosen, choice.take_noted(noted));
  if (!is_chosen) {
    REPRISE_ASSIGN(is_chosen, choice.take_named(content, ForkChoice::IfMissing::skip));
  }
  if (!is_chosen) {  // as named by earlier versions
    REPRISE_ASSIGN(is_chosen,
                   choice.take_named(older_content_of(message), ForkChoice::IfMissing::skip));
  }
  if (!is_chosen) {
    const std::uint64_t hash = fnv1a(cat(message.role, format_time(message.created_at)));
    REPRISE_ASSIGN(is_chosen, choice.take_named(cat(hash), ForkChoice::IfMissing::skip));
  }
  // One that was rewound or continued here is left as it is.
  for (int number = 1; !is_chosen && number <= kForksMax; ++number) {
    REPRISE_ASSIGN(is_chosen, choice.take_named(number == 1 ? content : cat(content, " #", number),
                                                ForkChoice::IfMissing::take));
  }
  return choice.chosen();
}

Result<std::optional<Session>> find_untrashed(Source& store, SessionId& id) {
  REPRISE_ASSIGN(std::optional<Session> copy, store.find(id));
  std::optional<Session> found = copy;
  for (int forks = 0; found && found->info.state == SessionState::trashed; ++forks) {
    const std::string fork = origin_of(*found).value_or(Origin{}).fork;
    if (fork.empty() || forks == kForksMax) {
      return copy;
    }
    REPRISE_ASSIGN(const SessionId fork_id, SessionId::parse(fork));
    REPRISE_ASSIGN(found, store.find(fork_id));
  }
  if (!found) {
    return copy;
  }
  id = found->info.id;
  return found;
}

Result<Seq> count_equal(Source& store, const SessionInfo& present, Source& source,
                        const SessionId& foreign) {
  Seq equal_count;
  bool differs = false;
  while (!differs && equal_count < present.head) {
    const ReadRange range{.from = equal_count,
                          .to = std::min(present.head, equal_count.next(kComparedAtOnce))};
    REPRISE_ASSIGN(const std::vector<Message> ours, read_whole(store, present.id, range));
    REPRISE_ASSIGN(std::vector<Message> theirs, read_all(source, foreign, range));
    for (Message& message : theirs) {
      message = engine::reduced(std::move(message), store.capabilities());
    }
    const auto end = std::ranges::mismatch(ours, theirs, has_same_content).in1 - ours.begin();
    differs = end < range.to.value - range.from.value;
    equal_count = equal_count.next(end);
  }
  return equal_count;
}

Result<std::vector<std::uint64_t>> hash_texts(Source& source, const SessionId& id) {
  std::vector<std::uint64_t> hashes;
  REPRISE_TRY(source.read(id, {}, [&](const Message& message) {
    const bool is_spoken = message.role == role::kUser || message.role == role::kAssistant;
    if (const std::string text = plain_text(message);
        is_spoken && !is_injected(message) && !trimmed(text).empty()) {
      hashes.push_back(fnv1a(cat(message.role, " ", trimmed(text))));
    }
    return Flow::proceed;
  }));
  return hashes;
}

}  // namespace reprise::imports

namespace reprise {

Result<SessionId> imported_id(std::string_view tool, std::string_view id, UuidVersion new_ids) {
  REPRISE_ASSIGN(const BlobHash hash, sha256(cat("reprise import ", tool, ":", id)));
  std::string uuid = hash.str().substr(0, 32);
  uuid[12] = '8';
  uuid[16] = "89ab"[static_cast<unsigned char>(uuid[16]) % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    uuid.insert(at, "-");
  }
  REPRISE_ASSIGN(SessionId imported, SessionId::parse(uuid));
  return new_ids == UuidVersion::v4 ? version_4_id(imported) : imported;
}

Result<> ImportedMessages::list(SessionQuery query) {
  query.states = {SessionState::active, SessionState::closed, SessionState::archived};
  REPRISE_ASSIGN(FoundSessions found, find_all_sessions(source_, std::move(query)));
  for (SessionInfo& info : found.sessions) {
    std::string key = info.id.str();
    listed_.emplace(std::move(key), std::move(info));
  }
  return {};
}

Result<const SessionInfo*> ImportedMessages::find_listed(const SessionId& id) {
  if (!is_listed_) {
    REPRISE_TRY(list({.children = true}));
    is_listed_ = true;
  }
  // Branches are found by reading their session.
  if (!listed_.contains(id.str()) && id.str().contains(':')) {
    REPRISE_TRY(list({.id_prefix = id.str(), .branches = true, .children = true}));
  }
  const auto info = listed_.find(id.str());
  return info == listed_.end() ? nullptr : &info->second;
}

// The tool's message at this position, as the store holds it.
Result<std::optional<Message>> ImportedMessages::message_at(const SessionId& id, Seq at) {
  REPRISE_ASSIGN(std::vector<Message> messages,
                 read_all(source_, id, {.from = at, .to = at.next()}));
  if (messages.empty()) {
    return std::nullopt;
  }
  return engine::reduced(std::move(messages.front()), store_.capabilities());
}

Result<Seq> ImportedMessages::count(const SessionId& id) {
  REPRISE_ASSIGN(SessionId imported, imports::id_in(store_, tool_, id.str()));
  Seq count;
  std::string noted;
  std::vector<SessionId> tried;
  while (std::ssize(tried) <= imports::kForksMax) {
    REPRISE_ASSIGN(const std::optional<Session> present, imports::find_untrashed(store_, imported));
    if (!present || present->info.state == SessionState::trashed) {
      break;
    }
    const std::optional<Origin> origin = origin_of(*present);
    if (origin && has_unchanged_messages(*present, *origin)) {
      REPRISE_ASSIGN(const SessionInfo* const info, find_listed(id));
      if (info != nullptr && imports::is_seen(*present, *info)) {
        return present->info.head;
      }
    }
    const auto equal_count = imports::count_equal(store_, present->info, source_, id);
    if (!equal_count && equal_count.error().code == Code::corrupt) {
      break;  // it may not have the others
    }
    REPRISE_TRY(equal_count);
    noted = tried.empty() && origin ? origin->fork : noted;
    tried.push_back(imported);
    count = std::max(count, *equal_count);
    REPRISE_ASSIGN(auto next, message_at(id, *equal_count));
    if (!next) {
      break;
    }
    REPRISE_ASSIGN(const auto fork,
                   imports::choose_fork({store_, tool_, id},
                                        {imported, *equal_count, *std::move(next)}, tried, noted));
    if (!fork || !fork->present) {
      break;
    }
    imported = fork->id;
  }
  return count;
}

}  // namespace reprise
