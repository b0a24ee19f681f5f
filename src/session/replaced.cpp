// What retries, rewinds and other replacements took from a session, and how it comes back.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "reprise/sessions.h"
#include "session/fork.h"

namespace reprise {
namespace {

// A message of any version of the history, without its content.
struct Version {
  std::int64_t seq = 0;
  Time created_at = {};
  bool is_current = false;
};

// The messages that a fork began with.
Result<> read_shared(Source& source, const SessionId& id, const MessageSink& sink) {
  REPRISE_ASSIGN(const Session session, get(source, id));
  if (const auto& origin = session.info.forked_from; origin) {
    const auto read = source.read(origin->session, {.to = origin->at}, sink);
    return read || read.error().code == Code::not_found ? Result<>()
                                                        : std::unexpected(read.error());
  }
  return {};
}

// All versions of a session's history: the replaced ones, those that a fork shared with its origin
// and may have cut off since, and the current one. Of the messages that have been at a position,
// the one that a later message followed is the newest that is not newer.
class Versions {
 public:
  static Result<Versions> read(Source& source, const SessionId& id) {
    ReplacedReader* const reader = source.capabilities().replaced_reader;
    if (reader == nullptr) {
      return fail(Code::unsupported, "this store does not retain replaced messages");
    }
    Versions all;
    const auto add_replaced = [&all](Message&& message) {  // NOLINT(*-param-not-moved)
      all.add(message, false);
      all.texts_.push_back(plain_text(message));
      return Flow::proceed;
    };
    const auto add_current = [&all](Message&& message) {  // NOLINT(*-param-not-moved)
      all.add(message, true);
      return Flow::proceed;
    };
    REPRISE_ASSIGN(ReadReport replaced, reader->read_replaced(id, add_replaced));
    REPRISE_TRY(read_shared(source, id, [&all](Message&& message) {  // NOLINT(*-param-not-moved)
      all.add(message, false);
      return Flow::proceed;
    }));
    REPRISE_ASSIGN(ReadReport current, source.read(id, {}, add_current));
    all.damage_ = std::move(replaced.damage);
    std::ranges::move(current.damage, std::back_inserter(all.damage_));
    return all;
  }

  // The replaced parts, the last replacement first, each with the indexes of its first message and
  // of the one after it.
  std::vector<std::pair<std::size_t, std::size_t>> parts() const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const bool follows = !found.empty() && before(i) == std::optional(i - 1);
      if (follows) {
        ++found.back().second;
      } else {
        found.emplace_back(i, i + 1);
      }
    }
    std::ranges::reverse(found);
    return found;
  }

  // The message before this one when it was added; nullopt for the first one, or if it cannot be
  // read.
  std::optional<std::size_t> before(std::size_t index) const {
    const Version& message = all_[index];
    std::optional<std::size_t> found;
    const auto [begin, end] = by_seq_.equal_range(message.seq - 1);
    for (const auto& [seq, candidate] : std::ranges::subrange(begin, end)) {
      if (!found || is_nearer(candidate, *found, index)) {
        found = candidate;
      }
    }
    return found;
  }

  const Version& at(std::size_t index) const { return all_[index]; }
  const std::string& text(std::size_t index) const { return texts_[index]; }
  std::vector<Damage> take_damage() { return std::move(damage_); }

 private:
  void add(const Message& message, bool is_current) {
    by_seq_.emplace(message.seq.value, all_.size());
    all_.push_back(
        {.seq = message.seq.value, .created_at = message.created_at, .is_current = is_current});
  }

  // Whether `a` is rather the message before this one than `b`: the newer one that is not newer
  // than this or, if both are from the same time, the one that was replaced together with it.
  bool is_nearer(std::size_t a, std::size_t b, std::size_t index) const {
    const Time at = all_[index].created_at;
    const bool a_is_later = all_[a].created_at > at;  // a clock was put back
    const bool b_is_later = all_[b].created_at > at;
    if (a_is_later != b_is_later) {
      return b_is_later;
    }
    if (all_[a].created_at != all_[b].created_at) {
      return (all_[a].created_at > all_[b].created_at) != a_is_later;
    }
    return a + 1 == index || (b + 1 != index && a > b);
  }

  std::vector<Version> all_;
  std::multimap<std::int64_t, std::size_t> by_seq_;
  std::vector<std::string> texts_;  // of the replaced ones
  std::vector<Damage> damage_;
};

// The messages of the session when the part that ends before `end` was replaced: those before
// `shared` are still in it, the others are those versions, in order.
struct History {
  std::int64_t shared = 0;
  std::vector<std::size_t> replaced;
};

Result<History> history_until(const Versions& versions, std::size_t end) {
  History history;
  for (std::optional<std::size_t> at = end - 1; at; at = versions.before(*at)) {
    if (versions.at(*at).is_current) {
      history.shared = versions.at(*at).seq + 1;
      break;
    }
    history.replaced.push_back(*at);
  }
  std::ranges::reverse(history.replaced);
  if (versions.at(history.replaced.front()).seq != history.shared) {
    return fail(Code::corrupt, cat("message ", versions.at(history.replaced.front()).seq - 1,
                                   " of that version cannot be read: run `reprise verify`"));
  }
  return history;
}

Result<std::vector<Message>> read_messages(Store& store, const SessionId& id,
                                           std::vector<std::size_t> indexes) {
  std::ranges::sort(indexes);
  std::vector<Message> messages;
  std::size_t index = 0;
  const auto sink = [&](Message&& message) {
    if (std::ranges::binary_search(indexes, index++)) {
      message.usage.reset();  // counted in the session
      messages.push_back(std::move(message));
    }
    return Flow::proceed;
  };
  REPRISE_TRY(store.capabilities().replaced_reader->read_replaced(id, sink));
  REPRISE_TRY(read_shared(store, id, sink));
  std::ranges::stable_sort(messages, {}, [](const Message& message) { return message.seq.value; });
  if (messages.size() != indexes.size()) {
    return fail(Code::conflict, "the session was changed meanwhile: try again");
  }
  return messages;
}

}  // namespace

Result<ReplacedParts> list_replaced(Source& source, const SessionId& id) {
  REPRISE_ASSIGN(Versions versions, Versions::read(source, id));
  ReplacedParts found;
  for (const auto& [begin, end] : versions.parts()) {
    ReplacedPart part{.from = Seq{versions.at(begin).seq},
                      .messages = static_cast<std::int64_t>(end - begin),
                      .time = versions.at(end - 1).created_at};
    for (std::size_t i = begin; i < end && part.text.empty(); ++i) {
      part.text = versions.text(i);
    }
    found.parts.push_back(std::move(part));
  }
  found.damage = versions.take_damage();
  return found;
}

Result<SessionId> restore_replaced(Store& store, const SessionId& id, std::size_t index,
                                   Clock& clock, Entropy& entropy) {
  REPRISE_ASSIGN(const Versions versions, Versions::read(store, id));
  const auto parts = versions.parts();
  if (index >= parts.size()) {
    return fail(Code::not_found,
                parts.empty()
                    ? cat("nothing was replaced in session ", short_id(id))
                    : cat("session ", short_id(id), " has ",
                          counted(std::ssize(parts), "replaced part"), ", no ", index + 1));
  }
  REPRISE_ASSIGN(History history, history_until(versions, parts[index].second));
  REPRISE_ASSIGN(std::vector<Message> messages,
                 read_messages(store, id, std::move(history.replaced)));
  return fork_session_with(store, {.parent = id, .at = Seq{history.shared}}, std::move(messages),
                           clock, entropy);
}

}  // namespace reprise
