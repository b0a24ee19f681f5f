#include "store/postgres/running_answers.h"

#include "base/text.h"
#include "store/postgres/sessions.h"

namespace reprise::postgres {
namespace {

// A server syncs asynchronous commits after 3 x wal_writer_delay, at most 30 seconds.
constexpr std::chrono::seconds kUnsyncedMax{30};
constexpr std::size_t kBytesMax = std::size_t{4} << 20;  // per answer
// Answers ended by another process are not reported, so they expire.
constexpr std::chrono::minutes kUnusedMax{10};

std::size_t bytes_in(const Piece& piece) {
  std::size_t bytes = 0;
  for (const std::string& body : piece.bodies) {
    bytes += body.size();
  }
  return bytes;
}

// Ids contain no slash.
std::string name_of(const Key& key, std::string_view answer) {
  return cat(key.tenant, "/", key.id.str(), "/", answer);
}

}  // namespace

RunningAnswers::Answer& RunningAnswers::answer_of(const Key& key, std::string_view answer) {
  std::string name = name_of(key, answer);
  const auto now = Clock::now();
  auto at = answers_.find(name);
  if (at == answers_.end()) {
    std::erase_if(answers_, [now](const auto& one) { return now - one.second.used > kUnusedMax; });
    at = answers_.emplace(std::move(name), Answer{}).first;
  }
  at->second.used = now;
  return at->second;
}

std::int64_t RunningAnswers::last(const Key& key, std::string_view answer) {
  const std::lock_guard lock(mutex_);
  return answer_of(key, answer).last;
}

void RunningAnswers::add(const Key& key, std::string_view answer, Piece piece) {
  const std::lock_guard lock(mutex_);
  Answer& one = answer_of(key, answer);
  one.last = std::max(one.last, piece.n);
  one.bytes += bytes_in(piece);
  const auto now = Clock::now();
  one.pieces.push_back({std::move(piece), now});
  while (one.bytes > kBytesMax || now - one.pieces.front().at > kUnsyncedMax) {
    one.bytes -= bytes_in(one.pieces.front().piece);
    one.pieces.pop_front();
  }
}

std::vector<Piece> RunningAnswers::between(const Key& key, std::string_view answer,
                                           std::int64_t after, std::int64_t before) {
  const std::lock_guard lock(mutex_);
  std::vector<Piece> found;
  for (const Stored& stored : answer_of(key, answer).pieces) {
    if (stored.piece.n > after && stored.piece.n < before) {
      found.push_back(stored.piece);
    }
  }
  return found;
}

std::optional<std::string> RunningAnswers::start(const Key& key, std::string_view answer) {
  const std::lock_guard lock(mutex_);
  return answer_of(key, answer).start;
}

void RunningAnswers::set_start(const Key& key, std::string_view answer, std::string start) {
  const std::lock_guard lock(mutex_);
  answer_of(key, answer).start = std::move(start);
}

void RunningAnswers::forget(const Key& key, std::string_view answer) {
  const std::lock_guard lock(mutex_);
  answers_.erase(name_of(key, answer));
}

}  // namespace reprise::postgres
