#pragma once

// A context file as written by the original program.

#include <string_view>

namespace reprise::test {

inline constexpr std::string_view kOriginalContext = R"({
  "provider": "openai",
  "base_url": "https://api.openai.com/v1",
  "model": "gpt-4o-mini",
  "system": "You are a helpful assistant.",
  "temperature": 0.7,
  "max_tokens": 1024,
  "stream_default": true,
  "save_path_default": "ai.out.txt",
  "env_key": "OPENAI_API_KEY",
  "conversation": [
    {
      "role": "user",
      "content": "10 + 11",
      "timestamp": "2025-10-20T18:27:48.503Z"
    },
    {
      "role": "assistant",
      "content": "10 + 11 equals 21.",
      "timestamp": "2025-10-20T18:27:48.503Z"
    },
    {
      "role": "user",
      "content": "describe",
      "timestamp": "2025-10-20T18:28:14.389Z",
      "attachments": ["/home/me/photo.png"]
    },
    {
      "role": "assistant",
      "content": "A \"fish\".\n",
      "timestamp": "2025-10-20T18:28:14.390Z",
      "usage": {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "cost": 0.0001,
        "model": "gpt-4o-mini-2024"
      }
    }
  ],
  "meta": {
    "last_updated": "2025-10-20T18:28:14.390Z",
    "total_turns": 5,
    "notes": "This file is updated by the CLI after each run. Do not check secrets into VCS."
  }
}
)";

}  // namespace reprise::test
