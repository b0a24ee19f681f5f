#pragma once

// Which blobs may go.

#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/database.h"

namespace reprise::postgres {

// Adds what removes, of a bounded number of blobs, those that no message names and nobody has put
// for kBlobPinned.
void collect_blobs(std::vector<Query>& queries, const Database& database);

}  // namespace reprise::postgres
