#include "reprise/mode.h"

#include <glob.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "engine/command.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kCommandTimeout{30};

struct GlobDeleter {
  void operator()(glob_t* found) const { ::globfree(found); }
};

// Below the session's folder, whose contents may come from somebody else. Absolute paths and those
// that leave it are the user's own.
bool is_below(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return path.is_relative() && *normal.begin() != "..";
}

// A pattern that matches only this name.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::string_view("*?[\\").contains(c)) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

// The matching names below the folder, sorted.
Result<std::vector<fs::path>> expand(const fs::path& folder, const fs::path& relative) {
  const fs::path pattern = fs::path(escaped(folder.native())) / relative;
  glob_t found{};
  const std::unique_ptr<glob_t, GlobDeleter> free_later(&found);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): only a ~ makes it look up users, and it takes none.
  const int status = ::glob(pattern.c_str(), GLOB_MARK, nullptr, &found);
  if (status == GLOB_NOMATCH) {
    return fail(Code::not_found, cat("no file matches ", (folder / relative).native()));
  }
  if (status != 0) {
    return fail(Code::io, cat("cannot look for ", (folder / relative).native()));
  }
  std::vector<fs::path> paths;
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    const std::string_view name = found.gl_pathv[i];
    if (!name.ends_with('/')) {
      paths.emplace_back(name);
    }
  }
  return paths;
}

class Loader {
 public:
  Loader(const fs::path& folder, const ContextObserver& observer, std::stop_token stop)
      : folder_(folder), observer_(observer), stop_(std::move(stop)) {}

  Result<std::string> load(const Mode& mode) {
    out_ = mode.system;
    for (const std::string& item : mode.context) {
      if (stop_.stop_requested()) {
        return fail(Code::cancelled, "stopped while loading the context");
      }
      if (const auto added = add(item); !added) {
        return fail_with_context(cat("mode ", mode.name, ": ", item), added.error());
      }
    }
    return std::move(out_);
  }

 private:
  Result<> add(std::string_view item) {
    const auto colon = item.find(':');
    const std::string_view kind = item.substr(0, colon);
    const std::string_view value = colon == std::string_view::npos ? "" : item.substr(colon + 1);
    if (kind == "file" && !value.empty()) {
      return add_file(value);
    }
    if (kind == "glob" && !value.empty()) {
      return add_glob(value);
    }
    if (kind == "cmd" && !value.empty()) {
      return add_command(std::string(value));
    }
    return fail(Code::invalid_argument,
                "unknown context: use file:PATH, glob:PATTERN or cmd:COMMAND");
  }

  // Links below the folder are not followed: read_file() refuses them.
  Result<fs::path> resolve(const fs::path& path) const {
    if (!is_below(path)) {
      return resolve_path(folder_ / path);
    }
    REPRISE_ASSIGN(const fs::path folder, resolve_path(folder_));
    return folder / path.lexically_normal();
  }

  Result<> add_file(const fs::path& path) {
    REPRISE_ASSIGN(const fs::path file, resolve(path));
    REPRISE_ASSIGN(const std::string text, read_file(file, remaining_bytes() + 1));
    return add_part(path.native(), text);
  }

  Result<> add_glob(std::string_view pattern) {
    REPRISE_ASSIGN(const auto paths, expand(folder_, pattern));
    std::int64_t links = 0;
    for (const fs::path& path : paths) {
      const fs::path relative = path.lexically_relative(folder_);
      REPRISE_ASSIGN(const fs::path file, resolve(relative));
      if (refuse_links(file)) {
        REPRISE_TRY(add_file(relative));
      } else {
        ++links;
      }
    }
    if (links > 0 && observer_.on_warning) {
      observer_.on_warning(cat("context: of glob:", utf8::sanitize(pattern), ", ",
                               counted(links, "file"), " with a link in the path left out"));
    }
    return {};
  }

  Result<> add_command(const std::string& line) {
    REPRISE_ASSIGN(const std::string output, run_command(line, {.folder = folder_,
                                                                .timeout = kCommandTimeout,
                                                                .bytes_max = remaining_bytes() + 1,
                                                                .stop = stop_}));
    return add_part(cat("$ ", line), output);
  }

  std::int64_t remaining_bytes() const {
    return std::max<std::int64_t>(0, kContextBytesMax - static_cast<std::int64_t>(out_.size()));
  }

  Result<> add_part(std::string_view name, std::string_view text) {
    if (static_cast<std::int64_t>(text.size()) > remaining_bytes()) {
      return fail(Code::invalid_argument,
                  cat("the context is larger than ", kContextBytesMax >> 20, " MiB"));
    }
    out_ +=
        cat(out_.empty() ? "" : "\n\n", "## ", utf8::sanitize(name), "\n\n", utf8::sanitize(text));
    if (observer_.on_note) {
      observer_.on_note(cat("context: ", utf8::sanitize(name), ", ", text.size(), " bytes"));
    }
    return {};
  }

  const fs::path& folder_;
  const ContextObserver& observer_;
  std::stop_token stop_;
  std::string out_;
};

}  // namespace

Result<std::string> load_context(const Mode& mode, const std::filesystem::path& folder,
                                 const ContextObserver& observer, std::stop_token stop) {
  return Loader(folder, observer, std::move(stop)).load(mode);
}

}  // namespace reprise
