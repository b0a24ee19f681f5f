#pragma once

// Stores in which every field of every value is set, each to a distinct value.

#include "reprise/store.h"

namespace reprise::test {

// Returns the text for the field of that name.
using Spelling = std::function<std::string(std::string_view name)>;

// The ids of its sessions: one with all fields, a fork of it, a closed one, one in the trash, and
// one whose answer was interrupted.
struct FullStore {
  SessionId full;
  SessionId fork;
  SessionId closed;
  SessionId trashed;
  SessionId interrupted;
};

// Omits what the store does not support.
FullStore fill(Store& store, const Spelling& spell, const std::string& folder);

}  // namespace reprise::test
