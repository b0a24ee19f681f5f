#pragma once

// Makes a store of a class: detects from its type which capability interfaces it implements, and
// wraps it for its process.

#include <concepts>
#include <memory>

#include "reprise/capabilities.h"
#include "reprise/store.h"  // IWYU pragma: export

namespace reprise::store {

struct CallOptions;

// Calls `visit` with the pointer to each interface.
template <class Visit>
void for_each_interface(Capabilities& capabilities, const Visit& visit) {
  visit(capabilities.todo_reader);
  visit(capabilities.artefact_reader);
  visit(capabilities.blob_reader);
  visit(capabilities.change_reader);
  visit(capabilities.partial_reader);
  visit(capabilities.last_message_reader);
  visit(capabilities.message_finder);
  visit(capabilities.short_session_reader);
  visit(capabilities.replaced_reader);
  visit(capabilities.signature_reader);
  visit(capabilities.user_reader);
  visit(capabilities.word_index);
  visit(capabilities.verifier);
  visit(capabilities.deferred_creation);
  visit(capabilities.atomic_creation);
  visit(capabilities.rewriting);
  visit(capabilities.forking);
  visit(capabilities.partials);
  visit(capabilities.responses);
  visit(capabilities.todos);
  visit(capabilities.artefacts);
  visit(capabilities.turn_recording);
  visit(capabilities.archives);
  visit(capabilities.current_session);
  visit(capabilities.blobs);
  visit(capabilities.trash);
  visit(capabilities.signatures);
  visit(capabilities.repair);
  visit(capabilities.backup);
  visit(capabilities.tenants);
  static_assert(sizeof(Capabilities) - sizeof(SourceCapabilities) == 17 * sizeof(void*),
                "what is new stands above, too");
}

// Returns `holds` with the interfaces that the class of `store` implements.
template <class Implementation>
Capabilities capabilities_of(Implementation& store, SourceCapabilities holds = {}) {
  Capabilities capabilities{holds};
  for_each_interface(capabilities, [&store]<class Interface>(Interface*& interface) {
    if constexpr (std::derived_from<Implementation, Interface>) {
      interface = &store;
    }
  });
  return capabilities;
}

// A wrapper around every store. After fork(), the child's copy returns unsupported before it
// touches anything, because a mutex in it may be held by a thread that exists only in the parent;
// destroying it touches no locks, connections, threads or files. It also counts the calls.
std::unique_ptr<Store> guard(std::unique_ptr<Store> store, const CallOptions& options);

}  // namespace reprise::store
