#pragma once

// For tests: effects as text.

#include <string>

#include "base/text.h"
#include "cli/app/effect.h"

namespace reprise::cli::app {

inline std::string tab_words(TabId tab) {
  return cat(" tab ", tab.value);
}

inline std::string scope_words(bool all, std::string_view folder) {
  return all ? " all" : cat(" of '", folder, "'");
}

struct EffectWords {
  std::string operator()(const OpenEditor& one) const {
    return cat("OpenEditor", tab_words(one.tab), " '", one.text, "'");
  }
  std::string operator()(const FindNewest&) const { return "FindNewest"; }
  std::string operator()(const OpenNew& one) const {
    return cat("OpenNew", tab_words(one.tab), " '", one.folder, "' '", one.title, "'");
  }
  std::string operator()(const OpenSession& one) const {
    return cat("OpenSession", tab_words(one.tab), " ", one.sel, one.of_list ? " of the list" : "");
  }
  std::string operator()(const CloseTab& one) const { return cat("CloseTab", tab_words(one.tab)); }
  std::string operator()(const Ask& one) const {
    return cat("Ask", tab_words(one.tab), " '", one.text, "'");
  }
  std::string operator()(const AskInstead& one) const {
    return cat("AskInstead", tab_words(one.tab), " '", one.text, "'");
  }
  std::string operator()(const AskAgain& one) const { return cat("AskAgain", tab_words(one.tab)); }
  std::string operator()(const ContinueTurn& one) const {
    return cat("ContinueTurn", tab_words(one.tab));
  }
  std::string operator()(const Bell&) const { return "Ring"; }
  std::string operator()(const StopTurn& one) const { return cat("StopTurn", tab_words(one.tab)); }
  std::string operator()(const RunSlash& one) const {
    return cat("RunSlash", tab_words(one.tab), " ", static_cast<int>(one.slash.verb), " '",
               one.slash.text, "' ", one.slash.number.value_or(0));
  }
  std::string operator()(const ListQuestions& one) const {
    return cat("ListQuestions", tab_words(one.tab), " ", static_cast<int>(one.verb));
  }
  std::string operator()(const ListFiles& one) const {
    return cat("ListFiles", tab_words(one.tab), " '", one.prefix, "'");
  }
  std::string operator()(const CheckFile& one) const {
    return cat("CheckFile", tab_words(one.tab), " '", one.file, "'");
  }
  std::string operator()(const CopyText& one) const { return cat("CopyText '", one.text, "'"); }
  std::string operator()(const ListModels& one) const {
    return cat("ListModels", tab_words(one.tab));
  }
  std::string operator()(const SaveNow& one) const { return cat("SaveNow", tab_words(one.tab)); }
  std::string operator()(const LoadOlder& one) const {
    return cat("LoadOlder", tab_words(one.tab), " ", one.count, " before ", one.before.value);
  }
  std::string operator()(const AnswerConsent& one) const {
    return cat("AnswerConsent", tab_words(one.tab), " ", one.number, " ",
               static_cast<int>(one.choice));
  }
  std::string operator()(const CloseAll& one) const {
    return cat("CloseAll", one.interrupted ? " interrupted" : "");
  }
  std::string operator()(const CancelPending&) const { return "Hurry"; }
  std::string operator()(const Suspend&) const { return "Suspend"; }
  std::string operator()(const Redraw&) const { return "Redraw"; }
  std::string operator()(const LoadPage& one) const {
    return cat("LoadPage ", one.generation, scope_words(one.all, one.folder), " ", one.limit,
               " after '", one.after, "'", one.trash ? " trash" : "", one.others ? " others" : "");
  }
  std::string operator()(const LoadQuestions& one) const {
    return cat("LoadQuestions ", one.generation, " ", one.ids.size());
  }
  std::string operator()(const LoadPreview& one) const { return cat("LoadPreview ", one.id); }
  std::string operator()(const SearchTexts& one) const {
    return cat("SearchTexts ", one.generation, scope_words(one.all, one.folder), " '", one.words,
               "'");
  }
  std::string operator()(const TrashStored& one) const { return cat("TrashStored ", one.id); }
  std::string operator()(const RestoreStored& one) const { return cat("RestoreStored ", one.id); }
  std::string operator()(const RenameStored& one) const {
    return cat("RenameStored ", one.id, " '", one.title, "'");
  }
  std::string operator()(const EmptyTrash& one) const {
    return cat("EmptyTrash", scope_words(one.all, one.folder));
  }
  std::string operator()(const ListResumable& one) const {
    return cat("ListResumable", tab_words(one.tab));
  }
  std::string operator()(const DeleteStored& one) const {
    return cat("DeleteStored", tab_words(one.tab), " ", one.sel);
  }
  std::string operator()(const CountClosed& one) const {
    return cat("CountClosed", tab_words(one.tab));
  }
  std::string operator()(const ClearClosed& one) const {
    return cat("ClearClosed", tab_words(one.tab));
  }
};

}  // namespace reprise::cli::app
