#pragma once

// The door to the store: opens it when it is first asked for, and finds sessions in it.

#include "base/text.h"
#include "cli/program/voice.h"
#include "cli/settings/program_config.h"
#include "reprise/open_store.h"

namespace reprise::cli {

std::vector<SessionState> every_state();

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
  // The same to read only.
  Result<Source*> source();
  // To change what is there: not_found, and nothing created, when there is none.
  Result<Store*> open_existing();
  // Opens any store. The password of store_key_command is added to `options` for the server that it
  // was set for, and for no other; the error of another one says so.
  Result<std::unique_ptr<Store>> open_at(std::string_view url, StoreOptions options);

  // SEL as this person sees it: the last shown list, this folder.
  Result<SessionInfo> select(Source& source, std::string_view sel);
  Result<SessionInfo> select(Source& source, std::string_view sel,
                             std::vector<SessionState> states);

 private:
  // A mistyped path becomes no folders: the folder that a new store goes to must be there, but for
  // the usual place. Says what will be new.
  Result<> check_place(std::string_view url);
  void tell_of_outbox(std::string_view store_url);

  ProgramConfig& config_;
  Voice& voice_;
  StoreOpener* parent_ = nullptr;
  bool has_told_of_outbox_ = false;
  std::unique_ptr<Store> reader_;
  std::unique_ptr<Store> writer_;
};

}  // namespace reprise::cli
