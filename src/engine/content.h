#pragma once

// What a message says: its role and its blocks, whenever and by whom they were written.

#include <string>

#include "reprise/message.h"

namespace reprise {

// Equal for messages with the same content, which may differ in times, models, usage and unknown
// fields, in whether an image is a blob or within the message, and in where a text is divided.
std::string content_of(const Message& message);
// As in earlier versions, which also compared unknown fields of blocks.
std::string older_content_of(const Message& message);
bool has_same_content(const Message& message, const Message& other);

// Whether an answer is a stored one to which its tool has added since: it is written block by
// block, or was interrupted before.
bool has_grown(const Message& stored, const Message& answer);

}  // namespace reprise
