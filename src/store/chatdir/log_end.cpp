#include "store/chatdir/log_end.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/encode.h"
#include "base/file.h"
#include "reprise/types.h"
#include "store/chatdir/file_window.h"
#include "store/chatdir/trailer.h"
#include "store/rules.h"

namespace reprise::store::chatdir {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTailBytes = 64;
constexpr std::int64_t kPeekBytesMin = 4096;
constexpr std::int64_t kPeekBytesMax = std::int64_t{1} << 20;

}  // namespace

Result<Fd> open_regular(const fs::path& file) {
  auto fd = open_file(file, O_RDONLY);
  if (!fd && fd.error().code == Code::invalid_argument) {
    fd.error().code = Code::corrupt;  // a folder, a link, a pipe
  }
  return fd;
}

Result<Tail> tail_before(int fd, const fs::path& file, std::int64_t end) {
  std::array<char, kTailBytes> bytes{};
  const std::int64_t from = std::max<std::int64_t>(0, end - kTailBytes);
  const std::span<char> buffer(bytes.data(), static_cast<std::size_t>(end - from));
  REPRISE_ASSIGN(const std::size_t count, read_at(fd, buffer, from, file));
  const std::string_view text(bytes.data(), count);
  return Tail{fnv1a(text), text.empty() || text.ends_with('\n')};
}

Time time_of(const timespec& time) {
  return Time(std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

LogState LogState::of_nothing() {
  LogState nothing;
  nothing.tail = fnv1a("");
  return nothing;
}

Result<LogPoint> point_at_end(const fs::path& file) {
  REPRISE_ASSIGN(const Fd fd, open_regular(file));
  REPRISE_ASSIGN(const struct stat status, status_of(fd.get(), file));
  REPRISE_ASSIGN(const Tail tail, tail_before(fd.get(), file, status.st_size));
  return LogPoint{status.st_size, tail.hash};
}

Result<std::optional<LogState>> peek_state(const fs::path& file) {
  REPRISE_ASSIGN(const Fd fd, open_regular(file));
  REPRISE_ASSIGN(const struct stat status, status_of(fd.get(), file));
  const std::int64_t size = status.st_size;
  LogState state{.end = size, .size = size};
  state.changed = time_of(status.st_mtim);
  REPRISE_ASSIGN(const Tail tail, tail_before(fd.get(), file, size));
  state.tail = tail.hash;
  if (size == 0) {
    return state;
  }
  for (std::int64_t bytes = kPeekBytesMin; tail.ends_line && bytes <= kPeekBytesMax; bytes *= 16) {
    const std::int64_t from = std::max<std::int64_t>(0, size - bytes);
    FileWindow window(fd.get(), file, static_cast<std::size_t>(size - from));
    REPRISE_ASSIGN(const std::string_view text,
                   window.view(from, static_cast<std::size_t>(size - from)));
    auto found = find_trailer(text);
    if (found && found->trailer->line < from) {
      continue;  // retries with the whole line
    }
    if (found && found->trailer->ends_batch() && is_valid_position(found->trailer->seq) &&
        text.find('\0') == std::string_view::npos &&
        found->trailer->at == from + static_cast<std::int64_t>(found->position)) {
      state.head = found->trailer->seq.next();
      state.trailer = std::move(found->trailer);
      state.trailer_is_last = true;
      return state;
    }
    if (found || from == 0) {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace reprise::store::chatdir
