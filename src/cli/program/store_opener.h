#pragma once

// Opens the store on first use, finds sessions in it, and measures its calls.

#include <chrono>   // IWYU pragma: export
#include <cstddef>  // IWYU pragma: export
#include <cstdint>  // IWYU pragma: export
#include <memory>   // IWYU pragma: export
#include <mutex>
#include <optional>     // IWYU pragma: export
#include <stop_token>   // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <thread>
#include <utility>  // IWYU pragma: export
#include <vector>   // IWYU pragma: export

#include "base/text.h"            // IWYU pragma: export
#include "cli/process/console.h"  // IWYU pragma: export
#include "cli/program/last_list.h"
#include "cli/settings/program_config.h"  // IWYU pragma: export
#include "reprise/open_source.h"          // IWYU pragma: export
#include "reprise/open_store.h"

namespace reprise::cli {

// One line without zero counts: "append 2 in 3.0 ms, longest 2.1 ms; open 1 in 4.1 ms; retries 1".
std::string statistics_line(const StoreCounts& counts);

// Measures calls for --stats and `reprise doctor`; reports slow ones with -v. The stores may be
// used by any thread, this object only by the one that created it.
class StoreMonitor {
 public:
  // `console` must outlive it.
  explicit StoreMonitor(Console& console) : console_(console) {}

  // Counts the calls of a store and reports slow ones. Must outlive the store.
  void watch(StoreOptions& options, std::chrono::milliseconds slow_call);
  StoreStatistics& statistics() { return statistics_; }
  // Reports other threads' slow calls and, with --stats or -v, all counts: as a line, or with
  // --json as an object.
  void finish(const Globals& globals);

 private:
  void report_slow(const SlowCall& call);

  Console& console_;
  StoreStatistics statistics_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<std::string> pending_;  // guarded by mutex_
};

std::vector<SessionState> every_state();
std::vector<SessionState> open_states();  // active and closed

// What a session is selected for: numbers of a list older than a day may only be used for reading.
enum class Use : std::uint8_t { read, change, archive, trash };

// `offer`, or unsupported if null: "this store cannot ACTION".
template <class Offer>
Result<Offer*> offered(Offer* offer, std::string_view action) {
  if (offer == nullptr) {
    return fail(Code::unsupported, cat("this store cannot ", action));
  }
  return offer;
}

class StoreOpener {
 public:
  // The arguments must outlive it.
  StoreOpener(ProgramConfig& config, Console& console) : config_(config), console_(console) {}
  // For another folder: uses the parent's store unless `config` names another. The parent must
  // outlive it and is used by the same thread.
  StoreOpener(StoreOpener& parent, ProgramConfig& config, Console& console)
      : config_(config), console_(console), parent_(&parent) {}
  ~StoreOpener() = default;
  StoreOpener(const StoreOpener&) = delete;
  StoreOpener& operator=(const StoreOpener&) = delete;

  // The store of the settings, opened once per access.
  Result<Store*> open(Access access = Access::write);
  // The same for reading only, which may also be another tool's history.
  Result<Source*> source();
  // The same; null on first use.
  Result<Source*> existing_source();
  // Whether the error only means that the default store, or a context file that was searched for,
  // does not exist yet.
  bool is_first_use(const Error& error);
  // For changing existing data: not_found, without creating anything, if there is no store.
  Result<Store*> open_existing();
  // Opens any store. Adds the password of store_key_command to `options`, but only for the server
  // that it was set for; errors of other servers mention that.
  Result<std::unique_ptr<Store>> open_at(std::string_view url, StoreOptions options);

  // An error if nothing can be stored at the URL: it is a path without a store, of an unknown kind,
  // in a folder that does not exist, or only in memory. Opens and creates nothing.
  Result<> check_url(std::string_view url) const;

  // The tool whose history the settings name; null if they name a store.
  Result<const SourceKind*> source_kind();
  // The URL and options for opening the settings' store directly.
  struct Target {
    std::string url;
    StoreOptions options;
  };
  Result<Target> target();

  // Watches all stores opened here.
  StoreMonitor& watch() { return parent_ != nullptr ? parent_->watch() : watch_; }

  // Opens any store or other tool's history for reading only.
  Result<std::unique_ptr<Source>> open_source_at(std::string_view url);

  // Resolves SEL, using the last list shown here and this folder. `from` is the store or source of
  // the list that numbers refer to, if it is not the settings' store.
  Result<SessionInfo> select(Source& source, std::string_view sel, Use use,
                             std::vector<SessionState> states = open_states(),
                             const std::optional<std::string>& from = std::nullopt);
  // Resolves all of them and removes duplicates, so that errors are found before anything is
  // changed.
  Result<std::vector<SessionInfo>> select_all(
      Source& source, const std::vector<std::string>& sels, Use use,
      const std::vector<SessionState>& states = open_states(),
      const std::optional<std::string>& from = std::nullopt);
  // The ids of the last list shown here.
  Result<std::vector<SessionId>> listed_ids();
  // Stores the list, so that numbers work in other commands. It is no error if that fails.
  Result<> remember_numbers(const std::vector<SessionInfo>& sessions);

 private:
  // unsupported if the settings name another tool's history.
  Result<> refuse_source();
  static Error read_only(std::string_view url);
  // Reports a new store.
  Result<> check_location(std::string_view url);
  // Whether a store would be created. Prevents a mistyped path from creating folders: except for
  // the default store, the parent folder must exist.
  Result<bool> is_new_path(const std::string& resolved) const;
  Result<bool> complete_options(std::string_view url, StoreOptions& options);
  Result<LastListKey> last_list_key(const std::optional<std::string>& from);
  void report_outbox(std::string_view store_url);

  ProgramConfig& config_;
  Console& console_;
  StoreOpener* parent_ = nullptr;
  StoreMonitor watch_{console_};  // must outlive the stores
  bool has_reported_outbox_ = false;
  std::unique_ptr<Store> reader_;
  std::unique_ptr<Store> writer_;
  std::unique_ptr<Source> source_;
};

// invalid_argument for a store that ends with the program.
Result<> check_lasting(std::string_view url);

// Expands a tool's history without a location ("claude:") to its default location; other URLs are
// unchanged.
std::string source_url(std::string_view url, const ProcessEnvironment& environment);

}  // namespace reprise::cli
