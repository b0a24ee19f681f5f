#include "support/postgres_server.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "support/must.h"

namespace reprise::test {
namespace {

class OwnServer {
 public:
  OwnServer() {
    // NOLINTNEXTLINE(cert-env33-c): the project's own script.
    if (std::system(cat(kScript, " start ", folder().native(), " ", ::getpid()).c_str()) != 0) {
      throw std::runtime_error("no PostgreSQL server: see above");
    }
  }
  ~OwnServer() {
    // NOLINTNEXTLINE(cert-env33-c): the project's own script.
    std::system(cat(kScript, " stop ", folder().native()).c_str());
  }
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;
  std::filesystem::path folder() const { return folder_.path() / "server"; }

 private:
  static constexpr std::string_view kScript = PROJECT_POSTGRES_SCRIPT;
  TemporaryFolder folder_;
};

std::string shared_url() {
  if (const char* const given = std::getenv("REPRISE_POSTGRES_URL"); given != nullptr) {
    return given;
  }
  const std::filesystem::path url = std::filesystem::path(PROJECT_POSTGRES_FOLDER) / "url";
  if (std::filesystem::exists(url)) {
    return must(read_file(url));
  }
  static const OwnServer own;
  return must(read_file(own.folder() / "url"));
}

}  // namespace

std::string postgres_url(std::string_view tenant) {
  static const std::string shared = shared_url();
  return cat(shared, shared.contains('?') ? "&" : "?", "tenant=", tenant);
}

}  // namespace reprise::test
