#pragma once

// The content of a message in the file: what the original program shows and sends, which is the
// message's texts and the results of its tools. Whatever else the message has is in our sidecar,
// which refers to these texts by their lengths. So each text is in the file once, and the sidecar
// is bound to the content that it was made for.

#include "reprise/message.h"

namespace reprise::store::sessions {

std::string content_of(const Message& message);

// Of a message that consists of this content.
std::vector<Block> blocks_of(std::string content);

// Like message_sidecar() and add_message_sidecar(). `native` has blocks_of() its content.
std::string entry_sidecar(const Message& message, const Message& native);
Result<> add_entry_sidecar(Message& native, std::string_view sidecar);

}  // namespace reprise::store::sessions
