#include "session/imported_copies.h"

#include <algorithm>
#include <span>
#include <variant>

#include "base/encode.h"
#include "base/text.h"
#include "engine/origin.h"
#include "reprise/capabilities.h"
#include "reprise/sessions.h"
#include "session/import.h"

namespace reprise::imports {
namespace {

constexpr std::int64_t kComparedAtOnce = 64;

// Whether an imported message is this one. Its images are stored as blobs.
bool is_copy(const Message& ours, const Message& theirs) {
  return ours.role == theirs.role && ours.created_at == theirs.created_at &&
         std::ranges::equal(ours.blocks, theirs.blocks, [](const Block& our, const Block& their) {
           return our == their || (std::holds_alternative<ImageBlock>(our) &&
                                   std::holds_alternative<ImageBlock>(their));
         });
}

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

Result<SessionId> fork_id_in(Source& target, std::string_view tool, Source& source,
                             const SessionId& foreign, Seq at) {
  std::uint64_t hash = 0;
  REPRISE_TRY(source.read(foreign, {.from = at, .to = at.next()}, [&](const Message& message) {
    hash = fnv1a(cat(message.role, format_time(message.created_at)));
    return Flow::stop;
  }));
  return id_in(target, tool, cat(foreign.str(), " from ", at.value, " ", hash));
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
                        const SessionId& foreign, const MessageComparison& is_equal) {
  Seq equal_count;
  bool differs = false;
  while (!differs && equal_count < present.head) {
    const ReadRange range{.from = equal_count,
                          .to = std::min(present.head, equal_count.next(kComparedAtOnce))};
    REPRISE_ASSIGN(const std::vector<Message> ours, read_all(store, present.id, range));
    REPRISE_ASSIGN(const std::vector<Message> theirs, read_all(source, foreign, range));
    const auto end = std::ranges::mismatch(ours, theirs, is_equal).in1 - ours.begin();
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
namespace {

constexpr std::size_t kUuidBytes = 36;
constexpr std::size_t kVersionAt = 14;
constexpr std::size_t kNodeAt = 24;  // of the last group

// The last group of an imported session's id of version 4, by which it is recognised.
std::string node_of(std::string_view uuid) {
  std::string node;
  for (std::uint64_t hash = fnv1a(cat("reprise import ", uuid.substr(0, kNodeAt)));
       node.size() < kUuidBytes - kNodeAt; hash >>= 4U) {
    node += "0123456789abcdef"[hash & 0xFU];
  }
  return node;
}

}  // namespace

Result<SessionId> imported_id(std::string_view tool, std::string_view id, UuidVersion new_ids) {
  REPRISE_ASSIGN(const BlobHash hash, sha256(cat("reprise import ", tool, ":", id)));
  std::string uuid = hash.str().substr(0, 32);
  uuid[12] = new_ids == UuidVersion::v4 ? '4' : '8';
  uuid[16] = "89ab"[static_cast<unsigned char>(uuid[16]) % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    uuid.insert(at, "-");
  }
  if (new_ids == UuidVersion::v4) {
    uuid.replace(kNodeAt, std::string::npos, node_of(uuid));
  }
  return SessionId::parse(uuid);
}

bool is_imported_id(const SessionId& id) {
  const std::string& text = id.str();
  return text.size() == kUuidBytes &&
         (text[kVersionAt] == '8' ||
          (text[kVersionAt] == '4' && text.substr(kNodeAt) == node_of(text)));
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

Result<Seq> ImportedMessages::count(const SessionId& id) {
  REPRISE_ASSIGN(SessionId imported, imports::id_in(store_, tool_, id.str()));
  Seq count;
  for (int forks = 0; forks <= imports::kForksMax; ++forks) {
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
    REPRISE_ASSIGN(const Seq equal_count,
                   imports::count_equal(store_, present->info, source_, id, imports::is_copy));
    if (forks > 0 && equal_count <= count) {
      break;
    }
    count = equal_count;
    REPRISE_ASSIGN(imported, imports::fork_id_in(store_, tool_, source_, id, count));
  }
  return count;
}

}  // namespace reprise
