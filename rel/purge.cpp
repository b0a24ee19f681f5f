#include "additions.h"
#include "base/file.h"
#include "base/text.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 20;
constexpr int kWriter = 1;

std::string large(int round) {
  return cat("result ", round, std::string(100'000, 'x'));
}

Message naming(bool words, const std::optional<BlobHash>& blob, int second) {
  Message message = message_of(words, "user", "see", second);
  if (blob) {
    message.blocks.emplace_back(ImageBlock{"image/png", blob, "", {}});
  }
  return message;
}

Result<std::optional<BlobHash>> put(Store& store, int round) {
  if (store.capabilities().blobs == nullptr) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(BlobHash hash, store.capabilities().blobs->put_blob(large(round)));
  return hash;
}

// In another process: creates and purges a session with much text and references to the writer's
// blobs.
Result<> make_and_purge(const Kind& kind, const fs::path& location, int round) {
  REPRISE_ASSIGN(const auto store, kind.open(location, {}));
  const bool words = store->capabilities().messages;
  REPRISE_ASSIGN(const auto blob, put(*store, round % 2 == 0 ? round : round + kRounds));
  Session session = empty_session(kPurged);
  session.info.title = kPurgedWord;
  REPRISE_TRY(store->create(session));
  REPRISE_TRY(store->append(
      session.info.id,
      {naming(words, blob, 1), message_of(words, "user", std::string(kPurgedWord), 2)}, {}));
  return store->capabilities().trash->purge(session.info.id);
}

Result<> write_and_purge(const Kind& kind, const fs::path& location) {
  REPRISE_ASSIGN(const auto store, kind.open(location, {}));
  const Capabilities& holds = store->capabilities();
  const bool has_writer = holds.many_sessions;
  if (has_writer) {
    REPRISE_TRY(store->create(empty_session(kWriter)));
  }
  for (int round = 0; round < kRounds; ++round) {
    REPRISE_ASSIGN(const auto blob, put(*store, round));
    const Ended other = in_process([&](const Print& /*print*/) {
      const auto done = make_and_purge(kind, location, round);
      return done ? std::string() : done.error().message;
    });
    if (!other.output.empty() || !other.fault.empty()) {
      return fail(Code::io, cat("another process: ", other.output, other.fault));
    }
    if (has_writer) {
      REPRISE_TRY(store->append(session(kWriter), {naming(holds.messages, blob, round)}, {}));
    }
  }
  REPRISE_ASSIGN(const VerifyReport report, store->capabilities().verifier->verify());
  if (!report.damage.empty()) {
    return fail(Code::corrupt,
                cat(report.damage.front().where, ": ", report.damage.front().reason));
  }
  return {};
}

}  // namespace

std::string files_with_words(const fs::path& location) {
  std::string found;
  for (const auto& entry : fs::recursive_directory_iterator(location)) {
    const auto bytes = entry.is_regular_file() ? read_file(entry.path()) : Result<std::string>("");
    if (!bytes || bytes->find(kPurgedWord) != std::string::npos) {
      found += cat(" ", entry.path().filename().native());
    }
  }
  return found.empty() ? "" : cat("purged words stand in", found);
}

Tally purge_concurrently(const Kind& kind) {
  Tally tally;
  const WorkFolder work;
  const fs::path location = work.path() / "now";
  fs::create_directories(location);
  const auto done = write_and_purge(kind, location);
  tally.add(cat(kind.name, " written and purged at once"), done ? "" : done.error().message);
  tally.add(cat(kind.name, " after purges"), files_with_words(location));
  return tally;
}

}  // namespace reprise::rel
