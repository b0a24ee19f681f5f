#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <stdexcept>

#include "additions.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/copy.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "small_disk.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

struct Disk {
  std::string name;
  std::string type;
  SmallDisk::Size size;
  std::function<void(const fs::path& folder)> fill;  // creates the filling files in `folder`
  bool limits_files = false;                         // instead, limits the file size
};

// The error message, or "".
template <class T>
std::string reason(std::string_view what, const Result<T>& result) {
  return result ? "" : cat(what, ": ", result.error().message);
}

void fill_files(const fs::path& folder) {
  for (int i = 0;; ++i) {
    const Fd file(
        ::open((folder / cat("filler", i)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (file.get() < 0) {
      return;
    }
  }
}

void limit_files() {
  (void)::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_FSIZE, &none);
}

std::vector<Disk> disks() {
  constexpr std::size_t kBytes = std::size_t{16} << 20;
  return {
      {"tmpfs without room", "tmpfs", {.bytes = kBytes}, fill_bytes},
      {"ext4 without room", "ext4", {.bytes = kBytes}, fill_bytes},
      {"tmpfs without files", "tmpfs", {.bytes = kBytes, .files = 400}, fill_files},
      {"ext4 without files", "ext4", {.bytes = kBytes, .files = 400}, fill_files},
      {"files that may not grow", "tmpfs", {.bytes = kBytes}, [](const fs::path&) {}, true},
  };
}

// Larger than any reserved space; deleting them must work all the same.
Result<> add_large_parts(Store& store) {
  const Capabilities& can = store.capabilities();
  REPRISE_ASSIGN(const SessionPage page, store.list({.limit = 1}));
  if (page.sessions.empty() || !can.messages) {
    return {};
  }
  Message large = message_of(true, "user", std::string(1'500'000, 'x'), 1000);
  if (can.blobs != nullptr) {
    REPRISE_TRY(can.blobs->put_blob(std::string(1'400'000, 'y')));  // of a message never stored
    REPRISE_ASSIGN(const BlobHash image, can.blobs->put_blob(std::string(1'300'000, 'z')));
    large.blocks.emplace_back(ImageBlock{"image/png", image, "", {}});
  }
  REPRISE_TRY(store.append(page.sessions.front().id, {large}, {}));
  return {};
}

// Runs a life.
void live(const Kind& kind, const fs::path& location) {
  fs::create_directories(location);
  const auto store = kind.open(location, {});
  if (!store) {
    throw std::runtime_error(store.error().message);
  }
  for (const LifeStep& step : life(**store)) {
    if (const auto done = step.run(**store); !done) {
      throw std::runtime_error(cat(step.name, ": ", done.error().message));
    }
  }
  if (const auto done = add_large_parts(**store); !done) {
    throw std::runtime_error(cat("large parts: ", done.error().message));
  }
}

Result<std::vector<SessionId>> ids_in(Store& store) {
  std::vector<SessionId> ids;
  REPRISE_ASSIGN(const SessionPage page, store.list({}));
  ids.reserve(page.sessions.size());
  for (const SessionInfo& info : page.sessions) {
    ids.push_back(info.id);
  }
  return ids;
}

// Checks that the store is unchanged, and copies it unless `elsewhere` is empty.
std::string read_and_copy(const Kind& kind, const fs::path& location, const Snapshot& before,
                          const fs::path& elsewhere) {
  const auto store = kind.open(location, {.access = Access::read});
  if (!store) {
    return cat("open: ", store.error().message);
  }
  const auto now = take_snapshot(**store);
  if (!now || *now != before) {
    return now ? "it shows something else" : now.error().message;
  }
  if (elsewhere.empty()) {
    return "";
  }
  const auto ids = ids_in(**store);
  const auto target = open_store(cat("sqlite:", elsewhere.string()), {});
  if (!ids || !target) {
    return reason("list", ids) + reason("elsewhere", target);
  }
  for (const SessionId& id : *ids) {
    if (const auto copied = copy_session(**store, **target, id); !copied) {
      return cat("copy: ", copied.error().message);
    }
  }
  return "";
}

// Appends a message, which may fail; "+" if it was acknowledged.
std::string write_one(const Kind& kind, const fs::path& location) {
  const auto store = kind.open(location, {});
  return store && append_test_message(**store) ? "+" : "";
}

// With free space again: acknowledged messages exist, and the store accepts another one.
std::string check_after(const Kind& kind, const fs::path& location, const Snapshot& before,
                        bool acknowledged) {
  const auto store = kind.open(location, {});
  if (!store) {
    return cat("open afterwards: ", store.error().message);
  }
  const auto now = take_snapshot(**store);
  if (!now || (acknowledged && !has_test_message(*now))) {
    return now ? "what was acknowledged is gone" : now.error().message;
  }
  if (has_test_message(*now)) {
    return "";
  }
  return *now != before ? "it shows something else" : reason("add", append_test_message(**store));
}

class LaterClock final : public Clock {
 public:
  Time now() override { return system_clock().now() + kBlobPinned + std::chrono::hours(1); }
};

// When blobs are no longer pinned.
std::string delete_all(const Kind& kind, const fs::path& location) {
  LaterClock clock;
  const auto store = kind.open(location, {.clock = &clock});
  if (!store) {
    return cat("open: ", store.error().message);
  }
  const auto ids = ids_in(**store);
  if (!ids || (*store)->capabilities().trash == nullptr) {
    return reason("list", ids);
  }
  for (const SessionId& id : *ids) {
    const auto gone = (*store)->capabilities().trash->purge(id);
    if (!gone && gone.error().code != Code::conflict) {
      return cat("purge: ", gone.error().message);
    }
  }
  const auto left = ids_in(**store);
  return !left ? reason("list", left) : left->size() < ids->size() ? "" : "nothing has gone";
}

// Runs `trial` in a separate process, possibly with a limit.
std::string ended(const Disk& disk, const std::function<std::string()>& trial) {
  const Ended ended = in_process([&](const Print& /*print*/) {
    if (disk.limits_files) {
      limit_files();
    }
    return trial();
  });
  return ended.output + ended.fault;
}

std::string try_disk(const Kind& kind, const Disk& how) {
  const WorkFolder work;
  const SmallDisk disk(how.type, work.path(), how.size);
  const fs::path location = disk.path() / "now";
  const fs::path filler = disk.path() / "filler";
  fs::create_directories(filler);
  live(kind, location);
  auto store = kind.open(location, {.access = Access::read});
  const auto before = store ? take_snapshot(**store) : std::unexpected(store.error());
  if (!before) {
    return before.error().message;
  }
  store->reset();
  how.fill(filler);
  std::string fault = ended(how, [&] {
    return read_and_copy(kind, location, *before, how.limits_files ? "" : work.path() / "copy.db");
  });
  const std::string wrote = ended(how, [&] { return write_one(kind, location); });
  fs::remove_all(filler);
  if (fault.empty()) {
    fault = wrote.size() > 1 ? wrote : check_after(kind, location, *before, !wrote.empty());
  }
  // Chains and contexts are one file; replacing it temporarily needs another file.
  const bool replaces_file = kind.name == "chain" || kind.name == "context";
  if (!fault.empty() || how.limits_files || (how.size.files > 0 && replaces_file)) {
    return fault;
  }
  fs::create_directories(filler);
  how.fill(filler);
  return ended(how, [&] { return delete_all(kind, location); });
}

}  // namespace

Tally fill_disks(const Kind& kind) {
  Tally tally;
  for (const Disk& disk : disks()) {
    tally.add(cat(kind.name, " on ", disk.name), try_disk(kind, disk));
  }
  return tally;
}

}  // namespace reprise::rel
