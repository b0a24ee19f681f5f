#include "base/zstd_library.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/dynamic_library.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise {
namespace {

constexpr int kLevel = 1;
constexpr std::size_t kPieceBytes = 256U << 10;
constexpr std::string_view kMagic = "\x28\xB5\x2F\xFD";

struct ZstdLibrary : LibraryFunctions {
  LazyFunction<decltype(&::ZSTD_compress)> compress{*this, "ZSTD_compress"};
  LazyFunction<decltype(&::ZSTD_compressBound)> bound{*this, "ZSTD_compressBound"};
  LazyFunction<decltype(&::ZSTD_isError)> is_error{*this, "ZSTD_isError"};
  LazyFunction<decltype(&::ZSTD_getErrorName)> error_name{*this, "ZSTD_getErrorName"};
  LazyFunction<decltype(&::ZSTD_createDStream)> create_stream{*this, "ZSTD_createDStream"};
  LazyFunction<decltype(&::ZSTD_freeDStream)> free_stream{*this, "ZSTD_freeDStream"};
  LazyFunction<decltype(&::ZSTD_decompressStream)> decompress{*this, "ZSTD_decompressStream"};
};

Result<const ZstdLibrary*> zstd_library() {
  static const auto loaded =
      load_library<ZstdLibrary>("zstd (Debian's libzstd1)", {"libzstd.so.1", "libzstd.so"});
  return loaded;
}

}  // namespace

std::string zstd_packed(std::string_view bytes) {
  const auto zstd = zstd_library();
  if (!zstd) {
    return std::string(bytes);
  }
  std::string frame;
  frame.resize_and_overwrite((*zstd)->bound(bytes.size()), [&](char* into, std::size_t capacity) {
    const std::size_t size = (*zstd)->compress(into, capacity, bytes.data(), bytes.size(), kLevel);
    return (*zstd)->is_error(size) != 0 || size >= bytes.size() ? 0 : size;
  });
  return frame.empty() ? std::string(bytes) : frame;
}

bool is_zstd_frame(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

Result<> zstd_unpack(const ZstdRead& read, const ZstdWrite& write) {
  REPRISE_ASSIGN(const ZstdLibrary* const zstd, zstd_library());
  const std::unique_ptr<ZSTD_DStream, decltype(&::ZSTD_freeDStream)> stream(
      zstd->create_stream(), zstd->free_stream.function());
  if (!stream) {
    return fail(Code::io, "out of memory while unpacking");
  }
  std::string from(kPieceBytes, '\0');
  std::string to(kPieceBytes, '\0');
  std::size_t left = 0;  // of a frame
  for (;;) {
    REPRISE_ASSIGN(const std::size_t got, read(from));
    if (got == 0) {
      return left == 0 ? Result<>() : fail(Code::corrupt, "the compressed data is truncated");
    }
    ZSTD_inBuffer in{from.data(), got, 0};
    bool is_full = true;
    while (in.pos < in.size || is_full) {
      ZSTD_outBuffer out{to.data(), to.size(), 0};
      left = zstd->decompress(stream.get(), &out, &in);
      if (zstd->is_error(left) != 0) {
        return fail(Code::corrupt, cat("not zstd data: ", zstd->error_name(left)));
      }
      is_full = out.pos == out.size && left > 0;  // at the end of a frame no output is pending
      REPRISE_TRY(write(std::string_view(to).substr(0, out.pos)));
    }
  }
}

Result<std::string> zstd_unpacked(std::string_view bytes) {
  if (!is_zstd_frame(bytes)) {
    return std::string(bytes);
  }
  std::string out;
  const auto read = [&](std::span<char> into) -> Result<std::size_t> {
    const std::size_t count = std::min(into.size(), bytes.size());
    std::ranges::copy(bytes.substr(0, count), into.begin());
    bytes.remove_prefix(count);
    return count;
  };
  const auto write = [&](std::string_view piece) -> Result<> {
    out += piece;
    return {};
  };
  REPRISE_TRY(zstd_unpack(read, write));
  return out;
}

}  // namespace reprise
