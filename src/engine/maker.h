#pragma once

// Who made an answer, and in which form the request was: the provider, its server and the model.
// Opaque parts of an answer (signed or encrypted reasoning, blocks of the server's own tools,
// unknown members of calls) mean something only there, and call ids are accepted there as they
// came.
//
// It is an unknown field of the message, which every store keeps. Answers without it, of older
// versions and of other programs, are treated as made by somebody else.

#include "reprise/provider.h"

namespace reprise {

struct Maker {
  std::string provider;
  std::string host;
  std::string model;  // as it was requested
};

// Aliases ("m-latest", "m-20250929") are one model.
bool is_same(const Maker& a, const Maker& b);

Maker maker_at(const Provider& provider, std::string_view model);

std::optional<Maker> maker_of(const Message& answer);
// The form of the request that led to the answer.
RequestForm form_of(const Message& answer);

// Adds the field if the answer has opaque parts or calls, or the form is not the usual one.
void record_maker(Message& answer, const Maker& maker, const RequestForm& form);

// An answer that ended as a refusal of the model: later requests leave its turn out.
bool is_refused_answer(const Message& answer);
void mark_refused(Message& answer);

// Whether a block is reasoning, in whatever form.
bool is_reasoning(const Block& block);

}  // namespace reprise
