#pragma once

// The store over files that are read and replaced whole: sessions:, context: and chain: are it,
// each with SessionFiles of its own.

#include <memory>

#include "reprise/open_store.h"
#include "reprise/store.h"
#include "store/file/session_files.h"

namespace reprise::store {

// Which offers a format can keep.
struct DocumentOffers {
  bool rewriting = true;
  bool partials = true;
  bool todos = true;
  bool signatures = false;
};

// Offers Trash, Repair and Backup besides. Creates nothing until something is written.
std::unique_ptr<Store> make_document_store(std::unique_ptr<SessionFiles> files,
                                           const StoreOptions& options,
                                           const DocumentOffers& offers = {});

}  // namespace reprise::store
