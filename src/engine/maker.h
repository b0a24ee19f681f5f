#pragma once

// Who made an answer, in which form the request was, and with which question it began if it left
// out earlier ones: the provider, its server and the model.
// Opaque parts of an answer (signed or encrypted reasoning, blocks of the server's own tools,
// unknown members of calls) mean something only there, and call ids are accepted there as they
// came.
//
// It is an unknown field of the message, which every store keeps. Answers without it, of older
// versions and of other programs, are treated as made by somebody else.

#include <string>
#include <vector>

#include "base/json_view.h"
#include "engine/session_notes.h"
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
// The form of the request that led to the answer, and its start if it was not that of the history.
RequestForm form_of(const Message& answer);
std::optional<RequestStart> start_of(const Message& answer);

// Adds the field if the answer has opaque parts or calls, or the request was not the usual one.
void record_maker(Message& answer, const Maker& maker, const RequestForm& form,
                  const std::optional<RequestStart>& start = std::nullopt);

// The parts of a form by name, as they are stored. Unknown names are ignored.
std::vector<std::string> form_names(const RequestForm& form);
RequestForm form_named(JsonView names);
// What either has, and what only the first has.
RequestForm form_union(const RequestForm& a, const RequestForm& b);
RequestForm form_without(const RequestForm& form, const RequestForm& part);

// An answer that ended as a refusal of the model: later requests leave its turn out.
bool is_refused_answer(const Message& answer);
void mark_refused(Message& answer);

// Whether a block is reasoning, in whatever form.
bool is_reasoning(const Block& block);

}  // namespace reprise
