// Reads the test server's answers with the official clients: clients.mjs URL

import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const url = process.argv[2];
const openai = new OpenAI({ apiKey: 'sk-test-1234', baseURL: `${url}/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: 'sk-test-1234', baseURL: url, maxRetries: 0 });
const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
const question = 'think preface call:f {"a":1} call:f {"a":2}';
const expected = [{ a: 1 }, { a: 2 }];

async function responses() {
  const body = {
    model: 'fake:',
    input: question,
    tools: [{ type: 'function', name: 'f', description: 'f', parameters: schema, strict: false }],
    store: false,
    include: ['reasoning.encrypted_content'],
  };
  const whole = await openai.responses.create(body);
  const streamed = await openai.responses.stream(body).finalResponse();
  for (const response of [whole, streamed]) {
    const of = (type) => response.output.filter((item) => item.type === type);
    assert.equal(response.status, 'completed');
    assert.ok(response.output_text.length > 0);
    assert.equal(of('reasoning').length, 1);
    assert.ok(of('reasoning')[0].encrypted_content);
    assert.deepEqual(of('function_call').map((item) => JSON.parse(item.arguments)), expected);
    assert.ok(response.usage.input_tokens > 0 && response.usage.output_tokens > 0);
  }
}

async function chat() {
  const body = {
    model: 'fake:',
    messages: [{ role: 'user', content: question }],
    tools: [{ type: 'function', function: { name: 'f', description: 'f', parameters: schema } }],
  };
  const whole = await openai.chat.completions.create(body);
  const streamed = await openai.chat.completions.stream(body).finalChatCompletion();
  for (const completion of [whole, streamed]) {
    const [choice] = completion.choices;
    assert.equal(choice.finish_reason, 'tool_calls');
    assert.ok(choice.message.content.length > 0);
    const calls = choice.message.tool_calls.map((call) => JSON.parse(call.function.arguments));
    assert.deepEqual(calls, expected);
  }
}

async function messages() {
  const body = {
    model: 'fake:',
    max_tokens: 5000,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: [{ role: 'user', content: question }],
    tools: [{ name: 'f', description: 'f', input_schema: schema }],
  };
  const whole = await anthropic.messages.create(body);
  const streamed = await anthropic.messages.stream(body).finalMessage();
  for (const message of [whole, streamed]) {
    const of = (type) => message.content.filter((block) => block.type === type);
    assert.equal(message.stop_reason, 'tool_use');
    assert.ok(of('text')[0].text.length > 0);
    assert.ok(of('thinking')[0].signature.length > 0);
    assert.deepEqual(of('tool_use').map((block) => block.input), expected);
    assert.ok(message.usage.output_tokens > 0);
  }
}

for (const [name, read] of Object.entries({ responses, chat, messages })) {
  await read();
  console.log(`${name}: the official client reads the answers`);
}
