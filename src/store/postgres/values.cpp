#include "store/postgres/values.h"

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace reprise::postgres {
namespace {

// The numbers by which every server knows these types.
constexpr std::int32_t kBytea = 17;
constexpr std::int32_t kInt8 = 20;

template <class Number>
void append_number(std::string& out, Number number) {
  for (std::size_t byte = sizeof(Number); byte-- > 0;) {
    out += static_cast<char>((static_cast<std::uint64_t>(number) >> (8 * byte)) & 0xFF);
  }
}

// One dimension whose first index is 1.
std::string array_head(std::size_t count, std::int32_t type) {
  std::string out;
  append_number(out, std::int32_t{count == 0 ? 0 : 1});
  append_number(out, std::int32_t{1});  // there may be nulls
  append_number(out, type);
  if (count > 0) {
    append_number(out, static_cast<std::int32_t>(count));
    append_number(out, std::int32_t{1});
  }
  return out;
}

}  // namespace

void Values::add(std::string_view bytes) {
  values_.emplace_back(bytes);
}

void Values::add(std::int64_t number) {
  std::string out;
  append_number(out, number);
  values_.emplace_back(std::move(out));
}

void Values::add(const Integers& numbers) {
  std::string out = array_head(numbers.size(), kInt8);
  for (const std::int64_t number : numbers) {
    append_number(out, static_cast<std::int32_t>(sizeof number));
    append_number(out, number);
  }
  values_.emplace_back(std::move(out));
}

void Values::add(const ByteStrings& strings) {
  std::string out = array_head(strings.size(), kBytea);
  for (const auto& string : strings) {
    append_number(out, string ? static_cast<std::int32_t>(string->size()) : std::int32_t{-1});
    if (string) {
      out += *string;
    }
  }
  values_.emplace_back(std::move(out));
}

Values::Bound Values::bound() const {
  Bound bound;
  bound.values.reserve(values_.size());
  bound.lengths.reserve(values_.size());
  bound.formats.assign(values_.size(), 1);
  for (const auto& value : values_) {
    bound.values.push_back(value ? value->data() : nullptr);
    bound.lengths.push_back(value ? static_cast<int>(value->size()) : 0);
  }
  return bound;
}

bool Rows::is_null(int row, int column) const {
  return libpq_->is_null(result_.get(), row, column) != 0;
}

std::string_view Rows::bytes(int row, int column) const {
  return {libpq_->value(result_.get(), row, column),
          static_cast<std::size_t>(libpq_->length(result_.get(), row, column))};
}

std::int64_t Rows::integer(int row, int column) const {
  const std::string_view raw = bytes(row, column);
  if (raw.empty()) {
    return 0;
  }
  if (raw.size() == sizeof(std::uint64_t)) {
    std::uint64_t whole = 0;
    std::memcpy(&whole, raw.data(), sizeof whole);
    return static_cast<std::int64_t>(be64toh(whole));
  }
  // Shorter integers keep their sign.
  std::uint64_t number = (static_cast<unsigned char>(raw.front()) & 0x80U) != 0 ? ~0ULL : 0;
  for (const char byte : raw) {
    number = (number << 8U) | static_cast<unsigned char>(byte);
  }
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> Rows::find_integer(int row, int column) const {
  return is_null(row, column) ? std::nullopt : std::optional(integer(row, column));
}

std::optional<std::string> Rows::find_text(int row, int column) const {
  return is_null(row, column) ? std::nullopt : std::optional(text(row, column));
}

}  // namespace reprise::postgres
