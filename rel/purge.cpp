#include "purge.h"

#include <algorithm>
#include <cstdint>

#include "base/file.h"
#include "base/text.h"
#include "calls.h"
#include "life.h"
#include "life_parts.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "small_disk.h"
#include "tally.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 20;
constexpr int kWriter = 1;
constexpr int kPurged = 2;
constexpr std::string_view kWord = "unforgettable";

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
Result<> make_and_purge(const Kind& kind, const fs::path& place, int round) {
  REPRISE_ASSIGN(const auto store, kind.open(place, {}));
  const bool words = store->capabilities().messages;
  REPRISE_ASSIGN(const auto blob, put(*store, round % 2 == 0 ? round : round + kRounds));
  Session session = empty_session(kPurged);
  session.info.title = kWord;
  REPRISE_TRY(store->create(session));
  REPRISE_TRY(store->append(
      session.info.id, {naming(words, blob, 1), message_of(words, "user", std::string(kWord), 2)},
      {}));
  return store->capabilities().trash->purge(session.info.id);
}

std::string files_with_words(const fs::path& place) {
  std::string found;
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    const auto bytes = entry.is_regular_file() ? read_file(entry.path()) : Result<std::string>("");
    if (!bytes || bytes->find(kWord) != std::string::npos) {
      found += cat(" ", entry.path().filename().native());
    }
  }
  return found.empty() ? "" : cat("purged words stand in", found);
}

Result<> write_and_purge(const Kind& kind, const fs::path& place) {
  REPRISE_ASSIGN(const auto store, kind.open(place, {}));
  const Capabilities& holds = store->capabilities();
  const bool has_writer = holds.many_sessions;
  if (has_writer) {
    REPRISE_TRY(store->create(empty_session(kWriter)));
  }
  for (int round = 0; round < kRounds; ++round) {
    REPRISE_ASSIGN(const auto blob, put(*store, round));
    const Ended other = in_process([&](const Say& /*say*/) {
      const auto done = make_and_purge(kind, place, round);
      return done ? std::string() : done.error().message;
    });
    if (!other.output.empty() || !other.fault.empty()) {
      return fail(Code::io, cat("another process: ", other.output, other.fault));
    }
    if (has_writer) {
      REPRISE_TRY(store->append(session(kWriter), {naming(holds.messages, blob, round)}, {}));
    }
  }
  REPRISE_ASSIGN(const VerifyReport report, store->capabilities().verifying->verify());
  if (!report.damage.empty()) {
    return fail(Code::corrupt,
                cat(report.damage.front().where, ": ", report.damage.front().reason));
  }
  return {};
}

// A session larger than any reserved space; returns its head.
Result<Seq> make_large(const Kind& kind, const fs::path& place) {
  REPRISE_ASSIGN(const auto store, kind.open(place, {}));
  Session session = empty_session(kPurged);
  session.info.title = kWord;
  REPRISE_TRY(store->create(session));
  Seq head;
  for (int i = 0; i < 6; ++i) {
    const std::string text = cat(kWord, i, std::string(i == 1 ? 1'500'000 : 150'000, 'x'));
    REPRISE_ASSIGN(
        const Appended added,
        store->append(session.info.id,
                      {message_of(store->capabilities().messages, "user", text, i)}, {}));
    head = added.head;
  }
  return head;
}

// After a purge that was killed.
Result<std::string> complete_purge(const Kind& kind, const fs::path& place, Seq head) {
  REPRISE_ASSIGN(const auto store, kind.open(place, {}));
  REPRISE_ASSIGN(const auto left, store->find(session(kPurged)));
  REPRISE_ASSIGN(const VerifyReport report, store->capabilities().verifying->verify());
  Trash& trash = *store->capabilities().trash;
  if (left) {
    const bool is_whole = left->info.head == head;
    const bool is_reported = std::ranges::any_of(report.damage, [](const Damage& part) {
      return part.reason.find("partly removed") != std::string::npos;
    });
    if (!is_whole && (!is_reported || trash.restore(session(kPurged)))) {
      return is_reported ? "it was restored in parts" : "a part of it is left, and not reported";
    }
    REPRISE_TRY(trash.purge(session(kPurged)));
  } else {
    (void)trash.purge(session(kPurged));  // removes what is left of it
  }
  REPRISE_ASSIGN(const auto found, store->find(session(kPurged)));
  return found ? "it is still there" : files_with_words(place);
}

}  // namespace

Tally die_while_purging(const Kind& kind) {
  Tally tally;
  for (std::int64_t at = 1;; at += 1 + at / 30) {
    const WorkFolder work;
    const SmallDisk disk("tmpfs", work.path(), {.bytes = std::uintmax_t{16} << 20});
    const fs::path place = disk.path() / "now";
    fs::create_directories(place);
    const auto head = make_large(kind, place);
    if (!head) {
      tally.add(cat(kind.name, " with a large session"), head.error().message);
      return tally;
    }
    fill_bytes(disk.path());
    const Ended purged = in_process([&](const Say& /*say*/) {
      watch(place.native(), {.what = Trap::What::kill, .at = at});
      const auto store = kind.open(place, {});
      const auto done = store ? (*store)->capabilities().trash->purge(session(kPurged))
                              : Result<>(std::unexpected(store.error()));
      return done ? std::string() : done.error().message;
    });
    fs::remove(disk.path() / "filler");
    const Ended completed = in_process([&](const Say& /*say*/) {
      const auto fault = complete_purge(kind, place, *head);
      return fault ? *fault : fault.error().message;
    });
    tally.add(cat(kind.name, ", a purge on a full disk killed at change ", at),
              purged.output + purged.fault + completed.output + completed.fault);
    if (!purged.killed) {
      return tally;
    }
  }
}

Tally purge_beside_others(const Kind& kind) {
  Tally tally;
  const WorkFolder work;
  const fs::path place = work.path() / "now";
  fs::create_directories(place);
  const auto done = write_and_purge(kind, place);
  tally.add(cat(kind.name, " written and purged at once"), done ? "" : done.error().message);
  tally.add(cat(kind.name, " after purges"), files_with_words(place));
  return tally;
}

}  // namespace reprise::rel
