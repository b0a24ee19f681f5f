#include "sessions/fixture.h"

#include "base/text.h"
#include "reprise/session.h"
#include "store/document/document_format.h"
#include "store/sessions/session_json.h"
#include "store/sessions/signature.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {

using store::sessions::Location;
using store::sessions::SigningKey;

std::string fixture() {
  return R"({
  "closed_at": "2025-12-16T16:00:00.654321Z",
  "config": {
    "max_tokens": 4096,
    "model": "claude-x",
    "provider": "anthropic",
    "stream": "true",
    "temperature": 0.7
  },
  "conversation": [
    {
      "content": "Hello é)"
         "\xE2\x80\xA8"
         R"( \u0001\n\"q\" /",
      "id": "msg-001",
      "role": "user",
      "timestamp": "2025-12-16T15:00:00Z"
    },
    {
      "content": "Hi",
      "id": "msg-002",
      "role": "assistant",
      "timestamp": "2025-12-16T15:00:01.5Z",
      "usage": {
        "input_tokens": 12,
        "output_tokens": 3,
        "total_cost": 1.05e-4
      }
    }
  ],
  "created_at": "2025-12-16T14:00:00Z",
  "cumulative_usage": {
    "input_tokens": 12,
    "output_tokens": 3,
    "total_cost": 1.05e-4
  },
  "id": "3f2b8c1e-6d4a-4e0b-8a7c-5d9e1f2a3b4c",
  "language": "python",
  "name": "alpha",
  "project_path": "/home/anna/alpha",
  "prompt_history": [
    "Hello"
  ],
  "signature": "oD0AFupdoviLVTTie5IMw4WOr8iR+nloLvtjZ1DHa3c=",
  "todos": [
    {
      "active_form": "Running tests",
      "content": "Run tests",
      "status": "in_progress"
    }
  ],
  "updated_at": "2025-12-16T15:00:01.5Z",
  "version": 1
})";
}

std::string file_with(std::string_view conversation, std::string_view more) {
  return cat(R"({"closed_at":"2025-12-16T16:00:00Z","config":{},"conversation":[)", conversation,
             R"(],"created_at":"2025-12-16T14:00:00Z","id":")", kFixtureId,
             R"(","name":"n","project_path":"/p","todos":[],"updated_at":"2025-12-16T15:00:00Z")",
             R"(,"version":1)", more, "}");
}

std::string entry(std::string_view role, std::string_view content, std::string_view timestamp) {
  return cat(R"({"content":")", content, R"(","id":"m-)", content, R"(","role":")", role,
             R"(","timestamp":")", timestamp, R"("})");
}

Location location(SessionState state) {
  return {session_id(kFixtureId), state};
}

store::FileSession read(std::string_view json, SessionState state) {
  return must(store::sessions::read_session(location(state), json));
}

std::string written(store::FileSession session, const SigningKey* key) {
  return must(store::sessions::write_session(session, key));
}

SigningKey fixture_key() {
  return must(SigningKey::derive(kFixtureSecret, "fixture"));
}

}  // namespace reprise::test
