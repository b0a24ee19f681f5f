#include "engine/lesson.h"

#include <string>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise {
namespace {

std::string note_name(const Maker& target) {
  return cat(target.provider, " ", target.host, " ", target.model);
}

// nullopt for one that is too old, or from the future because the clock was set back.
std::optional<Time> fresh_time(JsonView text, Time now) {
  const auto time = parse_time(text.text());
  const bool is_fresh = time && now - *time < kLessonAge && *time - now < kLessonAge;
  return is_fresh ? time : std::nullopt;
}

}  // namespace

RequestForm lasting_part(const RequestForm& form) {
  RequestForm out = form;
  out.omits_opaque = out.omits_media = out.short_answers = false;
  return out;
}

Lesson read_lesson(ServerNotes* notes, const Maker& target, Time now) {
  const std::string note = notes == nullptr ? "" : notes->read(note_name(target));
  Lesson lesson;
  if (!is_json_object(note)) {
    return lesson;
  }
  const auto [form, form_at, limit, limit_at] =
      JsonView(note).members({"form", "form_at", "limit", "limit_at"});
  if (const auto time = fresh_time(form_at, now); time) {
    lesson.form = lasting_part(form_named(form));
    lesson.form_at = *time;
  }
  if (const auto time = fresh_time(limit_at, now); time) {
    lesson.limit.value = limit.count();
    lesson.limit_at = *time;
  }
  return lesson;
}

Result<> write_lesson(ServerNotes& notes, const Maker& target, const Lesson& lesson) {
  std::string out;
  json::ObjectWriter object(out);
  if (lesson.form != RequestForm()) {
    object.raw("form", json::array_of(form_names(lesson.form)))
        .field("form_at", format_time(lesson.form_at));
  }
  if (lesson.limit.value > 0) {
    object.field("limit", lesson.limit.value).field("limit_at", format_time(lesson.limit_at));
  }
  object.close();
  return notes.write(note_name(target), out);
}

}  // namespace reprise
