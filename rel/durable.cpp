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
#include "reprise/capabilities.h"
#include "reprise/open_source.h"
#include "reprise/outbox.h"
#include "reprise/store.h"
#include "session/import.h"
#include "store/context/defaults.h"
#include "store/outbox/outbox_file.h"
#include "tally.h"
#include "trial.h"
#include "trials.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

// Files that need not survive a power cut: they are meaningless without their process, belong to a
// running or ended answer, or are only promised to survive the process.
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

  // These return "" if there is nothing. Files accessible to others since the last call.
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

// A store in a watched folder.
class Watching {
 public:
  Watching(Tally& tally, std::string name, const fs::path& location)
      : tally_(tally), name_(std::move(name)), disk_(location) {
    watch(location.native(), {}, &disk_);
  }
  ~Watching() { unwatch(); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  Watching(Watching&&) = delete;
  Watching& operator=(Watching&&) = delete;

  // A call that must succeed.
  void step(std::string_view name, const Result<>& done, bool on_disk = true) {
    tally_.add(cat(name_, ", ", name),
               done ? fault(on_disk) : cat("failed: ", done.error().message));
  }
  // A call that may be refused, and then has promised nothing.
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
  explicit Durable(const Kind& kind) : kind_(kind), location_(work_.path() / "now") {}

  Tally all() && {
    live();
    copy_folder(location_, lived());
    beside();
    import_from_tool();
    for (const GoldenStore& golden : GoldenStore::all(kind_)) {
      golden.install(location_);
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

  // New files may have the mode of the replaced ones.
  void make_private() const {
    for (const auto& entry : fs::recursive_directory_iterator(location_)) {
      if (!entry.is_symlink()) {
        fs::permissions(entry.path(), fs::perms::owner_all);
      }
    }
  }

  void live() {
    fs::create_directories(location_);
    Watching watching(tally_, kind_.name, location_);
    auto store = kind_.open(location_, {});
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

  // Whole stores written beside this one, and files outside of stores.
  void beside() {
    Watching watching(tally_, kind_.name, location_);
    const auto store = kind_.open(location_, {});
    if (!store) {
      return;
    }
    const Capabilities& can = (*store)->capabilities();
    if (can.backup != nullptr) {
      watching.step("backup", can.backup->backup(location_ / "backup"));
    }
    if (can.repair != nullptr) {
      const auto report = can.repair->repair_into(location_ / "repaired");
      watching.step("repair", report ? Result<>() : std::unexpected(report.error()));
    }
    const auto outbox = store::outbox::make_outbox_file(location_ / "spill", "postgres://x/y");
    for (const std::string_view name : {"outbox-1", "outbox-2"}) {
      watching.step("add to the outbox",
                    outbox->add(empty_session(1), {.operation = operation(name)}));
    }
    const auto outboxes = store::outbox::find_outboxes(location_ / "spill");
    watching.step("find the outboxes", outboxes ? Result<>() : std::unexpected(outboxes.error()));
    for (const fs::path& file : outboxes.value_or(std::vector<fs::path>())) {
      watching.step("mark an outbox as stored", store::outbox::mark_as_stored(file));
    }
    watching.step("new context file",
                  store::context::create_context_file(location_ / "context" / "c.json", "m"));
  }

  // A session of another tool that is imported, then extended, then rewound. Some stores refuse.
  void import_from_tool() {
    const fs::path project = work_.path() / "tool" / "projects" / "x";
    fs::create_directories(project);
    const auto line = [](std::string_view id, std::string_view parent) {
      return cat(R"({"type":"user","timestamp":"2026-11-20T10:00:00Z","uuid":")", id,
                 R"(","parentUuid":)", parent.empty() ? "null" : cat("\"", parent, "\""),
                 R"(,"message":{"role":"user","content":")", id, "\"}}\n");
    };
    const std::string begun = line("a", "") + line("b", "a");
    const std::array<std::pair<std::string_view, std::string>, 3> files = {
        {{"new", begun},
         {"extended", begun + line("c", "b")},
         {"rewound", begun + line("c", "b") + line("d", "a") + line("e", "d")}}};
    Watching watching(tally_, kind_.name, location_);
    for (const auto& [how, bytes] : files) {
      const auto done = [&]() -> Result<> {
        REPRISE_TRY(replace_file(project / "session.jsonl", bytes));
        REPRISE_ASSIGN(const auto store, kind_.open(location_, {}));
        REPRISE_ASSIGN(const auto source,
                       open_source(cat("claude:", (work_.path() / "tool").native())));
        REPRISE_ASSIGN(const SessionPage page, source->list({}));
        for (const SessionInfo& info : page.sessions) {
          REPRISE_TRY(import_session(*source, "claude", *store, info));
        }
        return {};
      };
      watching.attempt(cat("importing, ", how), done());
    }
  }

  // Writes, which may fail.
  void write_on(const std::string& what) {
    Watching watching(tally_, kind_.name, location_);
    if (const auto store = kind_.open(location_, {})) {
      watching.attempt(cat("one more message, ", what), append_test_message(**store));
      watching.attempt(cat("one more turn, ", what), add_turn(**store, session(1)));
      watching.attempt(cat("one more session, ", what), (*store)->create(empty_session(9)));
      watching.attempt(cat("its turn, ", what), add_turn(**store, session(9)));
    }
  }

  // Truncates the file, appends to it, replaces its contents, or empties it.
  void damage(const fs::path& file) {
    const std::string bytes = read_file(lived() / file).value_or("");
    const std::array<std::pair<std::string_view, std::string>, 3> kinds = {{
        {"cut", bytes.substr(0, bytes.size() - std::min<std::size_t>(bytes.size(), 9))},
        {"with something behind it", bytes + "{\"torn"},
        {"replaced", "no such format"},
    }};
    for (const auto& [how, damaged] : kinds) {
      copy_folder(lived(), location_);
      if (replace_file(location_ / file, damaged)) {
        write_on(cat(file.native(), " ", how));
      }
    }
    copy_folder(lived(), location_);
    fs::remove(location_ / file);
    write_on(cat(file.native(), " missing"));
  }

  const Kind& kind_;
  WorkFolder work_;
  fs::path location_;
  Tally tally_;
};

}  // namespace

Tally check_durability(const Kind& kind) {
  const mode_t before = ::umask(0);  // private files must be created with their mode
  Tally tally = Durable(kind).all();
  ::umask(before);
  return tally;
}

}  // namespace reprise::rel
