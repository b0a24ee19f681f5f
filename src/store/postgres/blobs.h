#pragma once

// Garbage collection of blobs.

#include <vector>

#include "store/postgres/connection.h"

namespace reprise::postgres {

class Database;

// Adds statements that examine a bounded number of blobs, and remove those that are unreferenced
// and were not put within kBlobPinned.
void collect_blobs(std::vector<Query>& queries, const Database& database);

}  // namespace reprise::postgres
