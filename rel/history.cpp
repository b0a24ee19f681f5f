#include "history.h"

#include <algorithm>
#include <stdexcept>

#include "additions.h"
#include "base/text.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

// The only damage that a fault may leave: an unacknowledged line that was being written, and a
// folder that was being removed, until a session is created, moved or removed.
constexpr std::string_view kCut = "the end was cut off in writing";
constexpr std::string_view kPartlyRemoved =
    "partly removed: creating, moving or removing a session removes the rest";

std::string where_they_differ(const std::string& is, const std::string& should) {
  const auto at = std::ranges::mismatch(is, should).in1 - is.begin();
  const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at - 60));
  return cat("at byte ", at, ": \"…", is.substr(from, 120), "…\" instead of \"…",
             should.substr(std::min(from, should.size()), 120), "…\"");
}

bool is_whole(const std::string& damage) {
  for (std::size_t from = 0; from < damage.size();) {
    const std::size_t end = damage.find('\n', from);
    if (!std::string_view(damage).substr(from, end - from).ends_with(kCut)) {
      return false;
    }
    from = end + 1;
  }
  return true;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', '|');
  return text;
}

std::string compare(const Snapshot& snapshot, std::span<const Snapshot> allowed,
                    Leniency leniency) {
  const auto same = [&](const Snapshot& other) {
    return snapshot.lasting == other.lasting &&
           (leniency.ignores_running || snapshot.running == other.running);
  };
  if (std::ranges::none_of(allowed, same)) {
    const Snapshot& last = allowed.back();
    return one_line(cat("shows ", where_they_differ(snapshot.lasting + snapshot.running,
                                                    last.lasting + last.running)));
  }
  const bool is_damaged = !leniency.allows_damage && !is_whole(snapshot.damage);
  return is_damaged ? one_line(cat("is damaged: ", snapshot.damage)) : "";
}

// The next process that opens the store must see the message.
std::string examine_added(const Kind& kind, const fs::path& location) {
  const auto store = kind.open(location, {});
  const auto snapshot =
      store ? take_snapshot(**store) : Result<Snapshot>(std::unexpected(store.error()));
  if (!snapshot) {
    return cat("cannot be read after one more message: ", snapshot.error().message);
  }
  return has_test_message(*snapshot) ? "" : "loses the message it took";
}

// The first damage that is not allowed, by its reason.
std::string verify_all(Store& store, const std::function<bool(std::string_view)>& allows) {
  if (store.capabilities().repair == nullptr) {
    return "";
  }
  const auto report = store.capabilities().repair->verify();
  if (!report) {
    return cat("cannot be verified: ", report.error().message);
  }
  for (const Damage& damage : report->damage) {
    if (!allows(damage.reason)) {
      return one_line(cat("is damaged: ", damage.where, ": ", damage.reason));
    }
  }
  return "";
}

// Deleted sessions must not reappear, and nothing is left of them.
std::string examine_purged(const Kind& kind, const fs::path& location) {
  const auto store = kind.open(location, {});
  const auto purged = store ? purge_all(**store) : Result<>(std::unexpected(store.error()));
  const auto snapshot =
      purged ? take_snapshot(**store) : Result<Snapshot>(std::unexpected(purged.error()));
  if (!snapshot) {
    return cat("cannot be purged: ", snapshot.error().message);
  }
  const bool is_gone = (*store)->capabilities().trash == nullptr || !has_session(*snapshot);
  if (!is_gone) {
    return one_line(cat("shows after a purge: ", snapshot->lasting.substr(0, 200)));
  }
  return verify_all(**store, [](std::string_view reason) { return reason == kCut; });
}

}  // namespace

History::History(const Kind& kind, const fs::path& work)
    : kind_(kind), work_(work), location_(work / "now") {
  fs::create_directories(location_);
  const auto opened = kind.open(location_, {});
  if (!opened) {
    throw std::runtime_error(opened.error().message);
  }
  steps_ = life(**opened);
  save(0);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Ended ended = in_process([&](const Print& /*print*/) {
      const auto store = kind.open(location_, {});
      const auto done = store ? steps_[i].run(**store) : Result<>(std::unexpected(store.error()));
      return done ? std::string() : done.error().message;
    });
    if (!ended.output.empty() || !ended.fault.empty() || ended.killed) {
      throw std::runtime_error(
          cat(kind.name, ": ", steps_[i].name, ": ", ended.output, ended.fault));
    }
    save(i + 1);
  }
}

fs::path History::saved_copy(std::size_t steps) const {
  return work_ / cat("after", steps);
}

void History::restore(std::size_t steps) const {
  copy_folder(saved_copy(steps), location_);
}

void History::save(std::size_t steps) {
  copy_folder(location_, saved_copy(steps));
  const auto store = kind_.open(location_, {});
  const auto snapshot =
      store ? take_snapshot(**store) : Result<Snapshot>(std::unexpected(store.error()));
  if (!snapshot || !snapshot->damage.empty()) {
    throw std::runtime_error(snapshot ? snapshot->damage : snapshot.error().message);
  }
  snapshots_.push_back(*snapshot);
}

std::string examine(const Kind& kind, const fs::path& location, std::span<const Snapshot> allowed,
                    Leniency leniency) {
  // A reader must see the same as a writer, and change nothing.
  if (const auto reader = kind.open(location, {.access = Access::read}); reader) {
    const auto snapshot = take_snapshot(**reader);
    std::string fault = snapshot ? "" : snapshot.error().message;
    if (snapshot && !leniency.allows_damage) {  // else part of the last append may be visible
      fault = compare(*snapshot, allowed, leniency);
    }
    if (!fault.empty()) {
      return cat("for readers ", fault);
    }
  } else if (reader.error().code != Code::not_found) {
    return cat("cannot be opened for reading: ", reader.error().message);
  }
  const auto store = kind.open(location, {});
  if (!store) {
    return cat("cannot be opened: ", store.error().message);
  }
  const auto snapshot = take_snapshot(**store);
  if (!snapshot) {
    return cat("cannot be read: ", snapshot.error().message);
  }
  if (std::string fault = compare(*snapshot, allowed, leniency); !fault.empty()) {
    return fault;
  }
  if (!has_session(*snapshot)) {
    return "";  // no session yet that accepts a message
  }
  if (const auto added = append_test_message(**store); !added) {
    return cat("takes no message: ", added.error().message);
  }
  if (std::string fault = examine_added(kind, location); !fault.empty()) {
    return fault;
  }
  const auto allows = [&leniency](std::string_view reason) {
    return leniency.allows_damage || reason == kCut || reason == kPartlyRemoved;
  };
  if (std::string fault = verify_all(**store, allows); !fault.empty()) {
    return fault;
  }
  return leniency.allows_damage ? "" : examine_purged(kind, location);
}

}  // namespace reprise::rel
