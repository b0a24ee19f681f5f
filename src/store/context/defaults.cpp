#include "store/context/defaults.h"

#include <fcntl.h>

#include <cerrno>
#include <optional>
#include <type_traits>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "store/context/codec.h"
#include "store/context/members.h"
#include "store/document/document_format.h"

namespace reprise::store::context {
namespace {

namespace fs = std::filesystem;

std::optional<bool> parse_boolean(std::string_view json) {
  if (json != "true" && json != "false") {
    return std::nullopt;
  }
  return json == "true";
}

// Reads members with the right type; a missing one has its default, which may be none.
class DefaultsReader {
 public:
  DefaultsReader(const fs::path& file, const Extra& members, Defaults& out)
      : file_(file), members_(members), out_(out) {}

  std::optional<std::string> text(std::string_view name) {
    return value(name, "a string", [](const RawJson& json) { return text_of(&json); });
  }
  std::optional<double> decimal(std::string_view name) {
    return value(name, "a number of 0 or more", [](const RawJson& json) {
      const auto number = parse_number<double>(json.text());
      return number && *number >= 0 ? number : std::nullopt;
    });
  }
  std::optional<std::int64_t> count(std::string_view name) {
    return value(name, "a whole number of 1 or more", [](const RawJson& json) {
      const auto number = parse_number<std::int64_t>(json.text());
      return number && *number > 0 ? number : std::nullopt;
    });
  }
  std::optional<bool> boolean(std::string_view name) {
    return value(name, "true or false",
                 [](const RawJson& json) { return parse_boolean(json.text()); });
  }

 private:
  template <class Read>
  std::invoke_result_t<Read, const RawJson&> value(std::string_view name, std::string_view expected,
                                                   const Read& read) {
    const RawJson default_value = json::take(default_of(name));
    if (const RawJson* const json = json::find_field(members_, name); json != nullptr) {
      if (auto found = read(*json); found) {
        return found;
      }
      out_.faults.push_back(
          cat(file_.native(), ": ", name, " must be ", expected, "; ",
              default_value.is_null() ? "it is left out" : "the default is used"));
    }
    return read(default_value);
  }

  const fs::path& file_;
  const Extra& members_;
  Defaults& out_;
};

bool is_default_value(std::string_view name, const std::string& value) {
  const RawJson default_value = json::take(default_of(name));
  return value == text_of(&default_value);
}

Defaults defaults_in(const fs::path& file, const Document& document) {
  Defaults out;
  if (document.unreadable && document.extra.empty()) {
    out.is_damaged = true;
    out.faults.push_back(cat(file.native(), ": ", document.unreadable->reason));
  }
  DefaultsReader read(file, document.extra, out);
  out.provider = provider_name(read.text("provider").value_or(""));
  out.base_url = read.text("base_url").value_or("");
  out.env_key = read.text("env_key").value_or("");
  // The defaults of the format are OpenAI's. With another provider, they stand for that provider's
  // own.
  for (auto [name, value] : {std::pair{"base_url", &out.base_url}, {"env_key", &out.env_key}}) {
    if (is_default_value(name, *value)) {
      value->clear();
    }
  }
  out.model = read.text("model");
  out.system = read.text("system");
  out.temperature = read.decimal("temperature");
  out.max_tokens = read.count("max_tokens");
  out.stream = read.boolean("stream_default").value_or(true);
  out.save_path = read.text("save_path_default").value_or("");
  return out;
}

}  // namespace

Result<Defaults> read_defaults(const fs::path& file) {
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(file)));
  if (!bytes) {
    return defaults_in(file, {});
  }
  REPRISE_ASSIGN(const Origin origin, origin_of(file));
  return defaults_in(file, decode(origin, *bytes));
}

Result<> create_context_file(const fs::path& file, std::string_view model) {
  REPRISE_TRY(make_private_folders(folder_of(file)));
  auto made = open_file(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!made && made.error().os_errno == EEXIST) {
    return fail(Code::conflict, cat(file.native(), " already exists and was not changed"), EEXIST);
  }
  if (!made) {
    return std::unexpected(std::move(made).error());
  }
  Document document;
  json::set_field(document.extra, "model", RawJson::string(model));
  json::set_field(document.extra, "system", RawJson::string(kDefaultPrompt));
  REPRISE_ASSIGN(const Origin origin, origin_of(file));
  REPRISE_ASSIGN(const std::string bytes, encode(origin, document));
  REPRISE_TRY(write_all(made->get(), bytes, file));
  REPRISE_TRY(sync_file(made->get(), file));
  REPRISE_TRY(made->close(file));
  return sync_folder(folder_of(file));
}

}  // namespace reprise::store::context
