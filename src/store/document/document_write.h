#pragma once

// Appends to a document, or replaces its end, according to the rules of stores.

#include "reprise/store.h"

namespace reprise::store {

class DocumentFormat;
class Documents;

// An append, or, if `from` is set, a replacement of the messages from there on.
struct DocumentWrite {
  std::optional<Seq> from;
  std::vector<Message> messages;
  const AppendOptions& options;
};
Result<Appended> write_document(const DocumentFormat& files, Documents& documents,
                                const SessionId& id, DocumentWrite write);

}  // namespace reprise::store
