import t from 'tap';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { sumsOf } from '../../support/map-sums.js';
import { mapSpans } from '../../support/mapped-span.js';
import { recordedOtlpTraces, recordedPrograms, sendAlone } from '../../support/recorded-otlp.js';

interface DrawnMap {
  /** Expected maps, with the reason for each edge. */
  readonly nodes: Readonly<Record<string, string>>;
  /** `caller > called` and the number of spans. */
  readonly edges?: Readonly<Record<string, number>>;
}

const THE_AGENT = 'the agent';
const CALLER = 'a script that calls a model itself: its service';

/** The map that the programmer would draw. */
const DRAWN: Readonly<Record<string, DrawnMap>> = {
  'adk_v1.otlp.json': { nodes: { weather_adk: 'the agent; `invocation` is its run' } },
  'autogen_prog.otlp.json': {
    nodes: {
      weather: 'an agent of the team',
      writer: 'an agent of the team',
      'svc-autogen_prog': 'the runtime of the team: messages that belong to no agent',
    },
  },
  'langfuse_prog.otlp.json': {
    nodes: {
      'weather-agent': 'an observation of type agent',
      'svc-langfuse_prog': 'calls outside of any agent; the guard is a step',
    },
  },
  'litellm_prog.otlp.json': { nodes: { 'svc-litellm_prog': CALLER } },
  'oaiv2.otlp.json': { nodes: { 'svc-oaiv2': CALLER } },
  'oi_agents.otlp.json': {
    nodes: {
      'Customer support': 'the workflow, as the program calls it',
      'Triage agent': 'an agent of it',
      'Weather agent': 'an agent of it, and of a run of its own',
    },
    edges: { 'Customer support > Triage agent': 1, 'Customer support > Weather agent': 2 },
  },
  'oi_langchain.otlp.json': {
    nodes: {
      weather_bot: 'the agent; its graph has nodes, which are steps',
      translate: 'a chain that has a name; prompt and parser are its steps',
      'svc-oi_langchain': CALLER,
    },
  },
  'oi_smol.otlp.json': {
    nodes: { boss: THE_AGENT, weather_agent: 'an agent that boss manages, and that also runs alone' },
    edges: { 'boss > weather_agent': 3 },
  },
  'openlit_prog.otlp.json': {
    nodes: {
      'openlit-app': CALLER,
      weather_bot: 'the workflow; `model` is a node of its graph',
      translate: 'a workflow',
      '127.0.0.1': "the models' server, which an instrumentation of HTTP saw",
    },
    edges: { 'openlit-app > 127.0.0.1': 5, 'weather_bot > 127.0.0.1': 5, 'translate > 127.0.0.1': 1 },
  },
  'otel_basic.otlp.json': {
    nodes: {
      'svc-otel_basic': 'the service; `compute` is what it does itself',
      'postgresql/shop': 'its database',
      payments: 'the service that it calls',
    },
    edges: { 'svc-otel_basic > payments': 1, 'svc-otel_basic > postgresql/shop': 1 },
  },
  'strands_prog.otlp.json': { nodes: { 'weather-strand': 'the agent; cycles of its loop are steps' } },
  'tl_agents.otlp.json': {
    nodes: { 'Triage agent': THE_AGENT, 'Weather agent': 'to which it hands over' },
    edges: { 'Triage agent > Weather agent': 2 },
  },
  'vercel_v4.otlp.json': {
    nodes: {
      'weather-fn': 'a function',
      'stream-fn': 'a function',
      'bad-fn': 'a function',
      'fail-fn': 'a function',
      'embed-fn': 'a function',
    },
  },

  'agno-2025-06-11.otlp.json': {
    nodes: { 'Agent.run': 'an agent without a name, in a program without one' },
  },
  'beeai-2025-08-01.otlp.json': {
    nodes: { 'beeai-framework-main': 'the agent; iterations and events are steps' },
  },
  'crewai-2025-07-11.otlp.json': {
    nodes: { 'crewai-index-trace': 'the program; crew and task have no names' },
  },
  'google-gemini-2025-08-01.otlp.json': {
    nodes: { GenerateContent: 'one call, in a program without a name' },
  },
  'llamaindex-2025-06-05.otlp.json': { nodes: { 'llama-index-trace': 'the program' } },
  'openai-agents-2025-09-30.otlp.json': { nodes: { 'Hello world': THE_AGENT } },
  'pydantic-ai-2025-06-06.otlp.json': { nodes: { qa_agent: THE_AGENT } },
  'vercel-aisdk-2025-11-17.otlp.json': { nodes: { 'ai.generateText': 'a function without an id' } },
};

const recorded = new Map([...recordedPrograms(), ...recordedOtlpTraces()]);
const skip = recorded.size === 0 && 'the folders of recordings are not here';

void t.test('every recording has an expected map', { skip }, async (t) => {
  t.strictSame([...recorded.keys()].sort(), Object.keys(DRAWN).sort());
});

for (const [name, text] of recorded)
  void t.test(name, async (t) => {
    const { batch, rejected } = mapSpans(decodeJson('traces', JSON.parse(text) as unknown));
    t.strictSame(rejected, []);
    const { nodes, edges } = sumsOf(batch.items);
    t.strictSame([...nodes].sort(), Object.keys(DRAWN[name]?.nodes ?? {}).sort());
    t.same(Object.fromEntries(edges), DRAWN[name]?.edges ?? {});
  });

void t.test('a daemon draws the same map if spans arrive one by one in reverse', { skip }, async (t) => {
  const { url, key } = await startTestDaemon(t);
  const api = new ApiCaller(url, key);
  await sendAlone(api, recorded.values());
  const { nodes, edges } = await api.get<{ nodes: { id: string }[]; edges: Edge[] }>(
    '/dashboard/service-map/?hours=0',
  );
  const drawn = Object.values(DRAWN);
  t.strictSame(
    nodes.map(({ id }) => id).sort(),
    [...new Set(drawn.flatMap((map) => Object.keys(map.nodes)))].sort(),
  );
  const weights = Object.fromEntries(
    edges.map(({ source, target, weight }) => [`${source} > ${target}`, weight]),
  );
  t.same(weights, sumOf(drawn.map((map) => map.edges ?? {})));
  t.match(
    (await api.call('POST', '/admin/service-map/rebuild?dry_run=true', { json: {} })).body,
    { unmapped_traces: 0, differing_spans: 0, differing_sums: 0 },
    'a rebuild from stored spans gives the same map',
  );
});

interface Edge {
  readonly source: string;
  readonly target: string;
  readonly weight: number;
}

function sumOf(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const part of parts)
    for (const [edge, spans] of Object.entries(part)) sums[edge] = (sums[edge] ?? 0) + spans;
  return sums;
}
