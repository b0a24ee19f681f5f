#pragma once

// A store that knows its process. All stores are handed out so: after fork() the child's copy
// answers unsupported before it looks at anything, as a mutex in it may be held by a thread that
// only the parent has, and destroying it touches neither locks, connections, threads nor files.
// Its calls are counted here, too.

#include <memory>

#include "store/call.h"

namespace reprise::store {

std::unique_ptr<Store> in_own_process(std::unique_ptr<Store> store, const CallOptions& options);

}  // namespace reprise::store
