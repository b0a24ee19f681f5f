#pragma once

// What the store over whole files offers besides the core.

#include <memory>
#include <optional>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/file/document_store.h"
#include "store/file/documents.h"
#include "store/file/session_files.h"

namespace reprise::store {

// An append, or with `from` a replacement of what stands there and after.
struct DocumentWrite {
  std::optional<Seq> from;
  std::vector<Message> messages;
  const AppendOptions& options;
};
Result<Appended> write_document(const SessionFiles& files, Documents& documents,
                                const SessionId& id, DocumentWrite write);

class DocumentParts {
 public:
  // What is handed in must outlive it.
  DocumentParts(const SessionFiles& files, Documents& documents, const DocumentOffers& offers);
  ~DocumentParts();
  DocumentParts(const DocumentParts&) = delete;
  DocumentParts& operator=(const DocumentParts&) = delete;
  DocumentParts(DocumentParts&&) = delete;
  DocumentParts& operator=(DocumentParts&&) = delete;
  const StoreOffers& offers() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace reprise::store
