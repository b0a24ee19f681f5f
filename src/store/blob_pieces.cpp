#include "store/blob_pieces.h"

#include "base/encode.h"
#include "base/text.h"
#include "reprise/capabilities.h"

namespace reprise::store {

Remnant unnamed_blobs(std::string where, std::int64_t count) {
  return {std::move(where), cat(count,
                                count == 1 ? " attachment or large result is removed"
                                           : " attachments or large results are removed",
                                " by the first purge a day after being stored")};
}

Result<> read_blob(const BlobHash& hash, const FindPiece& find,
                   const std::function<Flow(std::string_view)>& sink) {
  std::string whole;  // for the hash check; the pieces are passed on as they are read
  for (std::int64_t number = 0;; ++number) {
    REPRISE_ASSIGN(const auto piece, find(number));
    if (!piece) {
      if (number == 0) {
        return fail(Code::not_found, cat("no blob ", hash.str()));
      }
      break;
    }
    if (sink(*piece) == Flow::stop) {
      return {};
    }
    whole += *piece;
  }
  REPRISE_ASSIGN(const BlobHash found, sha256(whole));
  if (found != hash) {
    return fail(Code::corrupt, cat("blob ", hash.str(), " does not match its hash"));
  }
  return {};
}

}  // namespace reprise::store
