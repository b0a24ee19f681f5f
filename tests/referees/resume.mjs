// Other tools go on with what we export: resume.mjs REPRISE FOLDER PROGRAM…
//
// A session is exported for each tool and given to the real program, whose model server is this
// script. What the program then sends must have every question, answer and result of the session, in
// their order, and the new question behind them. FOLDER has the programs (node_modules/.bin) and is
// where they work; each gets a home of its own in it.
//
// Meanwhile, and afterwards, Reprise reads what the program writes: never an error, and in the end the
// new question and answer behind all that was exported.
import {execFile} from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const [reprise, folder, ...named] = process.argv.slice(2);
const bin = path.join(folder, 'node_modules', '.bin');
const words = ['ferret question', 'heron answer', 'badger question', 'otter result', 'lynx answer'];
const question = 'walrus question';

// A model that says one thing, in every protocol, and in one what the script says first.
const script = [];
const requests = [];
const events = (response, list) => {
  response.writeHead(200, {'content-type': 'text/event-stream'});
  const write = (part) => {
    for (const [name, data] of part) {
      response.write((name ? `event: ${name}\n` : '') + `data: ${data}\n\n`);
    }
  };
  write(list.slice(0, 1));  // the rest comes while its files are read
  setTimeout(() => { write(list.slice(1)); response.end(); }, 1000);
};
const typed = (...list) => list.map((event) => [event.type, JSON.stringify(event)]);
const reply = 'seal reply';
const usage = {input_tokens: 9, output_tokens: 3, total_tokens: 12};
function answer(url, body, response) {
  if (url.includes('/responses')) {
    const item = {type: 'message', id: 'msg_1', role: 'assistant', status: 'completed',
                  content: [{type: 'output_text', text: reply, annotations: []}]};
    const whole = {id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [item],
                   usage: {...usage, input_tokens_details: {cached_tokens: 0},
                           output_tokens_details: {reasoning_tokens: 0}}};
    events(response, typed(
        {type: 'response.created', response: {...whole, status: 'in_progress', output: []}},
        {type: 'response.output_item.added', output_index: 0, item: {...item, content: []}},
        {type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0,
         delta: reply},
        {type: 'response.output_item.done', output_index: 0, item},
        {type: 'response.completed', response: whole}));
  } else if (url.includes('/chat/completions')) {
    const chunk = (delta, finish_reason) => JSON.stringify(
        {id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm',
         choices: [{index: 0, delta, finish_reason}]});
    const say = (body.includes('"stream":true') && script.shift()) || {content: reply};
    events(response, [['', chunk({role: 'assistant', ...say}, null)],
                      ['', chunk({}, say.tool_calls ? 'tool_calls' : 'stop')], ['', '[DONE]']]);
  } else if (url.includes('/messages')) {
    const start = {id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [],
                   stop_reason: null, stop_sequence: null, usage};
    events(response, typed(
        {type: 'message_start', message: start},
        {type: 'content_block_start', index: 0, content_block: {type: 'text', text: ''}},
        {type: 'content_block_delta', index: 0, delta: {type: 'text_delta', text: reply}},
        {type: 'content_block_stop', index: 0},
        {type: 'message_delta', delta: {stop_reason: 'end_turn', stop_sequence: null}, usage},
        {type: 'message_stop'}));
  } else if (url.includes('treamGenerateContent')) {
    events(response, [['', JSON.stringify(
        {candidates: [{index: 0, finishReason: 'STOP', content: {role: 'model', parts: [{text: reply}]}}],
         usageMetadata: {promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12}})]]);
  } else {
    response.writeHead(200, {'content-type': 'application/json'});
    response.end(url.includes('/models') ? '{"object":"list","data":[{"id":"m","object":"model"}]}'
                                         : '{"candidates":[],"totalTokens":9}');
  }
}
const server = http.createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString();
    requests.push(body);
    answer(request.url, body, response);
  });
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const url = `http://127.0.0.1:${server.address().port}`;

const work = fs.mkdtempSync(path.join(folder, 'resume-'));
const project = path.join(work, 'project');
fs.mkdirSync(project);

function run(program, args, home, environment = {}) {
  fs.mkdirSync(home, {recursive: true});
  return new Promise((done) => {
    const child = execFile(program, args, {
      cwd: project, timeout: 180_000, maxBuffer: 1 << 26,
      env: {PATH: process.env.PATH, HOME: home, LC_ALL: 'C.UTF-8', TERM: 'dumb', ...environment},
    }, (error, out, err) => done({out, err, code: error ? error.code ?? 'killed' : 0}));
    child.stdin.end();
  });
}
const write = (file, text) => {
  fs.mkdirSync(path.dirname(file), {recursive: true});
  fs.writeFileSync(file, text);
};

// A session with two calls, of which one fails, made by asking this model.
const own = path.join(work, 'reprise');
const ours = (...args) => run(reprise, args, own, {
  OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, REPRISE_STORE: `sqlite:${work}/s.db`});
fs.writeFileSync(path.join(project, 'a.txt'), words[3]);
const ask = ['ask', '--provider', 'openai-chat', '--model', 'm', '--yes', '--tools', 'all'];
const call = (index, file) => ({index, id: `call_${index}`, type: 'function',
                                function: {name: 'read_file', arguments: JSON.stringify({path: file})}});
script.push({content: words[1]}, {tool_calls: [call(0, 'a.txt'), call(1, 'b.txt')]},
            {content: words[4]});
for (const args of [[...ask, words[0]], [...ask, '-r', 'last', words[2]]]) {
  const done = await ours(...args);
  if (done.code !== 0) throw new Error(`the session cannot be made: ${done.err}`);
}
async function exported(format, to) {
  const done = await ours('export', 'last', '--format', format, '-o', to, '--json');
  if (done.code !== 0) throw new Error(`export --format ${format}: ${done.err}`);
  return JSON.parse(done.out).files[0];
}

// How each takes its file and is asked the new question. What a function returns is the run that
// asked it.
const uuid = (file) => path.basename(file).match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/)[0];
const tools = {
  codex: async (home) => {
    const file = await exported('codex', `${home}/.codex/sessions/2026/11/20/`);
    write(`${home}/.codex/config.toml`, 'model_provider = "fake"\nmodel = "m"\n' +
        '[model_providers.fake]\nname = "fake"\n' +
        `base_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "KEY"\n`);
    return run(`${bin}/codex`, ['exec', '--skip-git-repo-check', 'resume', uuid(file), question], home,
               {KEY: 'none'});
  },
  copilot: async (home) => {
    const file = await exported('copilot', `${work}/copilot.jsonl`);
    const taken = await run(`${bin}/copilot`, ['sessions', 'import', file, '--output', 'json'], home);
    const said = JSON.parse(taken.out);
    if (!said.ok || said.diagnostics.length > 0) throw new Error(taken.out);
    return run(`${bin}/copilot`, ['--resume', said.sessionId, '-p', question, '--allow-all-tools'], home,
               {COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_MODEL: 'm', COPILOT_OFFLINE: 'true'});
  },
  opencode: async (home) => {
    const file = await exported('opencode', `${work}/opencode.json`);
    write(`${home}/.config/opencode/opencode.json`, JSON.stringify({
      model: 'fake/m', small_model: 'fake/m', autoupdate: false, share: 'disabled',
      provider: {fake: {npm: '@ai-sdk/openai-compatible', options: {baseURL: `${url}/v1`, apiKey: 'none'},
                        models: {m: {name: 'm'}}}}}));
    const taken = await run(`${bin}/opencode`, ['import', file], home);
    if (taken.code !== 0) throw new Error(taken.err + taken.out);
    const session = JSON.parse(fs.readFileSync(file)).info.id;
    return run(`${bin}/opencode`, ['run', '-s', session, '-m', 'fake/m', question], home);
  },
  gemini: async (home) => {
    const file = await exported('gemini', `${home}/in/`);
    write(`${home}/.gemini/settings.json`, JSON.stringify({
      security: {auth: {selectedType: 'gemini-api-key'}}, privacy: {usageStatisticsEnabled: false}}));
    return run(`${bin}/gemini`, ['--session-file', file, '-m', 'gemini-2.5-flash', '-p', question], home,
               {GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true'});
  },
  claude: async (home) => {
    const slug = fs.realpathSync(project).replace(/[^A-Za-z0-9]/g, '-');
    const file = await exported('claude', `${home}/.claude/projects/${slug}/`);
    return run(`${bin}/claude`, ['-p', '--resume', uuid(file), question], home,
               {ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', DISABLE_AUTOUPDATER: '1',
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1'});
  },
  pi: async (home) => {
    const file = await exported('pi', `${home}/in/`);
    write(`${home}/.pi/agent/models.json`, JSON.stringify({providers: {fake: {
      baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'none', models: [{id: 'm'}]}}}));
    return run(`${bin}/pi`, ['--provider', 'fake', '--model', 'm', '--session', file, '-p', question],
               home, {PI_OFFLINE: '1'});
  },
  // Nothing is exported for these; they are read.
  continue: async (home) => {
    write(`${home}/config.yaml`, 'name: fake\nversion: 0.0.1\nschema: v1\nmodels:\n' +
        `  - {name: m, provider: openai, model: m, apiBase: ${url}/v1, apiKey: none}\n`);
    return run(`${bin}/cn`, ['--config', `${home}/config.yaml`, '-p', question], home,
               {CONTINUE_TELEMETRY_ENABLED: '0'});
  },
  qwen: async (home) => {
    write(`${home}/.qwen/settings.json`, JSON.stringify({
      security: {auth: {selectedType: 'openai'}}, privacy: {usageStatisticsEnabled: false}}));
    return run(`${bin}/qwen`, ['-p', question], home,
               {OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm'});
  },
};
const fresh = ['continue', 'qwen'];
const binaries = {continue: 'cn'};  // where the name is another

// Where each keeps its sessions, below its home.
const places = {codex: '.codex', copilot: '.copilot', opencode: '.local/share/opencode',
                gemini: '.gemini', qwen: '.qwen', claude: '.claude', pi: 'in',
                continue: '.continue'};
const list = (name, home) => ours('--store', `${name}:${home}/${places[name]}`, 'list', '--all', '--json');

// Until it is told to stop: the first thing that went wrong.
function follow(name, home) {
  let is_over = false;
  let reads = 0;
  const run = (async () => {
    let wrong;
    while (!is_over && !wrong) {
      if (fs.existsSync(`${home}/${places[name]}`)) {
        const read = await list(name, home);
        const is_empty = read.err.includes('no history of');
        wrong = read.code === 0 || is_empty ? undefined : `reading while it writes: ${read.code} ${read.err || read.out}`;
        reads += is_empty ? 0 : 1;
      }
      await new Promise((done) => setTimeout(done, 100));
    }
    return wrong;
  })();
  return {stop: async () => { is_over = true; return await run; }, reads: () => reads};
}

// Whether one of the sessions there has these texts in this order.
async function has_session(name, home, texts) {
  const listed = await list(name, home);
  if (listed.code !== 0) return `reading what it wrote: ${listed.err}`;
  for (const {id} of JSON.parse(listed.out)) {
    const shown = await ours('--store', `${name}:${home}/${places[name]}`, 'show', id, '--json');
    if (shown.code !== 0) return `show ${id}: ${shown.err}`;
    const messages = JSON.stringify(JSON.parse(shown.out).messages);
    const at = texts.map((text) => messages.indexOf(text));
    if (at.every((place, i) => place >= 0 && (i === 0 || place > at[i - 1]))) return undefined;
  }
  return `no session there has: ${texts}`;
}

let failures = 0;
for (const name of named) {
  const tool = path.join(bin, binaries[name] ?? name);
  if (!fs.existsSync(tool)) {
    console.log(`${name}: SKIPPED, it is not installed`);
    continue;
  }
  requests.length = 0;
  const told = await run(tool, ['--version'], `${work}/${name}`);
  const version = (told.out + told.err).match(/\d+\.\d+\.\d+/)?.[0];
  let wrong;
  const follower = follow(name, `${work}/${name}`);
  try {
    const done = await tools[name](`${work}/${name}`);
    const all = [...(fresh.includes(name) ? [] : words), question];
    const asked = requests.filter((body) => body.includes(question));
    const places = asked.map((body) => all.map((word) => body.indexOf(word)));
    const whole = places.some((at) => at.every((place, i) => place >= 0 && (i === 0 || place > at[i - 1])));
    if (asked.length === 0) {
      wrong = `it did not ask (${done.code}): ${(done.err + done.out).trim().slice(-600)}`;
    } else if (!whole) {
      wrong = `missing or out of order: ${all.filter((word) => !asked.some((body) => body.includes(word)))}`;
    } else if (!done.out.includes(reply)) {
      wrong = `no reply (${done.code}): ${(done.err + done.out).trim().slice(-600)}`;
    }
  } catch (error) {
    wrong = error.message.trim();
  }
  const misread = await follower.stop();
  wrong ??= misread ?? (follower.reads() === 0 ? 'nothing was read while it wrote' : undefined) ??
      await has_session(name, `${work}/${name}`,
                        [...(fresh.includes(name) ? [] : words), question, reply]);
  failures += wrong ? 1 : 0;
  console.log(wrong ? `${name} ${version}: FAILED: ${wrong}` : `${name} ${version}: goes on with the session, read ${follower.reads()} times meanwhile`);
}
server.close();
server.closeAllConnections();
if (failures === 0) fs.rmSync(work, {recursive: true, force: true});
process.exit(failures === 0 ? 0 : 1);
