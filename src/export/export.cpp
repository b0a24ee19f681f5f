#include "reprise/export.h"

#include <iterator>

#include "base/text.h"
#include "export/formats.h"
#include "export/names.h"
#include "export/original.h"
#include "export/tool_values.h"
#include "model/known_time.h"
#include "reprise/conversation.h"

namespace reprise {

Result<std::string> ExportOutput::add_file(std::string_view name,
                                           const std::function<Result<>(const Piece&)>& /*fill*/) {
  return fail(Code::unsupported, cat("this output cannot take the file ", name));
}

Result<std::string> exported_id(Source& source, const Session& session,
                                const ExportFormat& format) {
  REPRISE_ASSIGN(const auto original,
                 exporting::find_original(source, session, exporting::format_of(format)));
  return original ? original->id : exporting::uuid_of(session);
}

Result<Exported> export_session(Source& source, const SessionId& id, const ExportFormat& format,
                                ExportOutput& output, const std::stop_token& stop) {
  const exporting::Format& entry = exporting::format_of(format);
  REPRISE_ASSIGN(const SessionNow now, get_now(source, id));
  const bool needs_times = !format.tool.empty();
  REPRISE_ASSIGN(const Session session, needs_times ? exporting::with_times(source, now.session)
                                                    : Result<Session>(now.session));
  exporting::Job job{.source = source, .session = session, .output = output};
  REPRISE_ASSIGN(const auto original, exporting::find_original(source, now.session, entry));
  if (original) {
    REPRISE_TRY(write_original(job, *original));
    return Exported{.messages = now.session.info.head.value, .losses = {}, .damage = {}};
  }
  REPRISE_TRY(add_losses(job, entry.loses));
  const auto note_time = [&](Time time) {
    if (needs_times && !is_known(time)) {
      job.losses.emplace("that times are unknown: others are written");
    }
  };
  note_time(now.session.info.created_at);
  note_time(now.session.info.updated_at);
  if (!source.capabilities().messages) {
    job.losses.emplace("the messages, which are with the provider");
  }
  const std::unique_ptr<exporting::Writer> writer = entry.make(job);
  REPRISE_TRY(writer->begin());
  Exported exported;
  Result<> written;
  const auto write = [&](const Message& message) {
    add_losses(job, message, entry.loses);
    note_time(message.created_at);
    written = stop.stop_requested() ? fail(Code::cancelled, "stopped") : writer->message(message);
    ++exported.messages;
    return written ? Flow::proceed : Flow::stop;
  };
  REPRISE_ASSIGN(ReadReport report, source.read(id, now.range(), write));
  REPRISE_TRY(written);
  if (now.answer && !now.answer->message.blocks.empty()) {
    write(now.answer->message);
    REPRISE_TRY(written);
  }
  REPRISE_TRY(writer->end());
  exported.losses.assign(job.losses.begin(), job.losses.end());
  exported.damage = std::move(report.damage);
  std::ranges::move(job.damage, std::back_inserter(exported.damage));
  return exported;
}

}  // namespace reprise
