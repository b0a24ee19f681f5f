#include "store/document/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "store/delta.h"
#include "store/stored_json.h"

namespace reprise::store {
namespace {

namespace fs = std::filesystem;

std::string line_start(const OperationId& answer) {
  return cat(R"({"answer":)", json::quoted(answer.str()), ",");
}

// The file's size, and whether it begins with a piece of this answer.
struct FileState {
  off_t size = 0;
  bool is_ours = false;
  bool ends_a_line = true;
};
Result<FileState> inspect(int fd, const fs::path& file, std::string_view start) {
  REPRISE_ASSIGN(const struct stat status, status_of(fd, file));
  FileState state{.size = status.st_size};
  std::array<char, 256> first{};  // an id has at most 200 bytes
  REPRISE_ASSIGN(const std::size_t got, read_at(fd, first, 0, file));
  std::array<char, 1> last = {'\n'};
  if (state.size > 0) {
    REPRISE_TRY(read_at(fd, last, state.size - 1, file));
  }
  state.is_ours = std::string_view(first.data(), got).starts_with(start);
  state.ends_a_line = last[0] == '\n';
  return state;
}

Result<> add_line(const fs::path& file, const OperationId& answer, std::string_view member) {
  REPRISE_ASSIGN(Fd out, open_file(file, O_RDWR | O_CREAT | O_APPEND, 0600));
  REPRISE_ASSIGN(FileState state, inspect(out.get(), file, line_start(answer)));
  if (!state.is_ours && state.size > 0) {
    if (::ftruncate(out.get(), 0) != 0) {
      return std::unexpected(os_error("empty", file, errno));
    }
    state = {};
  }
  const std::string line = cat(state.ends_a_line ? "" : "\n", line_start(answer), member, "}\n");
  if (auto written = write_all(out.get(), line, file); !written) {
    // Readers ignore an incomplete line, but the next piece must begin on a new one.
    (void)::ftruncate(out.get(), state.size);
    return written;
  }
  return out.close(file);
}

}  // namespace

Result<> add_partial(const fs::path& file, const OperationId& answer,
                     std::span<const Block> delta) {
  const std::vector<Block> blocks(delta.begin(), delta.end());
  return add_line(file, answer, cat(R"("blocks":)", blocks_to_json(blocks)));
}

Result<> add_lease(const fs::path& file, const OperationId& answer, const Lease& lease) {
  return add_line(file, answer, cat(R"("lease":)", lease_to_json(lease)));
}

namespace {

// The last lease in the whole lines at the end of `text`.
std::optional<Lease> last_lease(std::string_view text, std::string_view start) {
  while (!text.empty()) {
    const std::size_t before = text.rfind('\n');
    const std::string_view line = text.substr(before == std::string_view::npos ? 0 : before + 1);
    text.remove_suffix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(start)) {
      continue;
    }
    if (const auto lease = lease_from_json(json::find_member(line, "lease")); lease) {
      return lease;
    }
  }
  return std::nullopt;
}

}  // namespace

// It is renewed every few seconds, so only the tail of a long answer has to be read.
Result<std::optional<Lease>> read_lease(const fs::path& file, const OperationId& answer) {
  constexpr std::int64_t kTailBytesMin = 64 << 10;
  REPRISE_ASSIGN(const auto in, if_exists(open_file(file, O_RDONLY)));
  if (!in) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(const struct stat status, status_of(in->get(), file));
  const std::string start = line_start(answer);
  for (std::int64_t bytes = kTailBytesMin;; bytes *= 8) {
    const std::int64_t from = std::max<std::int64_t>(0, status.st_size - bytes);
    std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
    REPRISE_ASSIGN(const std::size_t got, read_at(in->get(), text, from, file));
    text.resize(got);
    if (const auto lease = last_lease(text, start); lease || from == 0) {
      return lease;
    }
  }
}

Result<std::vector<Block>> read_partial(const fs::path& file, const OperationId& answer) {
  REPRISE_ASSIGN(const auto bytes, if_exists(read_file(file)));
  const std::string text = bytes.value_or("");
  const std::string start = line_start(answer);
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(start)) {
      continue;
    }
    if (const auto delta = blocks_from_json(json::find_member(line, "blocks")); delta) {
      append_delta(blocks, *delta);
    }
  }
  return blocks;
}

Result<> remove_partial(const fs::path& file) {
  return remove_if_exists(file);
}

}  // namespace reprise::store
