#include <set>

#include "base/encode.h"
#include "base/json_write.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "reprise/capabilities.h"
#include "store/document/sidecar.h"  // IWYU pragma: export

namespace reprise::exporting {
namespace {

class JsonWriter final : public Writer {
 public:
  explicit JsonWriter(Job& job) : job_(job) {}

  Result<> begin() override {
    std::vector<Todo> todos;
    if (TodoReader* const list = job_.source.capabilities().todo_reader; list != nullptr) {
      REPRISE_ASSIGN(todos, list->todos(job_.session.info.id));
    }
    return job_.output.write(cat(store::kJsonHead, "\n", store::kSessionKey, session_json(), ",\n",
                                 store::kTodosKey, todos_to_json(todos), ",\n",
                                 store::kMessagesHead));
  }

  Result<> message(const Message& message) override {
    for (const Block& block : message.blocks) {
      if (const auto* result = std::get_if<ToolResultBlock>(&block);
          result != nullptr && result->blob) {
        blobs_.insert(*result->blob);
      } else if (const auto* image = std::get_if<ImageBlock>(&block);
                 image != nullptr && image->blob) {
        blobs_.insert(*image->blob);
      }
    }
    return item(message_to_json(message));
  }

  Result<> end() override {
    REPRISE_TRY(next_list(store::kArtefactsHead));
    REPRISE_TRY(artefacts());
    REPRISE_TRY(next_list(store::kBlobsHead));
    for (const BlobHash& hash : blobs_) {
      REPRISE_TRY(blob(hash));
    }
    return job_.output.write(cat("\n", store::kLastLine, "\n"));
  }

 private:
  std::string session_json() const {
    const Session native{.info = {.id = job_.session.info.id}};
    const std::string members = store::session_sidecar({.session = job_.session}, native);
    std::string out = json::object_of("id", job_.session.info.id.str());
    if (!members.empty()) {
      out.back() = ',';
      out += std::string_view(members).substr(1);
    }
    return out;
  }

  Result<> item(std::string_view json) {
    REPRISE_TRY(job_.output.write(is_first_ ? "\n" : ",\n"));
    is_first_ = false;
    return job_.output.write(json);
  }

  Result<> next_list(std::string_view head) {
    is_first_ = true;
    return job_.output.write(cat("\n", store::kListEnd, "\n", head));
  }

  Result<> artefacts() {
    ArtefactReader* const files = job_.source.capabilities().artefact_reader;
    if (files == nullptr) {
      return {};
    }
    const SessionId& id = job_.session.info.id;
    REPRISE_ASSIGN(const auto entries, files->list_artefacts(id));
    for (const ArtefactReader::Entry& entry : entries) {
      REPRISE_ASSIGN(const auto bytes, files->find_artefact(id, entry.step, entry.name));
      REPRISE_TRY(item(json::object_of("step", entry.step.value, "name", entry.name, "base64",
                                       base64_encode(bytes.value_or("")))));
    }
    return {};
  }

  // Written in pieces: a blob may be larger than memory. A blob that cannot be read is left out and
  // reported; one that fails midway is marked "cut".
  Result<> blob(const BlobHash& hash) {
    std::string pending;
    bool has_begun = false;
    const auto write = [&](std::string_view piece) -> Result<> {
      if (!std::exchange(has_begun, true)) {
        REPRISE_TRY(item(cat(R"({"hash":")", hash.str(), R"(","base64":")")));
      }
      pending += piece;
      const std::size_t encodable = pending.size() - pending.size() % 3;
      REPRISE_TRY(job_.output.write(base64_encode(std::string_view(pending).substr(0, encodable))));
      pending.erase(0, encodable);
      return {};
    };
    REPRISE_ASSIGN(const bool is_complete, read_blob(job_, hash, write));
    if (!has_begun) {
      if (!is_complete) {
        return {};
      }
      REPRISE_TRY(write(""));
    }
    return job_.output.write(cat(base64_encode(pending), is_complete ? "\"}" : R"(","cut":true})"));
  }

  Job& job_;
  bool is_first_ = true;
  std::set<BlobHash> blobs_;
};

}  // namespace

std::unique_ptr<Writer> make_json(Job& job) {
  return std::make_unique<JsonWriter>(job);
}

}  // namespace reprise::exporting
