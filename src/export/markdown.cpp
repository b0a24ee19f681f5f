// A transcript in Markdown, with images, documents and large results in separate files.

#include "base/encode.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/transcript.h"
#include "model/attachment.h"

namespace reprise::exporting {
namespace {

class MarkdownWriter final : public Writer {
 public:
  explicit MarkdownWriter(Job& job) : job_(job) {}

  Result<> begin() override {
    return job_.output.write(transcript_head(&job_.source, job_.session));
  }

  Result<> message(const Message& message) override {
    has_questions_ = has_questions_ || message.role == role::kUser;
    Message head = message;
    head.blocks.clear();
    REPRISE_TRY(job_.output.write(transcript_message(head, Detail::full)));
    for (const Block& block : message.blocks) {
      REPRISE_ASSIGN(const std::string text, block_text(block));
      REPRISE_TRY(job_.output.write(cat("\n", text)));
    }
    REPRISE_TRY(job_.output.write(cat(transcript_sources(message), usage_line(message))));
    last_ = std::move(head);
    return {};
  }

  Result<> end() override {
    const SessionSnapshot now{.session = job_.session};
    std::string text = transcript_end(now, last_ ? &*last_ : nullptr, Detail::full);
    if (!has_questions_) {
      text += transcript_prompts(job_.session.prompt_history);
    }
    return job_.output.write(text);
  }

 private:
  static std::string usage_line(const Message& message) {
    if (!message.usage) {
      return "";
    }
    const Usage& usage = *message.usage;
    return cat("\n*tokens: ", usage.input.value, " in, ", usage.output.value, " out",
               usage.cost ? cat(", $", usage.cost->str()) : "", "*\n");
  }

  Result<std::string> block_text(const Block& block) {
    if (const auto* result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      return result_text(*result);
    }
    if (const auto* image = std::get_if<ImageBlock>(&block); image != nullptr) {
      return image_text(*image);
    }
    return transcript_block(block, Detail::full);
  }

  Result<std::string> result_text(const ToolResultBlock& result) {
    if (!result.blob) {
      return transcript_block(result, Detail::full);
    }
    ToolResultBlock shown = result;
    if (!job_.output.accepts_files()) {
      REPRISE_ASSIGN(shown.text, full_text(job_, result));
      return transcript_block(shown, Detail::full);
    }
    bool is_readable = true;
    const auto fill = [&](const ExportOutput::Piece& piece) -> Result<> {
      REPRISE_ASSIGN(is_readable, read_blob(job_, *result.blob, piece));
      return is_readable ? Result<>() : fail(Code::corrupt, "the result cannot be read");
    };
    const auto name = job_.output.add_file(cat(result.blob->str().substr(0, 16), ".txt"), fill);
    if (!is_readable) {  // reported as damage
      return transcript_block(shown, Detail::full);
    }
    REPRISE_TRY(name);
    return cat(transcript_block(shown, Detail::full), "\n[the whole result](", *name, ")\n");
  }

  Result<std::string> image_text(const ImageBlock& image) {
    const bool is_pdf = model::is_pdf(image);
    if (!job_.output.accepts_files()) {
      if (image.blob || image.url.starts_with("data:")) {
        job_.losses.emplace(is_pdf ? "documents; export into a folder (-o FOLDER/) to have them"
                                   : "images; export into a folder (-o FOLDER/) to have them");
      }
      return transcript_block(image, Detail::full);
    }
    REPRISE_ASSIGN(const std::optional<Media> media, read_media(job_, image));
    if (!media || media->base64.empty()) {
      return transcript_block(image, Detail::full);
    }
    const std::string bytes = base64_decode(media->base64).value_or("");
    REPRISE_ASSIGN(const BlobHash hash, sha256(bytes));
    REPRISE_ASSIGN(const std::string name,
                   job_.output.add_file(cat(hash.str().substr(0, 16), ".", ending_of(media->type)),
                                        [&bytes](const ExportOutput::Piece& piece) -> Result<> {
                                          return piece(bytes);
                                        }));
    return cat(is_pdf ? "[document](" : "![image](", name, ")\n");
  }

  Job& job_;
  bool has_questions_ = false;
  std::optional<Message> last_;  // without its blocks
};

}  // namespace

std::unique_ptr<Writer> make_markdown(Job& job) {
  return std::make_unique<MarkdownWriter>(job);
}

}  // namespace reprise::exporting
