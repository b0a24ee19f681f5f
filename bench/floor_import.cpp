// The least that an import of lines of JSON costs: every line is parsed by simdjson, and becomes a
// row of its bytes in bare SQLite, a transaction for each file.
//
// usage: floor_import FOLDER DATABASE

#include <simdjson.h>

#include <filesystem>

#include "bare_sqlite.h"
#include "measure.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  bench::require(argc == 3, "usage: floor_import FOLDER DATABASE");
  bench::BareSqlite database(argv[2]);
  simdjson::ondemand::parser parser;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1])) {
    if (entry.path().extension() != ".jsonl") {
      continue;
    }
    const simdjson::padded_string bytes = simdjson::padded_string::load(entry.path().native());
    const std::string session = entry.path().stem().native();
    std::int64_t seq = 0;
    database.begin();
    simdjson::ondemand::document_stream lines = parser.iterate_many(bytes, 24U << 20U);
    for (auto line = lines.begin(); line != lines.end(); ++line) {
      auto document = *line;
      std::string type;
      bool has_time = false;
      for (auto field : document.get_object()) {
        const std::string_view key = field.unescaped_key();
        if (key == "type") {
          type = std::string_view(field.value().get_string());
        } else {
          has_time = has_time || key == "timestamp";
          (void)field.value().raw_json().value();
        }
      }
      database.append(session, seq++, type, line.source());
    }
    database.commit();
  }
  return 0;
}
