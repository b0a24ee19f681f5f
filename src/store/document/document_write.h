#pragma once

// Appending to a document and replacing its end, by the rules of the store.

#include "reprise/store.h"
#include "store/document/document_format.h"
#include "store/document/documents.h"

namespace reprise::store {

// An append, or with `from` a replacement of what stands there and after.
struct DocumentWrite {
  std::optional<Seq> from;
  std::vector<Message> messages;
  const AppendOptions& options;
};
Result<Appended> write_document(const DocumentFormat& files, Documents& documents,
                                const SessionId& id, DocumentWrite write);

}  // namespace reprise::store
