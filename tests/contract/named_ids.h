#pragma once

// For stores whose ids are UUIDs: packs the suite's short ids into UUIDs. The order of the short
// ids is the order of the UUIDs, and a prefix of an id is a prefix of its UUID.

#include <memory>

#include "reprise/store.h"

namespace reprise::test {

// Wraps a store so that it accepts ids of up to 16 bytes.
std::unique_ptr<Store> with_named_ids(std::unique_ptr<Store> store);

}  // namespace reprise::test
