import t, { type Test } from 'tap';
import type { JsonObject, JsonValue } from '../../src/signal/attributes.js';
import type { ExplainedRun } from '../../src/cli/explain/explained.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon, type TestDaemon } from '../support/daemon.js';
import { recordings, type RecordedProgram } from '../support/recorded-otlp.js';
import { TracesClient, type Shown, type ShownTrace } from '../support/traces-client.js';
import { AGENTS } from './recordings/agents.js';
import { CLIENTS } from './recordings/clients.js';
import { LIBRARIES } from './recordings/libraries.js';
import { PROGRAMS } from './recordings/programs.js';
import { PUBLIC_TRACES } from './recordings/public-traces.js';
import type { Expected, ExpectedRun, Recording } from './recordings/recording.js';

const EXPECTED: Readonly<Record<string, Recording>> = {
  ...AGENTS,
  ...CLIENTS,
  ...LIBRARIES,
  ...PROGRAMS,
  ...PUBLIC_TRACES,
};

const recorded = recordings();
const skip = recorded.length === 0 && 'the folders of recordings are not here';

void t.test('every recording has an expectation and vice versa', { skip }, async (t) => {
  t.strictSame(recorded.map(({ name }) => name).sort(), Object.keys(EXPECTED).sort());
});

void t.test('the API shows the expected values of every recorded run', { skip }, async (t) => {
  const daemon = await startTestDaemon(t);
  for (const program of recorded)
    await t.test(program.name, async (t) => {
      const client = await sent(t, daemon, program);
      const expected = EXPECTED[program.name];
      const runs = await readRuns(client);
      t.equal(runs.length, expected?.runs.length, 'number of runs');
      const [environment, release] = expected?.ran ?? [null, null];
      for (const run of runs) t.match(run, { environment, release }, 'environment and release');
      for (const [i, run] of (expected?.runs ?? []).entries())
        await t.test(`${i + 1} ${run.agent}`, async (t) => {
          checkRun(t, runs[i] ?? { spans: [] }, run);
        });
      t.strictSame(await readNodes(client), expected?.nodes, 'nodes of the map');
      await t.test('jackdaw explain shows the same values', async (t) => {
        checkExplained(t, await explained(program), runs);
      });
    });
});

/** Each program has its own user; all share one store. */
async function sent(t: Test, { url, key }: TestDaemon, { requests }: RecordedProgram): Promise<TracesClient> {
  const own = await new TracesClient(url, key).createUser();
  for (const { signal, body } of requests) {
    const response = await fetch(`${url}/api/v1/otlp/v1/${signal}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${own}`, 'content-type': 'application/json' },
      body,
    });
    t.strictSame(await response.json(), {}, `all ${signal} accepted`);
  }
  return new TracesClient(url, own);
}

/** Output of `jackdaw explain` for the same files, sorted by start. */
async function explained({ requests }: RecordedProgram): Promise<readonly ExplainedRun[]> {
  const input = `[${requests.map(({ body }) => body).join(',')}]`;
  const { stdout } = await runInProcess(['explain', '--json'], {}, [input]);
  return (JSON.parse(stdout) as { readonly runs: readonly ExplainedRun[] }).runs;
}

/** Every field of runs and spans that both show. */
function checkExplained(t: Test, found: readonly ExplainedRun[], shown: readonly ShownTrace[]): void {
  const ids = new Set(shown.map(({ trace_id: id }) => id));
  t.equal(found.length, ids.size, 'number of runs');
  for (const run of found) {
    const { spans, ...header } = shown.find(({ trace_id: id }) => id === run.trace_id) ?? { spans: [] };
    t.strictSame(common(run, header), common(header, run), run.trace_id);
    t.strictSame(unexplained(run, run.from, SOURCED_OF_RUNS), [], `sources of ${run.trace_id}`);
    t.strictSame(
      run.spans.map(({ span_id: id }) => id),
      spans.map(({ span_id: id }) => id),
      'the same spans in the same order',
    );
    for (const [i, span] of run.spans.entries()) {
      const other = spans[i] ?? {};
      t.strictSame(common(span, other), common(other, span), `${span.name} ${span.span_id}`);
      const values = { ...span.usage, ...span };
      t.strictSame(
        unexplained(values, span.from, [...SOURCED_OF_SPANS, ...PARTS]),
        [],
        `sources of ${span.name}`,
      );
    }
  }
}

/** Values of which `jackdaw explain` names the source. */
const SOURCED_OF_RUNS = [
  ...['agent_name', 'kind', 'status', 'error_message', 'success', 'outcome', 'started_at', 'ended_at'],
  ...['total_tokens', 'total_cost_usd', 'session_id', 'user_id', 'tags'],
];
const SOURCED_OF_SPANS = [
  ...['type', 'name', 'status', 'error_message', 'model', 'provider', 'same_as', 'session_id', 'user_id'],
  ...['tags', 'input_tokens', 'output_tokens', 'total_tokens', 'cost_usd', 'input_data', 'output_data'],
];
const PARTS = ['cached_read', 'cached_write', 'cached_write_5m', 'cached_write_1h', 'reasoning'];

/** The fields with a value but without a source. */
function unexplained(
  shown: object,
  from: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): readonly string[] {
  return fields.filter((name) => {
    const value = (shown as Readonly<Record<string, unknown>>)[name] ?? null;
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
    return !isEmpty && from[name] === undefined;
  });
}

/** The fields of one object that the other one also has. */
function common(one: object, other: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(one).filter(([key]) => Object.hasOwn(other, key)));
}

/** Runs sorted by start, each with all spans in tree order. */
async function readRuns(client: TracesClient): Promise<readonly ShownTrace[]> {
  const page = (await client.read('/api/v1/dashboard/traces?kind=all&page_size=100')) as {
    readonly items: readonly Shown[];
  };
  const ids = page.items.toSorted((a, b) => (String(a['started_at']) < String(b['started_at']) ? -1 : 1));
  const runs: ShownTrace[] = [];
  for (const { trace_id: id } of ids) {
    const run = await client.read(`/api/v1/dashboard/traces/${String(id)}?include=metadata`);
    const { spans, ...header } = run as ShownTrace;
    runs.push({ ...header, spans: inOrder(spans) });
  }
  return runs;
}

async function readNodes(client: TracesClient): Promise<readonly string[]> {
  const map = await client.read('/api/v1/dashboard/service-map/?hours=0');
  const { nodes } = map as { readonly nodes: readonly { readonly name: string }[] };
  return [...new Set(nodes.map(({ name }) => name))].sort();
}

function checkRun(t: Test, run: ShownTrace, expected: ExpectedRun): void {
  t.equal(run['agent_name'], expected.agent, 'agent');
  t.equal(run['kind'], expected.kind, 'kind');
  t.equal(run['status'], expected.status, 'status');
  t.equal(run['error_message'], expected.error, 'error');
  t.equal(run['session_id'], expected.session, 'session');
  t.equal(run['user_id'], expected.user, 'user');
  t.strictSame(run['tags'], expected.tags, 'tags');
  const { tokens, cost } = expected;
  t.equal(run['total_tokens'], tokens === null ? null : tokens.input + tokens.output, 'tokens of the run');
  t.equal(run['total_cost_usd'], cost === null ? null : cost[0], 'cost of the run');
  // A call inside another is the same one.
  const models = new Set(run.spans.filter(isOf('llm')).map(({ span_id: id }) => id));
  const calls = run.spans
    .filter(isOf('llm'))
    .filter(({ parent_span_id: id, counted }) => counted !== false && !models.has(id));
  t.strictSame(tokensOf(calls), { ...NO_TOKENS, ...tokens }, 'tokens by kind');
  t.strictSame(sourcesOf(calls), cost === null ? [] : [cost[1]], 'source of the cost');
  agrees(t, run.spans.filter(isOf('tool')).map(toolOf), expected.tools, 'tools');
  agrees(t, questionOf(run.spans), expected.question, 'first question');
  agrees(t, answerOf(run.spans), expected.answer, 'last answer');
}

const NO_TOKENS = { input: 0, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };

/** Totals of the model calls. */
function tokensOf(calls: readonly Shown[]): typeof NO_TOKENS {
  const sumOf = (part: string): number =>
    calls.reduce((sum, { usage }) => sum + Number((usage as JsonObject | null)?.[part] ?? 0), 0);
  return {
    input: sumOf('input'),
    cachedRead: sumOf('cached_read'),
    cachedWrite: sumOf('cached_write'),
    output: sumOf('output'),
    reasoning: sumOf('reasoning'),
  };
}

function sourcesOf(calls: readonly Shown[]): readonly unknown[] {
  return [...new Set(calls.flatMap(({ cost }) => (cost as JsonObject | null)?.['source'] ?? []))];
}

/** Compares a text exactly, and patterns or parts of objects by match. */
function agrees(t: Test, found: unknown, expected: Expected, what: string): void {
  if (typeof expected === 'string' || expected === null) t.equal(found, expected, what);
  else if (Array.isArray(expected) && !holdsPattern(expected)) t.strictSame(found, expected, what);
  else t.match(found, expected, what);
}

function holdsPattern(value: unknown): boolean {
  if (value instanceof RegExp) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsPattern);
}

function isOf(...types: readonly string[]) {
  return ({ type }: Shown): boolean => types.includes(String(type));
}

function toolOf({ name, input_data: input, output_data: output }: Shown): readonly unknown[] {
  return [
    name,
    (input as JsonObject | null)?.['arguments'] ?? null,
    (output as JsonObject | null)?.['result'] ?? null,
  ];
}

const CONTEXT_FIELDS = ['system', 'tools', 'parameters'];

function questionOf(spans: readonly Shown[]): JsonValue {
  for (const { input_data: input } of spans.filter(isOf('agent', 'llm', 'custom'))) {
    if (input === null) continue;
    const shown = Object.fromEntries(
      Object.entries(input as JsonObject).filter(([name]) => !CONTEXT_FIELDS.includes(name)),
    );
    const { messages } = shown;
    if (!Array.isArray(messages)) {
      if (Object.keys(shown).length > 0) return shown;
      continue;
    }
    const asked = messages.map(textBy('user')).findLast((text) => text !== undefined);
    if (asked !== undefined) return asked;
  }
  return null;
}

function answerOf(spans: readonly Shown[]): JsonValue {
  const [root] = spans;
  const calls = spans
    .filter(isOf('llm'))
    .toSorted((a, b) => (String(a['started_at']) < String(b['started_at']) ? -1 : 1));
  for (const { output_data: output } of [...(root === undefined ? [] : [root]), ...calls.reverse()]) {
    if (output === null) continue;
    const { messages, value } = output as JsonObject;
    if (typeof value === 'string') return value.trim();
    const shown = Array.isArray(messages) ? messages.map(textBy('assistant')) : [];
    const last = shown.findLast((text) => text !== undefined);
    if (last !== undefined) return last;
  }
  return null;
}

/** The text of a message with this role. */
function textBy(wanted: string) {
  return (message: JsonValue): string | undefined => {
    const { role, content } = message as JsonObject;
    if (role !== wanted || content === undefined) return undefined;
    const parts = Array.isArray(content)
      ? content.map((part) => (part as JsonObject)['text'] ?? '')
      : [content];
    return parts.map(String).join(' ').trim();
  };
}

/** Depth first, siblings by their start. */
function inOrder(spans: readonly Shown[]): readonly Shown[] {
  const sorted = spans.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const under = (parent: unknown): Shown[] =>
    sorted
      .filter(({ parent_span_id: id }) => id === parent)
      .flatMap((span) => [span, ...under(span['span_id'])]);
  return under(null);
}

function keyOf({ started_at: start, span_id: id }: Shown): string {
  // Without fractional seconds a time sorts before the same time with a fraction.
  return `${String(start).replace('Z', '')} ${String(id)}`;
}
