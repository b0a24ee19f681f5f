#pragma once

// An index of conversations as written by the original program: without a line end after the last
// line.

#include <string_view>

namespace reprise::test {

inline constexpr std::string_view kOriginalChain = R"({
  "conversations": [
    {
      "id": "0b1a2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
      "title": "Mana base advice for FRF",
      "mode": "draft",
      "draftPath": "/home/me/drafts/FRF",
      "responseIds": [
        "resp_1",
        "resp_2"
      ],
      "createdAt": "2026-01-18T20:15:30.123Z",
      "updatedAt": "2026-01-18T20:20:00.000Z"
    },
    {
      "id": "1b1a2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
      "title": "Top players' creature curves",
      "mode": "explore",
      "responseIds": [],
      "createdAt": "2026-01-19T20:15:30.123Z",
      "updatedAt": "2026-01-19T20:15:30.123Z"
    }
  ]
})";

}  // namespace reprise::test
