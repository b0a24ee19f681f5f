// Writes what the test server has recorded as TypeScript: requests.mjs URL FOLDER

import { writeFileSync } from 'node:fs';

const [url, folder] = process.argv.slice(2);
const get = async (path) => (await fetch(url + path)).json();

const { violations } = await get('/_violations');
if (violations.length > 0) {
  throw new Error(`the test server refused: ${JSON.stringify(violations, null, 1)}`);
}

const types = {
  '/v1/responses': 'ResponseCreateParams',
  '/v1/chat/completions': 'ChatCompletionCreateParams',
  '/v1/messages': 'MessageCreateParams',
};

// Other servers' fields of an answer with reasoning, which OpenAI's types do not have.
const foreign = ['reasoning_content', 'reasoning', 'reasoning_details'];
// Sent only when a person asks for it: older models take it, and the types are those of the newest.
const older = { '/v1/messages': ['temperature'] };
function official(path, body) {
  (older[path] ?? []).forEach((name) => delete body[name]);
  if (path === '/v1/chat/completions') {
    for (const message of body.messages) {
      if (message.role === 'assistant') {
        foreign.forEach((name) => delete message[name]);
      }
    }
  }
  return body;
}

const lines = [
  "import type { ResponseCreateParams } from 'openai/resources/responses/responses';",
  "import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';",
  "import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages';",
];
const counts = {};
for (const request of (await get('/_requests')).requests) {
  const path = request.path.split('?')[0];
  if (!(path in types)) {
    continue;
  }
  counts[path] = (counts[path] ?? 0) + 1;
  const body = JSON.stringify(official(path, JSON.parse(request.body)), null, 1);
  lines.push(`// request ${request.number}`);
  lines.push(`export const request${request.number}: ${types[path]} = ${body};`);
}
for (const path of Object.keys(types)) {
  if (!(counts[path] >= 8)) {
    throw new Error(`only ${counts[path] ?? 0} requests to ${path}: the sessions did not happen`);
  }
}
writeFileSync(`${folder}/requests.ts`, lines.join('\n') + '\n');
console.log('requests to compile:', counts);
