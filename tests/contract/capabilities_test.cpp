// Capabilities of a store: they are consistent, and querying them has no side effects.

#include "reprise/capabilities.h"

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/store.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, ChangeableDataIsReadable) {
  const Capabilities& can = capabilities();
  EXPECT_EQ(can.todo_reader, static_cast<TodoReader*>(can.todos));
  EXPECT_EQ(can.artefact_reader, static_cast<ArtefactReader*>(can.artefacts));
  EXPECT_EQ(can.blob_reader, static_cast<BlobReader*>(can.blobs));
  EXPECT_EQ(can.partial_reader, static_cast<PartialReader*>(can.partials));
  EXPECT_EQ(can.replaced_reader, static_cast<ReplacedReader*>(can.rewriting));
  EXPECT_EQ(can.signature_reader, static_cast<SignatureReader*>(can.signatures));
  if (can.repair != nullptr) {
    EXPECT_EQ(can.verifier, static_cast<Verifier*>(can.repair));
  }
}

TEST_P(StoreContract, EitherMessagesOrResponsesAreHeld) {
  const Capabilities& can = capabilities();
  EXPECT_EQ(can.responses != nullptr, !can.messages);
  if (!can.messages) {
    EXPECT_EQ(can.rewriting, nullptr);
    EXPECT_EQ(can.partials, nullptr);
    EXPECT_EQ(can.forking, nullptr);
    EXPECT_EQ(can.atomic_creation, nullptr);
  }
  // Recorded turns are artefacts.
  if (can.turn_recording != nullptr) {
    EXPECT_NE(can.artefacts, nullptr);
  }
}

TEST_P(StoreContract, ASourceHasTheSameCapabilities) {
  const Source& source = store();
  EXPECT_EQ(&source.capabilities(), &static_cast<const SourceCapabilities&>(capabilities()));
}

}  // namespace
}  // namespace reprise::test
