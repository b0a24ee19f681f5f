#pragma once

// A request of `append --json -`: one JSON object, whose members are read by name and type.

#include <optional>     // IWYU pragma: export
#include <span>         // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export
#include <vector>       // IWYU pragma: export

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise::cli {

class LineRequest {
 public:
  // invalid_argument for anything but one JSON object in valid UTF-8.
  static Result<LineRequest> parse(std::string_view line);

  // invalid_argument, which names it, for a member that is not among these.
  Result<> check_members(std::span<const std::string_view> known) const;

  // The value of a member; nullopt if it is absent. invalid_argument for another type.
  Result<std::optional<std::string>> find_text(std::string_view name) const;
  Result<std::optional<std::int64_t>> find_number(std::string_view name, std::int64_t min) const;
  Result<bool> flag(std::string_view name) const;  // false if it is absent
  // invalid_argument also if it is absent.
  Result<std::string> text(std::string_view name) const;
  // "" if it is absent.
  std::string_view raw(std::string_view name) const;

 private:
  struct Member {
    std::string name;
    std::string_view raw;  // of the line
  };
  std::vector<Member> members_;
};

}  // namespace reprise::cli
