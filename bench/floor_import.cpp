// The minimum cost of an import of JSON lines: each line is parsed by simdjson and stored as a row
// of bare SQLite, with one transaction per file.
//
// usage: floor_import FOLDER DATABASE

#include <simdjson.h>

#include <filesystem>

#include "bare_sqlite.h"
#include "measure.h"

namespace {
constexpr std::size_t kLineBytesMax = 24U << 20U;
}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  bench::require(argc == 3, "usage: floor_import FOLDER DATABASE");
  bench::BareSqlite database(argv[2]);
  simdjson::dom::parser parser;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1])) {
    if (entry.path().extension() != ".jsonl") {
      continue;
    }
    const simdjson::padded_string bytes = simdjson::padded_string::load(entry.path().native());
    const std::string session = entry.path().stem().native();
    std::int64_t seq = 0;
    database.begin();
    simdjson::dom::document_stream lines = parser.parse_many(bytes, kLineBytesMax);
    for (auto line = lines.begin(); line != lines.end(); ++line) {
      const simdjson::dom::element document = *line;
      database.append(session, seq++, std::string(std::string_view(document["type"])),
                      line.source());
    }
    database.commit();
  }
  return 0;
}
