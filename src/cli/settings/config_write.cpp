#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>

#include "base/file.h"
#include "base/json_write.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/settings/config.h"
#include "cli/settings/config_values.h"

namespace reprise::cli {
namespace {

struct Bytes {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// toml++ counts lines and columns from 1, columns in code points.
std::size_t offset_of(std::string_view text, const toml::source_position& position) {
  std::size_t at = 0;
  for (toml::source_index line = 1; line < position.line && at < text.size(); ++line) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  for (toml::source_index column = 1; column < position.column && at < text.size(); ++column) {
    do {
      ++at;
    } while (at < text.size() && utf8::is_continuation(text[at]));
  }
  return at;
}

// The table of the key; null if it does not exist yet.
const toml::table* table_of(const toml::table& root, const KeyPath& path) {
  if (path.section == Section::top) {
    return &root;
  }
  const toml::table* const kinds =
      root[path.section == Section::provider ? "providers" : "mode"].as_table();
  return kinds == nullptr ? nullptr : (*kinds)[path.name].as_table();
}

std::optional<Bytes> find_value(std::string_view text, const toml::table& root,
                                const KeyPath& path) {
  const toml::table* const table = table_of(root, path);
  const toml::node* const node = table == nullptr ? nullptr : table->get(path.key->name);
  if (node == nullptr) {
    return std::nullopt;
  }
  return Bytes{offset_of(text, node->source().begin), offset_of(text, node->source().end)};
}

std::string header_of(const KeyPath& path) {
  return cat("[", path.section == Section::provider ? "providers." : "mode.", path.name, "]");
}

// The end of the last line with a key, between `begin` and the next header.
std::size_t end_of_keys(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  for (std::size_t at = begin; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = trimmed(text.substr(at, stop - at));
    if (line.starts_with('[')) {
      return end;
    }
    end = line.empty() || line.starts_with('#') ? end : stop;
    at = stop;
  }
  return end == begin && begin == 0 ? text.size() : end;
}

// Where to insert a line for the key; nullopt if its table has no header.
std::optional<std::size_t> insertion_offset(std::string_view text, const KeyPath& path) {
  if (path.section == Section::top) {
    const std::size_t end = end_of_keys(text, 0);
    // If the top has only comments, this is before the first header.
    return end;
  }
  const std::string header = header_of(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (trimmed(text.substr(at, stop - at)).starts_with(header)) {
      return end_of_keys(text, stop);
    }
    at = stop;
  }
  return std::nullopt;
}

std::string with_new_line(std::string_view text, const KeyPath& path, std::string_view literal) {
  const std::string line = cat(path.key->name, " = ", literal, "\n");
  std::string out(text);
  if (!out.empty() && !out.ends_with('\n')) {
    out += '\n';
  }
  if (const auto position = insertion_offset(out, path)) {
    return out.insert(*position, line);
  }
  return cat(out, out.empty() ? "" : "\n", header_of(path), "\n", line);
}

Result<toml::table> parse(std::string_view text, std::string_view file) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const auto& position = parsed.error().source().begin;
    return fail(Code::invalid_argument,
                cat(file, ", line ", position.line, ", column ", position.column,
                    ": not valid TOML: ", parsed.error().description()));
  }
  return std::move(parsed).table();
}

// The expected document after the change, to verify the edit.
Result<toml::table> expected(const toml::table& before, const KeyPath& path,
                             std::string_view literal) {
  REPRISE_ASSIGN(toml::table value, parse(cat(path.key->name, " = ", literal), "the value"));
  toml::table after = before;
  toml::table* table = &after;
  if (path.section != Section::top) {
    const std::string_view kind = path.section == Section::provider ? "providers" : "mode";
    after.emplace<toml::table>(kind);
    toml::table* const kinds = after[kind].as_table();
    if (kinds != nullptr) {
      kinds->emplace<toml::table>(path.name);
      table = (*kinds)[path.name].as_table();
    }
  }
  if (table != nullptr) {
    table->insert_or_assign(path.key->name, *value.get(path.key->name));
  }
  return after;
}

Result<> read(std::string_view text, std::string_view file, LoadedSettings& out) {
  REPRISE_ASSIGN(const toml::table table, parse(text, file));
  return read_config(table, ConfigValues(std::string(file), FileRank::user, out));
}

constexpr std::chrono::seconds kConfigLockTimeout{5};
constexpr std::string_view kByHand = "cannot change that line; use `reprise config edit`";

}  // namespace

Result<std::string> with_setting(std::string_view text, const KeyPath& path,
                                 std::string_view literal) {
  REPRISE_ASSIGN(const toml::table before, parse(text, "the settings"));
  REPRISE_ASSIGN(const toml::table intended, expected(before, path, literal));
  std::string out;
  if (const auto value = find_value(text, before, path)) {
    out = cat(text.substr(0, value->begin), literal, text.substr(value->end));
  } else {
    out = with_new_line(text, path, literal);
  }
  const auto after = parse(out, "");
  if (!after || *after != intended) {
    return fail(Code::unsupported, std::string(kByHand));
  }
  return out;
}

Result<std::string> with_trusted_folder(std::string_view text, std::string_view folder) {
  REPRISE_ASSIGN(const toml::table before, parse(text, "the settings"));
  const KeyPath path{.key = find_config_key(Section::top, "trust")};
  const auto value = find_value(text, before, path);
  if (!value) {
    return with_setting(text, path, cat("[", json::quoted(folder), "]"));
  }
  // Inserted as the first element, so that the others are unchanged.
  const std::string_view old = text.substr(value->begin, value->end - value->begin);
  const toml::array* const folders = before["trust"].as_array();
  if (folders == nullptr || !old.starts_with('[')) {
    return fail(Code::unsupported, std::string(kByHand));
  }
  return with_setting(text, path,
                      cat("[", json::quoted(folder), folders->empty() ? "" : ", ", old.substr(1)));
}

Result<std::vector<std::string>> trusted_folders(std::string_view text, std::string_view file) {
  LoadedSettings loaded;
  REPRISE_TRY(read(text, file, loaded));
  return std::move(loaded.settings.trust);
}

Result<> check_config(std::string_view text, std::string_view file) {
  LoadedSettings loaded;
  return read(text, file, loaded);
}

Result<std::string> config_text(const std::filesystem::path& file) {
  REPRISE_ASSIGN(auto text, if_exists(read_file(file, kConfigBytesMax)));
  return std::move(text).value_or("");
}

Result<> update_config(const std::filesystem::path& file, const ConfigChange& change) {
  REPRISE_TRY(make_private_folders(folder_of(file)));
  REPRISE_ASSIGN(const auto lock, LockFile::open(cat(file.native(), ".lock")));
  REPRISE_ASSIGN(const LockFile::Hold hold,
                 lock->acquire(std::chrono::steady_clock::now() + kConfigLockTimeout));
  REPRISE_ASSIGN(const std::string before, config_text(file));
  REPRISE_ASSIGN(const std::string text, change(before));
  if (text == before) {
    return {};
  }
  REPRISE_TRY(check_config(text, file.string()));
  return replace_file(file, text, [](const std::filesystem::path& temporary) -> Result<> {
    return ::chmod(temporary.c_str(), 0600) == 0
               ? Result<>()
               : std::unexpected(os_error("make private", temporary, errno));
  });
}

}  // namespace reprise::cli
