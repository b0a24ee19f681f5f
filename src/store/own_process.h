#pragma once

// A wrapper around every store. After fork(), the child's copy returns unsupported before it
// touches anything, because a mutex in it may be held by a thread that exists only in the parent;
// destroying it touches no locks, connections, threads or files. It also counts the calls.

#include <memory>

#include "store/call.h"

namespace reprise::store {

std::unique_ptr<Store> in_own_process(std::unique_ptr<Store> store, const CallOptions& options);

}  // namespace reprise::store
