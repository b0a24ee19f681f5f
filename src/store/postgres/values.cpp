#include "store/postgres/values.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "store/column_names.h"

namespace reprise::postgres {
namespace {

// The OIDs of these types, which are the same on every server.
constexpr std::int32_t kBytea = 17;
constexpr std::int32_t kInt8 = 20;

// In network order.
template <class Number>
void append_number(std::string& out, Number number) {
  char bytes[sizeof(Number)];
  for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
    bytes[byte] = static_cast<char>(
        (static_cast<std::uint64_t>(number) >> (8 * (sizeof(Number) - 1 - byte))) & 0xFF);
  }
  out.append(bytes, sizeof bytes);
}

// The header of an array with one dimension and lower bound 1.
void append_array_head(std::string& out, std::size_t count, std::int32_t type) {
  append_number(out, std::int32_t{count == 0 ? 0 : 1});
  append_number(out, std::int32_t{1});  // the array may contain nulls
  append_number(out, type);
  if (count > 0) {
    append_number(out, static_cast<std::int32_t>(count));
    append_number(out, std::int32_t{1});
  }
}

}  // namespace

void Values::add(std::string_view bytes) {
  begin();
  bytes_ += bytes;
}

void Values::add(std::int64_t number) {
  begin();
  append_number(bytes_, number);
}

void Values::add(const Integers& numbers) {
  begin();
  append_array_head(bytes_, numbers.size(), kInt8);
  for (const std::int64_t number : numbers) {
    append_number(bytes_, static_cast<std::int32_t>(sizeof number));
    append_number(bytes_, number);
  }
}

void Values::add(const ByteStrings& strings) {
  begin();
  append_array_head(bytes_, strings.size(), kBytea);
  for (const auto& string : strings) {
    append_number(bytes_, string ? static_cast<std::int32_t>(string->size()) : std::int32_t{-1});
    if (string) {
      bytes_ += *string;
    }
  }
}

Values::Bound Values::bound() const {
  Bound bound;
  bound.values.reserve(slots_.size());
  bound.lengths.reserve(slots_.size());
  bound.formats.assign(slots_.size(), 1);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto [begin, is_null] = slots_[i];
    const std::size_t end = i + 1 < slots_.size() ? slots_[i + 1].begin : bytes_.size();
    bound.values.push_back(is_null ? nullptr : bytes_.data() + begin);
    bound.lengths.push_back(static_cast<int>(end - begin));
  }
  return bound;
}

const store::ColumnNames& Rows::names() const {
  if (names_.empty()) {
    for (int i = 0; i < libpq_->column_count(result_.get()); ++i) {
      names_.add(libpq_->column_name(result_.get(), i));
    }
  }
  return names_;
}

bool Rows::is_null(int row, store::Column column) const {
  return libpq_->is_null(result_.get(), row, static_cast<int>(column)) != 0;
}

std::string_view Rows::bytes(int row, store::Column column) const {
  const int at = static_cast<int>(column);
  return {libpq_->value(result_.get(), row, at),
          static_cast<std::size_t>(libpq_->length(result_.get(), row, at))};
}

std::int64_t Rows::integer(int row, store::Column column) const {
  const std::string_view raw = bytes(row, column);
  if (raw.empty()) {
    return 0;
  }
  if (raw.size() == sizeof(std::uint64_t)) {
    std::uint64_t number = 0;
    std::memcpy(&number, raw.data(), sizeof number);
    if constexpr (std::endian::native == std::endian::little) {
      number = std::byteswap(number);
    }
    return static_cast<std::int64_t>(number);
  }
  // Sign-extends shorter integers.
  std::uint64_t number = (static_cast<unsigned char>(raw.front()) & 0x80U) != 0 ? ~0ULL : 0;
  for (const char byte : raw) {
    number = (number << 8U) | static_cast<unsigned char>(byte);
  }
  return static_cast<std::int64_t>(number);
}

std::optional<std::string> Rows::find_text(int row, std::string_view column) const {
  return is_null(row, column) ? std::nullopt : std::optional(text(row, column));
}

}  // namespace reprise::postgres
