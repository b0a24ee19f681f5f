#pragma once

// For stores whose ids are UUIDs: the suite's short names, each packed into a UUID. The order of
// the names is the order of the UUIDs, and a prefix of a name is a prefix of its UUID.

#include <memory>

#include "reprise/store.h"

namespace reprise::test {

// The same store, as if it took names of up to 16 bytes.
std::unique_ptr<Store> with_named_ids(std::unique_ptr<Store> store);

}  // namespace reprise::test
