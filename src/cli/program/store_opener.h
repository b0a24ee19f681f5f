#pragma once

// The door to the store: opens it when it is first asked for, and finds sessions in it.

#include "base/text.h"  // IWYU pragma: export
#include "cli/program/last_list.h"
#include "cli/program/store_watch.h"
#include "cli/settings/program_config.h"
#include "reprise/open_source.h"  // IWYU pragma: export

namespace reprise::cli {

std::vector<SessionState> every_state();
std::vector<SessionState> open_states();  // active and closed

// What a session is selected for: a number of a list that is older than a day is good for reading
// alone.
enum class Use : std::uint8_t { read, change };

// What a store may offer, or unsupported: "this store cannot WHAT".
template <class Offer>
Result<Offer*> offered(Offer* offer, std::string_view what) {
  if (offer == nullptr) {
    return fail(Code::unsupported, cat("this store cannot ", what));
  }
  return offer;
}

class StoreOpener {
 public:
  // All of them outlive it.
  StoreOpener(ProgramConfig& config, Voice& voice) : config_(config), voice_(voice) {}
  // For another folder: opens the parent's store where `config` names no other. The parent outlives
  // it and is used by the same thread.
  StoreOpener(StoreOpener& parent, ProgramConfig& config, Voice& voice)
      : config_(config), voice_(voice), parent_(&parent) {}
  ~StoreOpener() = default;
  StoreOpener(const StoreOpener&) = delete;
  StoreOpener& operator=(const StoreOpener&) = delete;

  // The store of the settings, opened once for each access.
  Result<Store*> open(Access access = Access::write);
  // The same to read only, which may also be another tool's history.
  Result<Source*> source();
  // To change what is there: not_found, and nothing created, when there is none.
  Result<Store*> open_existing();
  // Opens any store. The password of store_key_command is added to `options` for the server that it
  // was set for, and for no other; the error of another one says so.
  Result<std::unique_ptr<Store>> open_at(std::string_view url, StoreOptions options);

  // Whose history the settings name; null when they name a store.
  Result<const SourceKind*> source_kind();
  // What open_at() opens the store of the settings with, for what does not open it as a store.
  struct Place {
    std::string url;
    StoreOptions options;
  };
  Result<Place> place();

  // Of all stores that were opened here.
  StoreWatch& watch() { return parent_ != nullptr ? parent_->watch() : watch_; }

  // Opens any store or other tool's history to read only.
  Result<std::unique_ptr<Source>> open_source_at(std::string_view url);

  // SEL as this person sees it: the last list shown here, this folder. `from` is where numbers were
  // shown when that is not the store of the settings.
  Result<SessionInfo> select(Source& source, std::string_view sel, Use use,
                             std::vector<SessionState> states = open_states(),
                             const std::optional<std::string>& from = std::nullopt);
  // All of them, each once: what is wrong with one is known before any is changed.
  Result<std::vector<SessionInfo>> select_all(
      Source& source, const std::vector<std::string>& sels, Use use,
      const std::vector<SessionState>& states = open_states(),
      const std::optional<std::string>& from = std::nullopt);
  // Of the last list shown here.
  Result<std::vector<SessionId>> listed_ids();
  // So that their numbers name them in other commands. That they cannot be kept is no error.
  Result<> remember_numbers(const std::vector<SessionInfo>& shown);

 private:
  // unsupported when they name another tool's history.
  Result<> refuse_source();
  static Error read_only(std::string_view url);
  // A mistyped path becomes no folders: the folder that a new store goes to must be there, but for
  // the usual place. Says what will be new.
  Result<> check_place(std::string_view url);
  Result<ListPlace> list_place(const std::optional<std::string>& from);
  void tell_of_outbox(std::string_view store_url);

  ProgramConfig& config_;
  Voice& voice_;
  StoreOpener* parent_ = nullptr;
  StoreWatch watch_{voice_};  // outlives the stores
  bool has_reported_outbox_ = false;
  std::unique_ptr<Store> reader_;
  std::unique_ptr<Store> writer_;
  std::unique_ptr<Source> source_;
};

// A tool's history without a place ("claude:") with its usual place by these variables; other URLs
// as they are.
std::string source_url(std::string_view url, const ProcessEnvironment& environment);

}  // namespace reprise::cli
