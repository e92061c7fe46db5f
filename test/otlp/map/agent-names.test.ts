import t from 'tap';
import { AgentNames } from '../../../src/otlp/map/agent-names.js';
import { mapRun, type SentSpan } from '../../support/mapped-run.js';

/** The agent name in a span name or attribute; null if there is none. */
const NAMES: readonly (readonly [sent: string, agent: string | null])[] = [
  ['weather_bot', 'weather_bot'],
  ['  Weather agent ', 'Weather agent'],
  ['Customer support', 'Customer support'],
  // Parts around a name.
  ['weather_agent.run', 'weather_agent'],
  ['Research.kickoff', 'Research'],
  ['invoke_agent planner', 'planner'],
  ['create_agent planner', 'planner'],
  ['invoke_workflow translate', 'translate'],
  ['agent_run [weather_adk]', 'weather_adk'],
  ['invocation [shop]', 'shop'],
  ['Triage agent.agent', 'Triage agent'],
  ['daily_report.workflow', 'daily_report'],
  ['Writer._execute_core', 'Writer'],
  ['MyProgram.forward', 'MyProgram'],
  // Names that only state a type.
  ['RunnableSequence', null],
  ['RunnableParallel<a,b>', null],
  ['LangGraph', null],
  ['Graph', null],
  ['LangGraph.workflow', null],
  ['AgentExecutor', null],
  ['StrOutputParser', null],
  ['Agent workflow', null],
  ['instructor.create', null],
  ['Agent Workflow', null],
  ['AGENT WORKFLOW', null],
  ['Runner.run', null],
  ['Runner.run_sync', null],
  ['Agent.run', null],
  ['agent', null],
  ['agent run', null],
  ['Crew.kickoff', null],
  ['crew_4d5b2186-7b63-8a18-46a3-8dc4af8e29a4.kickoff', null],
  ['Crew_4d5b2186-7b63-8a18-46a3-8dc4af8e29a4.kickoff', null],
  ['Task._execute_core', null],
  ['crewai.workflow', null],
  ['Flow_4d5b2186-7b63-8a18-46a3-8dc4af8e29a4.kickoff', null],
  ['Trip planner.kickoff', 'Trip planner'],
  ['CodeAgent.run', null],
  ['FunctionAgent.run', null],
  ['RetrieverQueryEngine.query', null],
  ['ChainOfThought.forward', null],
  ['Pipeline.run', null],
  ['Team.run', null],
  ['Strands Agents', null],
  ['invocation', null],
  ['invoke_agent', null],
  ['ai.generateText', null],
  ['autogen publish group_topic_1', null],
  ['litellm_request', null],
  ['main', null],
  ['', null],
  [' ', null],
  // Ids.
  ['9ac73818a528f9f1', null],
  ['4d5b2186-7b63-8a18-46a3-8dc4af8e29a4', null],
  ['deadbeef', 'deadbeef'],
  ['2026', null],
  ['7', '7'],
  // Ids at the end of names.
  ['weather_bot-4d5b2186-7b63-8a18-46a3-8dc4af8e29a4', 'weather_bot'],
  ['weather_bot_4d5b2186_7b63_8a18_46a3_8dc4af8e29a4', 'weather_bot'],
  ['weather bot (9ac73818)', 'weather bot'],
  ['weather bot #17345', 'weather bot'],
  ['weather_bot/9ac73818a528f9f1/2026', 'weather_bot'],
  ['worker17345', 'worker'],
  ['invoke_agent planner-9ac73818', 'planner'],
  ['RoundRobinGroupChatManager_4d5b2186-7b63-8a18-46a3-8dc4af8e29a4', null],
  ['agent-17345', null],
  ['Agent workflow 17345', null],
  ['weather-deadbeef', 'weather-deadbeef'],
  ['shard-2', 'shard-2'],
  ['Weather agent 2', 'Weather agent 2'],
  ['9ac73818 report', '9ac73818 report'],
  ['Weather agent (beta)', 'Weather agent (beta)'],
];

void t.test('recognizes agent names', async (t) => {
  const names = new AgentNames();
  for (const [sent, agent] of NAMES) {
    t.equal(names.nameIn(sent), agent, JSON.stringify(sent));
    t.equal(names.nameIn(sent), agent, `${JSON.stringify(sent)} again`);
  }
  t.equal(names.nameIn(`x${'-'.repeat(5000)}`)?.length, 1024, 'truncated');
});

void t.test('configured names are added', async (t) => {
  const names = new AgentNames({ generic: ['My Wrapper', 'step_*'], specific: ['langgraph', 'Agent *'] });
  for (const [sent, agent] of [
    ['my wrapper', null],
    ['my wrapper.run', null],
    ['step_1', null],
    ['stepwise', 'stepwise'],
    ['LangGraph', 'LangGraph'],
    ['Agent workflow', 'Agent workflow'],
    ['RunnableSequence', null],
  ] as const)
    t.equal(names.nameIn(sent), agent, sent);
});

void t.test('evicted names are recognized again', async (t) => {
  const names = new AgentNames();
  for (let i = 0; i < 20_000; i++) names.nameIn(`agent ${i}`);
  t.equal(names.nameIn('agent 1'), 'agent 1');
  t.equal(names.nameIn('LangGraph'), null);
});

const AGENT = { 'openinference.span.kind': 'AGENT' };
const CHAIN = { 'openinference.span.kind': 'CHAIN' };
const invoke = (name: string, ...children: SentSpan[]): SentSpan => ({
  name: `invoke_agent ${name}`,
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
  children,
});
const called = (name: string, attributes: SentSpan['attributes'], ...children: SentSpan[]): SentSpan => ({
  name,
  attributes: { ...attributes },
  children,
});

/** Spans of a run and the agent expected from them. */
const RUNS: Readonly<Record<string, readonly [agent: string, root: SentSpan]>> = {
  'an root span is an agent': ['a', invoke('a', invoke('b'))],
  'a function of the Vercel AI SDK': [
    'weather-fn',
    called('ai.generateText', {
      'ai.operationId': 'ai.generateText',
      'ai.telemetry.functionId': 'weather-fn',
    }),
  ],
  'an agent without a name, of a span that is called by its model': [
    'svc',
    called('invoke_agent gpt-5', {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.request.model': 'gpt-5',
    }),
  ],
  'a workflow at the root, above agents': [
    'weather_bot',
    called('invoke_workflow weather_bot', { 'gen_ai.workflow.name': 'weather_bot' }, invoke('model')),
  ],
  'a workflow of OpenLLMetry': [
    'joke',
    called(
      'joke.workflow',
      { 'traceloop.span.kind': 'workflow', 'traceloop.workflow.name': 'joke' },
      invoke('a'),
    ),
  ],
  'a crew': ['Travel', called('crewai.workflow', { 'crewai.crew.name': 'Travel' }, invoke('guide'))],
  'an observation of Langfuse that is an agent': [
    'weather-agent',
    called('weather-agent', { 'langfuse.observation.type': 'agent', 'langfuse.trace.name': 'Question' }),
  ],
  'one whose name says nothing, of a trace that has one': [
    'Question',
    called('agent', { 'langfuse.observation.type': 'agent', 'langfuse.trace.name': 'Question' }),
  ],
  'an observation that is no agent': [
    'svc',
    called('generation', { 'langfuse.observation.type': 'generation', 'langfuse.trace.name': 'Question' }),
  ],
  'what LangChain calls the agent': [
    'weather_bot',
    called('LangGraph', { ...CHAIN, metadata: '{"lc_agent_name": "weather_bot"}' }),
  ],
  'an agent of OpenInference by the name of its span': [
    'boss',
    called('boss.run', AGENT, called('helper.run', AGENT)),
  ],
  'a chain of OpenInference at the root': [
    'weather_bot',
    called('weather_bot', CHAIN, called('model', CHAIN)),
  ],
  'a chain below the root names nobody': ['svc', called('RunnableSequence', CHAIN, called('model', CHAIN))],
  'a root that says nothing, above one agent': [
    'Weather agent',
    called(
      'Agent workflow',
      AGENT,
      called('turn', CHAIN, called('x', { ...AGENT, 'agent.name': 'Weather agent' })),
    ),
  ],
  'of several agents the topmost, of those the first': [
    'first',
    called('Agent workflow', AGENT, called('step', CHAIN, invoke('deep')), invoke('first'), invoke('second')),
  ],
  'a server above an agent': [
    'planner',
    {
      name: 'POST /ask',
      kind: 2,
      attributes: { 'http.request.method': 'POST' },
      children: [invoke('planner')],
    },
  ],
  'a server alone': ['svc', { name: 'GET /orders', kind: 2, attributes: { 'http.request.method': 'GET' } }],
  'a script': ['svc', called('pipeline', {}, called('chat m', { 'gen_ai.request.model': 'm' }))],
  'a script above an agent': ['planner', called('pipeline', {}, invoke('planner'))],
  'an agent by its span, below what says nothing': [
    'Hello world',
    called(
      'Agent workflow',
      AGENT,
      called('Hello world', AGENT, called('response', { 'llm.model_name': 'm' })),
    ),
  ],
  'an agent span before a call that mentions another': [
    'planner',
    called(
      'main',
      {},
      called('chat m', { 'gen_ai.operation.name': 'chat', 'gen_ai.agent.name': 'helper' }),
      called('step', {}, invoke('planner')),
    ),
  ],
  'a call that mentions the agent, where nothing else does': [
    'helper',
    called('main', {}, called('chat m', { 'gen_ai.operation.name': 'chat', 'gen_ai.agent.name': 'helper' })),
  ],
};

void t.test('finds the agent of a run', async (t) => {
  for (const [what, [agent, root]] of Object.entries(RUNS)) t.equal(mapRun(root).agent, agent, what);
});

void t.test('uses the root if the service has no name', async (t) => {
  for (const service of ['unknown_service', 'unknown_service:node', '']) {
    t.equal(mapRun(called('Agent.run', AGENT), { service }).agent, 'Agent.run');
    t.equal(mapRun(called('main', {}, called('step', {})), { service }).agent, 'main');
  }
});

void t.test('uses the program for all its runs', async (t) => {
  const CASES: readonly (readonly [service: string, root: string, agent: string])[] = [
    ['weather-9ac73818', 'main', 'weather'],
    ['4d5b2186-7b63-8a18-46a3-8dc4af8e29a4', 'job 17345', 'job'],
    ['laminar-tracer-resource', 'weather', 'weather'],
    ['laminar-tracer-resource', '9ac73818a528f9f1', 'laminar-tracer-resource'],
    ['unknown_service:node', '17345', 'unknown_service:node'],
    ['prog/weather.py', 'main', 'weather'],
    ['/srv/weather/main.py', 'openai.chat', 'weather'],
    ['C:\\weather\\src\\index.js', 'openai.chat', 'C:\\weather\\src\\index.js'],
    ['-c', 'openai.chat', 'openai.chat'],
  ];
  for (const [service, root, agent] of CASES)
    t.equal(mapRun(called(root, {}), { service }).agent, agent, `${service}: ${root}`);
  const resource = { 'openinference.project.name': 'weather-px' };
  t.equal(mapRun(called('ChatCompletion', {}), { service: '', resource }).agent, 'weather-px');
  t.equal(mapRun(called('ChatCompletion', {}), { resource }).agent, 'svc');
  const none = { 'openinference.project.name': 'default' };
  t.equal(mapRun(called('ChatCompletion', {}), { service: '', resource: none }).agent, 'ChatCompletion');
});

void t.test('configured names match roots of any kind and override others', async (t) => {
  const names = { generic: ['weather_bot'], specific: ['nightly *', 'LangGraph'] };
  t.equal(mapRun(called('nightly report', {}, invoke('a')), { names }).agent, 'nightly report');
  t.equal(mapRun(called('LangGraph', CHAIN, invoke('a')), { names }).agent, 'LangGraph');
  t.equal(mapRun(called('weather_bot', CHAIN, invoke('a')), { names }).agent, 'a');
  t.equal(
    mapRun(called('main', {}, called('nightly report', {})), { names }).agent,
    'svc',
    'only at the root',
  );
});
