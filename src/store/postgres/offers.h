#pragma once

// The parts of the store that only some stores have, each over the same database.

#include <memory>

#include "reprise/store_offers.h"
#include "store/postgres/database.h"

namespace reprise::postgres {

// `database` must outlive what these return.
std::unique_ptr<Partials> make_partials(Database& database);
std::unique_ptr<Todos> make_todos(Database& database);
std::unique_ptr<Artefacts> make_artefacts(Database& database);
std::unique_ptr<Blobs> make_blobs(Database& database);
std::unique_ptr<Trash> make_trash(Database& database);
std::unique_ptr<Verifying> make_verifying(Database& database);

}  // namespace reprise::postgres
