#pragma once

// Stores in which every field of every value is set, each to a value of its own.

#include "reprise/store.h"

namespace reprise::test {

// The text for the field of that name.
using Spelling = std::function<std::string(std::string_view name)>;

// The ids of its sessions: one with all there is, a fork of it, a closed one, one in the trash, and
// one whose answer was interrupted.
struct FullStore {
  SessionId full;
  SessionId fork;
  SessionId closed;
  SessionId trashed;
  SessionId interrupted;
};

// What the store does not hold or offer is left out.
FullStore fill(Store& store, const Spelling& spell, const std::string& folder);

}  // namespace reprise::test
