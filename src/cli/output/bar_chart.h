#pragma once

// Bars behind the lines of a table.

#include <cstddef>
#include <cstdint>
#include <string>

namespace reprise::cli {

// Of `value` in a chart whose longest bar, of `columns`, is `most`. In eighths of a column; "" for
// nothing, and at least the thinnest for anything else.
std::string bar(std::int64_t value, std::int64_t most, std::size_t columns);

// "0", "999", "1.2k", "12k", "1.2M", "34M": at most four characters, five for more than 999G.
std::string compact_count(std::int64_t count);

}  // namespace reprise::cli
