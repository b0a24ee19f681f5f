#include "durable.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "additions.h"
#include "base/file.h"
#include "base/text.h"
#include "calls.h"
#include "disk.h"
#include "golden_store.h"
#include "life.h"
#include "life_parts.h"
#include "reprise/capabilities.h"
#include "reprise/outbox.h"
#include "store/context/defaults.h"
#include "store/outbox/outbox_folder.h"
#include "tally.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

// What need not survive a power cut: it says nothing once its process is gone, it belongs to an
// answer that runs or has ended, or is promised to survive the process alone.
constexpr std::string_view kPassing[] = {"-shm",     "-lock",   ".lock", ".tmp",
                                         ".partial", ".answer", "/raw"};

bool is_passing(std::string_view what) {
  return std::ranges::any_of(kPassing, [&](std::string_view end) { return what.ends_with(end); });
}

class StrictRecord final : public DiskRecord {
 public:
  using DiskRecord::DiskRecord;

  void opened(int fd, std::string_view path, bool is_new, bool emptied) override {
    DiskRecord::opened(fd, path, is_new, emptied);
    if (is_new) {
      look_at(path);
    }
  }
  void made_folder(std::string_view path) override {
    DiskRecord::made_folder(path);
    look_at(path);
  }

  // Each says "" for nothing; what was open to others since the last call.
  std::string open_to_others() { return std::exchange(open_to_others_, ""); }
  std::string not_synced() const {
    std::string out;
    for (const std::string& what : unsynced()) {
      if (!is_passing(what)) {
        out += cat(out.empty() ? "not synced: " : ", ", what);
      }
    }
    return out;
  }

 private:
  void look_at(std::string_view path) {
    struct stat status{};
    if (::lstat(std::string(path).c_str(), &status) == 0 && (status.st_mode & 077U) != 0) {
      open_to_others_ += cat(open_to_others_.empty() ? "open to others: " : ", ", path);
    }
  }
  std::string open_to_others_;
};

// One store at one place, which is watched.
class Watching {
 public:
  Watching(Tally& tally, std::string name, const fs::path& place)
      : tally_(tally), name_(std::move(name)), disk_(place) {
    watch(place.native(), {}, &disk_);
  }
  ~Watching() { unwatch(); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  Watching(Watching&&) = delete;
  Watching& operator=(Watching&&) = delete;

  // A call that must be done.
  void step(std::string_view name, const Result<>& done, bool on_disk = true) {
    tally_.add(cat(name_, ", ", name),
               done ? fault(on_disk) : cat("failed: ", done.error().message));
  }
  // One that may be refused: then it has promised nothing.
  void attempt(std::string_view name, const Result<>& done) {
    tally_.add(cat(name_, ", ", name), fault(done.has_value()));
  }

 private:
  std::string fault(bool on_disk) {
    const std::string open = disk_.open_to_others();
    return on_disk && open.empty() ? disk_.not_synced() : open;
  }

  Tally& tally_;
  std::string name_;
  StrictRecord disk_;
};

class Durable {
 public:
  explicit Durable(const Kind& kind) : kind_(kind), place_(work_.path() / "now") {}

  Tally all() && {
    live();
    copy_folder(place_, lived());
    beside();
    for (const GoldenStore& golden : GoldenStore::all(kind_)) {
      golden.put(place_);
      make_private();
      write_on(cat("taking over ", golden.name()));
    }
    for (const fs::path& file : files_of(lived())) {
      damage(file);
    }
    return std::move(tally_);
  }

 private:
  fs::path lived() const { return work_.path() / "lived"; }

  static std::vector<fs::path> files_of(const fs::path& folder) {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && !entry.is_symlink()) {
        out.push_back(entry.path().lexically_relative(folder));
      }
    }
    std::ranges::sort(out);
    return out;
  }

  // What stands there may have the mode of what stood there before.
  void make_private() const {
    for (const auto& entry : fs::recursive_directory_iterator(place_)) {
      if (!entry.is_symlink()) {
        fs::permissions(entry.path(), fs::perms::owner_all);
      }
    }
  }

  void live() {
    fs::create_directories(place_);
    Watching watching(tally_, kind_.name, place_);
    auto store = kind_.open(place_, {});
    if (!store) {
      watching.step("opening", std::unexpected(store.error()));
      return;
    }
    for (const LifeStep& step : life(**store)) {
      watching.step(step.name, step.run(**store), step.on_disk);
    }
    store->reset();
    watching.step("closing", {});
  }

  // Whole stores written beside this one, and the files that belong to none.
  void beside() {
    Watching watching(tally_, kind_.name, place_);
    const auto store = kind_.open(place_, {});
    if (!store) {
      return;
    }
    const Capabilities& can = (*store)->capabilities();
    if (can.backup != nullptr) {
      watching.step("backup", can.backup->backup(place_ / "backup"));
    }
    if (can.repair != nullptr) {
      const auto report = can.repair->repair_into(place_ / "repaired");
      watching.step("repair", report ? Result<>() : std::unexpected(report.error()));
    }
    const auto spill = store::outbox::make_outbox_file(place_ / "spill", "postgres://x/y");
    for (const std::string_view name : {"spill-1", "spill-2"}) {
      watching.step("spill", spill->keep(empty_session(1), {.operation = operation(name)}));
    }
    const auto spills = store::outbox::find_outboxes(place_ / "spill");
    watching.step("find the spills", spills ? Result<>() : std::unexpected(spills.error()));
    for (const fs::path& file : spills.value_or(std::vector<fs::path>())) {
      watching.step("mark a spill as stored", store::outbox::mark_as_stored(file));
    }
    watching.step("new context file",
                  store::context::create_context_file(place_ / "context" / "c.json", "m"));
  }

  // Whether it can or not.
  void write_on(const std::string& what) {
    Watching watching(tally_, kind_.name, place_);
    if (const auto store = kind_.open(place_, {})) {
      watching.attempt(cat("one more message, ", what), add_one_more(**store));
      watching.attempt(cat("one more turn, ", what), add_turn(**store, session(1)));
      watching.attempt(cat("one more session, ", what), (*store)->create(empty_session(9)));
      watching.attempt(cat("its turn, ", what), add_turn(**store, session(9)));
    }
  }

  // Its end missing, something behind its end, all of it something else, or nothing of it there.
  void damage(const fs::path& file) {
    const std::string bytes = read_file(lived() / file).value_or("");
    const std::array<std::pair<std::string_view, std::string>, 3> kinds = {{
        {"cut", bytes.substr(0, bytes.size() - std::min<std::size_t>(bytes.size(), 9))},
        {"with something behind it", bytes + "{\"torn"},
        {"replaced", "no such format"},
    }};
    for (const auto& [how, damaged] : kinds) {
      copy_folder(lived(), place_);
      if (replace_file(place_ / file, damaged)) {
        write_on(cat(file.native(), " ", how));
      }
    }
    copy_folder(lived(), place_);
    fs::remove(place_ / file);
    write_on(cat(file.native(), " missing"));
  }

  const Kind& kind_;
  WorkFolder work_;
  fs::path place_;
  Tally tally_;
};

}  // namespace

Tally leave_nothing_unsynced(const Kind& kind) {
  const mode_t before = ::umask(0);  // what is private is made so on purpose
  Tally tally = Durable(kind).all();
  ::umask(before);
  return tally;
}

}  // namespace reprise::rel
