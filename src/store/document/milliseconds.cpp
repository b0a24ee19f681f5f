#include "store/document/milliseconds.h"

#include "reprise/types.h"

namespace reprise::store {

std::string format_milliseconds(Time time) {
  std::string text = format_time(cut_to_milliseconds(time));
  if (text.find('.') == std::string::npos) {
    text.insert(text.size() - 1, ".000");
  }
  return text;
}

Time cut_to_milliseconds(Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time);
}

}  // namespace reprise::store
