import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { AGENT, serviceNodeOf } from '../../../src/signal/service-node.js';
import type { Span } from '../../../src/otlp/wire/requests.js';
import type { SpanType } from '../../../src/signal/span.js';
import { aSpan, tracesOf } from '../../support/otlp-requests.js';
import { mapSpans, PARENT, ROOT } from '../../support/mapped-span.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';

const [INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER] = [1, 2, 3, 4, 5];
const KIND = 'openinference.span.kind';

interface Case {
  readonly what: string;
  readonly name?: string;
  readonly scope?: string;
  readonly kind?: number;
  readonly attributes: JsonObject;
  readonly changes?: Partial<Span>;
  readonly type: SpanType;
  /** null: no node. */
  readonly node: string | typeof AGENT | null;
}

/** Service map nodes for spans of each client. */
const CASES: readonly Case[] = [
  // Agents: their own name, not that of their run.
  {
    what: 'an agent by its attribute',
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'planner 2' },
    type: 'agent',
    node: 'planner 2',
  },
  {
    what: 'an agent by its span',
    name: 'weather_agent.run',
    attributes: { [KIND]: 'AGENT' },
    type: 'agent',
    node: 'weather_agent',
  },
  {
    what: 'an agent of OpenLLMetry inside of a workflow',
    name: 'writer.agent',
    attributes: {
      'traceloop.span.kind': 'agent',
      'traceloop.entity.name': 'writer',
      'traceloop.workflow.name': 'team',
    },
    type: 'agent',
    node: 'writer',
  },
  {
    what: 'a generic name is the agent of the run',
    name: 'LangGraph',
    attributes: { [KIND]: 'AGENT' },
    type: 'agent',
    node: AGENT,
  },
  {
    what: 'a node of a graph that says that it is an agent',
    name: 'invoke_agent model',
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'model' },
    type: 'agent',
    node: AGENT,
  },
  {
    what: 'a step of an agent',
    name: 'ReActAgent.take_step',
    attributes: { [KIND]: 'AGENT' },
    type: 'agent',
    node: AGENT,
  },
  {
    what: 'an event of an agent',
    name: 'agent.react.start-4',
    attributes: { [KIND]: 'AGENT' },
    type: 'agent',
    node: AGENT,
  },
  {
    what: 'the root of a service',
    name: 'GET /orders',
    kind: SERVER,
    attributes: { 'http.request.method': 'GET' },
    changes: ROOT,
    type: 'agent',
    node: AGENT,
  },

  // Framework steps.
  { what: 'a parser', name: 'StrOutputParser', attributes: { [KIND]: 'CHAIN' }, type: 'custom', node: null },
  {
    what: 'a chain at the root',
    name: 'RunnableSequence',
    attributes: { [KIND]: 'CHAIN' },
    changes: ROOT,
    type: 'custom',
    node: AGENT,
  },
  {
    what: 'a prompt',
    name: 'ChatPromptTemplate',
    attributes: { 'langsmith.span.kind': 'prompt' },
    type: 'custom',
    node: null,
  },
  {
    what: 'a guard',
    name: 'guard',
    attributes: { 'langfuse.observation.type': 'guardrail' },
    type: 'custom',
    node: null,
  },
  {
    what: 'a task',
    name: 'plan.task',
    attributes: { 'traceloop.span.kind': 'task' },
    type: 'custom',
    node: null,
  },
  {
    what: 'a cycle',
    name: 'Cycle a81bc81b-dead-4e5d-abff-90865d1e13b1',
    attributes: { 'event_loop.cycle_id': 'x' },
    type: 'custom',
    node: null,
  },
  { what: 'a step without any attribute', name: 'compute', attributes: {}, type: 'custom', node: null },
  {
    what: 'a step that names its server only because a model call does',
    kind: CLIENT,
    attributes: { [KIND]: 'CHAIN', 'server.address': 'api.openai.com' },
    type: 'custom',
    node: null,
  },
  {
    what: 'and so where a provider is named',
    kind: CLIENT,
    attributes: {
      'gen_ai.operation.name': 'framework',
      'gen_ai.provider.name': 'langgraph',
      'server.address': '127.0.0.1',
    },
    type: 'custom',
    node: null,
  },
  {
    what: 'a message of a runtime inside of the process',
    scope: 'autogen SingleThreadedAgentRuntime',
    kind: PRODUCER,
    attributes: { 'messaging.operation': 'create', 'messaging.destination': 'group_topic' },
    type: 'custom',
    node: null,
  },

  // Steps with a destination.
  { what: 'a peer', attributes: { 'peer.service': 'billing-2' }, type: 'custom', node: 'billing-2' },
  {
    what: 'the newer name of a peer first',
    attributes: { 'service.peer.name': 'a', 'peer.service': 'b' },
    type: 'custom',
    node: 'a',
  },
  {
    what: 'a host that is called',
    kind: CLIENT,
    attributes: { 'server.address': 'smtp.example.com' },
    type: 'custom',
    node: 'smtp.example.com',
  },
  {
    what: 'the address of the server that it runs in',
    kind: INTERNAL,
    attributes: { 'server.address': 'here' },
    type: 'custom',
    node: null,
  },
  {
    what: 'a queue',
    kind: PRODUCER,
    attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': 'orders-17' },
    type: 'custom',
    node: 'kafka/orders-17',
  },
  {
    what: 'a queue by its template',
    kind: CONSUMER,
    attributes: {
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': 'q.x1',
      'messaging.destination.template': 'q.{user}',
    },
    type: 'custom',
    node: 'rabbitmq/q.{user}',
  },
  {
    what: 'a queue by its old name',
    kind: PRODUCER,
    attributes: { 'messaging.destination': 'reply_bd8e5fbe-ad60-4167-80ed-e434c84a0073' },
    type: 'custom',
    node: 'reply_<id>',
  },
  {
    what: 'a queue without a name',
    kind: PRODUCER,
    attributes: { 'messaging.system': 'aws_sqs' },
    type: 'custom',
    node: 'aws_sqs',
  },
  {
    what: 'an MCP server by its name',
    kind: CLIENT,
    attributes: { 'mcp.method.name': 'tools/list', 'mcp.server.name': 'files', 'server.address': 'h' },
    type: 'custom',
    node: 'files',
  },
  {
    what: 'an MCP server by its address',
    kind: CLIENT,
    attributes: { 'mcp.method.name': 'initialize', 'server.address': 'mcp.example.com' },
    type: 'custom',
    node: 'mcp.example.com',
  },
  {
    what: 'an MCP server behind a pipe',
    attributes: { 'mcp.method.name': 'initialize', 'network.transport': 'pipe' },
    type: 'custom',
    node: 'mcp',
  },
  {
    what: 'what an MCP server does itself',
    kind: SERVER,
    attributes: { 'mcp.method.name': 'resources/read' },
    type: 'custom',
    node: null,
  },
  {
    what: 'an MCP server that is called by RPC',
    kind: CLIENT,
    attributes: { 'rpc.system': 'mcp', 'rpc.service': 'files', 'mcp.method.name': 'prompts/get' },
    type: 'http',
    node: 'files',
  },
  {
    what: 'a tool of an MCP server calls the server',
    kind: CLIENT,
    attributes: { 'mcp.method.name': 'tools/call', 'server.address': 'mcp.example.com' },
    type: 'tool',
    node: 'mcp.example.com',
  },
  {
    what: 'a tool of an MCP server without a name',
    kind: CLIENT,
    attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' },
    type: 'tool',
    node: null,
  },
  {
    what: 'a tool that an MCP server runs',
    kind: SERVER,
    attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' },
    changes: ROOT,
    type: 'tool',
    node: null,
  },
  {
    what: 'the call of a tool as its MCP server reports it',
    kind: SERVER,
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'fastmcp.server.name': 'files',
    },
    type: 'custom',
    node: 'files',
  },
  {
    what: 'the transport of a call',
    name: 'MCP send tools/call add',
    scope: 'mcp-python-sdk',
    kind: CLIENT,
    attributes: { 'mcp.method.name': 'tools/call' },
    type: 'custom',
    node: null,
  },

  // Requests.
  {
    what: 'the host of a request',
    name: 'GET',
    kind: CLIENT,
    attributes: { 'http.request.method': 'GET', 'url.full': 'https://API.example.com:8443/v1?q=1' },
    type: 'http',
    node: 'api.example.com',
  },
  {
    what: 'its address first',
    kind: CLIENT,
    attributes: { 'http.request.method': 'GET', 'server.address': '10.0.0.7', 'url.full': 'https://x/' },
    type: 'http',
    node: '10.0.0.7',
  },
  {
    what: 'its peer before that',
    kind: CLIENT,
    attributes: { 'http.request.method': 'GET', 'peer.service': 'payments', 'server.address': '10.0.0.7' },
    type: 'http',
    node: 'payments',
  },
  {
    what: 'a request that says nothing',
    name: 'GET /users/17',
    kind: CLIENT,
    attributes: { 'http.method': 'GET' },
    type: 'http',
    node: 'GET /users/17',
  },
  {
    what: 'a path alone',
    name: 'GET',
    kind: CLIENT,
    attributes: { 'http.method': 'GET', 'http.target': '/users/17' },
    type: 'http',
    node: 'GET',
  },
  {
    what: 'a service of gRPC',
    name: 'shop.Orders/Get',
    kind: CLIENT,
    attributes: { 'rpc.system': 'grpc', 'rpc.service': 'shop.Orders' },
    type: 'http',
    node: 'shop.Orders',
  },

  // Databases.
  {
    what: 'a database',
    name: 'SELECT',
    kind: CLIENT,
    attributes: { 'db.system.name': 'postgresql', 'db.namespace': 'shop' },
    type: 'db',
    node: 'postgresql/shop',
  },
  {
    what: 'the number of a database',
    kind: CLIENT,
    attributes: { 'db.system': 'redis', 'db.namespace': 0 },
    type: 'db',
    node: 'redis/0',
  },
  {
    what: 'a retriever',
    name: 'query 7',
    attributes: { [KIND]: 'RETRIEVER', 'db.collection.name': 'docs' },
    type: 'db',
    node: 'query 7',
  },
  {
    what: 'the peer of a database',
    kind: CLIENT,
    attributes: { 'db.system': 'mysql', 'peer.service': 'orders-db' },
    type: 'db',
    node: 'orders-db',
  },

  // Models and tools have no node, as specified.
  {
    what: 'a model call',
    kind: CLIENT,
    attributes: { 'gen_ai.operation.name': 'chat', 'server.address': 'api.openai.com' },
    type: 'llm',
    node: null,
  },
  {
    what: 'the request of a model call',
    kind: CLIENT,
    attributes: { 'http.request.method': 'POST', 'url.full': 'https://api.openai.com/v1/chat/completions' },
    type: 'http',
    node: 'api.openai.com',
  },
];

for (const { what, name = 'step', scope = 'a scope', kind, attributes, changes, type, node } of CASES)
  void t.test(what, async (t) => {
    const span = aSpan(1, {
      name,
      kind: kind ?? INTERNAL,
      parentSpanId: PARENT,
      attributes: toKeyValues(attributes),
      ...changes,
    });
    const request = { resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: [span] }] }] };
    const record = mapSpans(request).batch.items[0]?.spans[0];
    t.equal(record?.type, type);
    if (record !== undefined) t.equal(serviceNodeOf(record), node);
  });

void t.test('uses the hint of the mapping instead of attributes', async (t) => {
  const record = mapSpans(
    tracesOf(
      aSpan(1, { kind: CLIENT, attributes: toKeyValues({ 'db.system': 'redis' }), parentSpanId: PARENT }),
    ),
  ).batch.items[0]?.spans[0];
  if (record === undefined) throw new Error('not taken');
  t.equal(serviceNodeOf({ ...record, metadata: { 'peer.service': 'another' } }), 'redis');
});
