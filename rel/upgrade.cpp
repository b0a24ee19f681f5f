#include <algorithm>
#include <charconv>

#include "additions.h"
#include "base/file.h"
#include "base/text.h"
#include "calls.h"
#include "engine/copy.h"
#include "golden_store.h"
#include "history.h"
#include "life.h"
#include "reprise/open_store.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

std::string in_text(const Result<Snapshot>& snapshot) {
  return snapshot ? cat(snapshot->lasting, snapshot->running, snapshot->damage)
                  : cat(snapshot.error().message, "\n");
}

// Removes what depends on path and time: the id of a session without one is derived from its path,
// and the creation time of a chat from its folder.
std::string without_place(std::string text, const Kind& kind) {
  constexpr std::string_view kCreated = " created ";
  constexpr std::size_t kIdBytes = 36;
  if (kind.name == "context" && text.size() > kIdBytes && text[14] == '8') {
    text.replace(0, kIdBytes, "<ID>");
  }
  for (auto at = text.find(kCreated); kind.name == "chatdir" && at != std::string::npos;
       at = text.find(kCreated, at + 1)) {
    const auto begin = at + kCreated.size();
    text.replace(begin, text.find(' ', begin) - begin, "<TIME>");
  }
  return text;
}

std::string opened_state(const Kind& kind, const fs::path& location, Access access) {
  const auto store = kind.open(location, {.access = access});
  return without_place(
      in_text(store ? take_snapshot(**store) : Result<Snapshot>(std::unexpected(store.error()))),
      kind);
}

// The names and bytes of all files.
std::string bytes_below(const fs::path& location) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(location)) {
    if (entry.is_regular_file()) {
      files.push_back(cat(entry.path().native(), "\n", read_file(entry.path()).value_or("?")));
    }
  }
  std::ranges::sort(files);
  std::string out;
  for (const std::string& file : files) {
    out += file;
  }
  return out;
}

std::string difference(std::string_view is, std::string_view should) {
  if (is == should) {
    return "";
  }
  const auto at = std::ranges::mismatch(is, should).in1 - is.begin();
  const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at - 40));
  return cat("shows \"…", is.substr(std::min(from, is.size()), 100), "…\" instead of \"…",
             should.substr(std::min(from, should.size()), 100), "…\"");
}

// Adds a turn to every session that accepts one, with its own operation id; idempotent.
Result<> add_turns(const Kind& kind, const fs::path& location) {
  REPRISE_ASSIGN(const auto store, kind.open(location, {}));
  REPRISE_ASSIGN(const SessionPage page, store->list({}));
  for (const SessionInfo& info : page.sessions) {
    REPRISE_TRY(add_turn(*store, info.id));
  }
  return {};
}

// Runs `work` in a separate process that is killed at this change; 0 for no kill. True if it
// completed.
bool do_and_die(const fs::path& location, std::int64_t at, const std::function<Result<>()>& work,
                std::string& fault) {
  const Ended ended = in_process([&](const Print& print) -> std::string {
    watch(location.native(), {.what = at == 0 ? Trap::What::nothing : Trap::What::kill, .at = at});
    const auto done = work();
    print(done ? "done" : done.error().message);
    return "";
  });
  if (!ended.killed && ended.output != "done") {
    fault = ended.output + ended.fault;
  }
  return ended.output == "done";
}

std::int64_t count_changes(const fs::path& location, const std::function<Result<>()>& work) {
  const Ended ended = in_process([&](const Print& /*print*/) {
    watch(location.native());
    const auto done = work();
    return done ? std::to_string(call_counts().changes) : std::string("0");
  });
  std::int64_t out = 0;
  std::from_chars(ended.output.data(), ended.output.data() + ended.output.size(), out);
  return out;
}

void upgrade_store(const Kind& kind, const GoldenStore& golden, const fs::path& location,
                   Tally& tally) {
  golden.install(location);
  if (golden.expected().empty()) {
    golden.save(opened_state(kind, location, Access::read));
  }
  const std::string before = bytes_below(location);
  tally.add(cat(golden.name(), ", read"),
            difference(opened_state(kind, location, Access::read), golden.expected()));
  tally.add(cat(golden.name(), ", files"),
            bytes_below(location) == before ? "" : "reading has changed a file");
  tally.add(cat(golden.name(), ", taken over"),
            difference(opened_state(kind, location, Access::write), golden.expected()));
  golden.install(location);
  const auto work = [&] { return add_turns(kind, location); };
  const std::int64_t changes = count_changes(location, work);
  const std::string after = opened_state(kind, location, Access::read);
  tally.add(cat(golden.name(), ", gone on with"),
            changes > 0 && after.size() > golden.expected().size() ? "" : cat("shows ", after));
  for (std::int64_t at = 1; at <= changes; ++at) {
    golden.install(location);
    std::string fault;
    const bool done = do_and_die(location, at, work, fault);
    if (fault.empty() && done) {
      fault = difference(opened_state(kind, location, Access::read), after);
    }
    if (fault.empty()) {
      std::string again;
      do_and_die(location, 0, work, again);
      fault = again + difference(opened_state(kind, location, Access::read), after);
    }
    tally.add(cat(golden.name(), ", killed at change ", at, " of ", changes), fault);
  }
}

// Copies every session like `reprise copy`.
Result<> copy_all(Store& source, const Kind& kind, const fs::path& location) {
  REPRISE_ASSIGN(const auto target, kind.open(location, {}));
  REPRISE_ASSIGN(const SessionPage page,
                 source.list({.states = {SessionState::active, SessionState::closed,
                                         SessionState::archived}}));
  for (const SessionInfo& info : page.sessions) {
    const auto copied = copy_session(source, *target, info.id);
    // A store with a single conversation accepts only one.
    if (!copied && target->capabilities().many_sessions) {
      return std::unexpected(copied.error());
    }
  }
  return {};
}

}  // namespace

Tally upgrade_stores(const Kind& kind) {
  Tally tally;
  const WorkFolder work;
  for (const GoldenStore& golden : GoldenStore::all(kind)) {
    upgrade_store(kind, golden, work.path() / "now", tally);
  }
  return tally;
}

Tally kill_copies(const Kind& kind, std::int64_t stride) {
  Tally tally;
  const WorkFolder work;
  const Kind& source_kind = kinds().front();
  const History history(source_kind, work.path());
  const fs::path location = work.path() / "copy";
  const auto copy = [&]() -> Result<> {
    REPRISE_ASSIGN(const auto source,
                   source_kind.open(history.location(), {.access = Access::read}));
    return copy_all(*source, kind, location);
  };
  const auto empty = [&] {
    fs::remove_all(location);
    fs::create_directories(location);
  };
  empty();
  const std::int64_t changes = count_changes(location, copy);
  const std::string all = opened_state(kind, location, Access::read);
  for (std::int64_t at = 1; at <= changes; at += stride) {
    empty();
    std::string fault;
    do_and_die(location, at, copy, fault);
    std::string again;
    do_and_die(location, 0, copy, again);
    fault += again;
    tally.add(cat("copy into ", kind.name, ", killed at change ", at, " of ", changes),
              fault + difference(opened_state(kind, location, Access::read), all));
  }
  return tally;
}

}  // namespace reprise::rel
