import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import type { RunKind } from '../../../src/signal/span.js';
import type { Span } from '../../../src/otlp/wire/requests.js';
import { mapSpan, ROOT } from '../../support/mapped-span.js';

const INTERNAL: Partial<Span> = { kind: 1 };
const SERVER: Partial<Span> = { kind: 2 };
const CLIENT: Partial<Span> = { kind: 3 };
const PRODUCER: Partial<Span> = { kind: 4 };
const CONSUMER: Partial<Span> = { kind: 5 };

type Row = readonly [said: RunKind | null, attributes: JsonObject, changes?: Partial<Span>];

/** Run kinds from spans. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'agents, workflows, models and tools are at work': [
    ['agent', { 'openinference.span.kind': 'AGENT' }],
    ['agent', { 'openinference.span.kind': 'CHAIN' }, ROOT],
    ['agent', { 'openinference.span.kind': 'LLM' }],
    ['agent', { 'gen_ai.operation.name': 'invoke_agent' }, CLIENT],
    ['agent', { 'gen_ai.operation.name': 'embeddings' }],
    ['agent', { 'gen_ai.operation.name': 'retrieval' }],
    ['agent', { 'traceloop.span.kind': 'workflow' }, ROOT],
    ['agent', { 'ai.operationId': 'ai.generateText' }],
    ['agent', { 'gen_ai.request.model': 'm' }],
    ['agent', { 'gen_ai.tool.name': 'search' }],
    ['agent', { 'mcp.method.name': 'tools/call' }, CLIENT],
    ['agent', { 'gen_ai.agent.name': 'planner', 'http.request.method': 'GET' }, SERVER],
    ['agent', { agent_name: 'planner' }],
    // Only models use tokens, whatever else the span is.
    ['agent', { 'gen_ai.usage.input_tokens': 5 }],
    ['agent', { 'rpc.system': 'jsonrpc', 'gen_ai.usage.output_tokens': 5 }, { ...SERVER, ...ROOT }],
    ['agent', { 'gen_ai.operation.name': 'create_agent', 'gen_ai.usage.input_tokens': 5 }, CLIENT],
    // A span named like the workflow of its client is a step.
    ['agent', { 'traceloop.workflow.name': 'joke_maker', 'http.request.method': 'GET' }, CLIENT],
  ],
  'an agent that is only made does not run': [
    ['other', { 'gen_ai.operation.name': 'create_agent', 'gen_ai.agent.name': 'planner' }, CLIENT],
    ['other', { 'gen_ai.operation.name': 'create_agent', 'gen_ai.request.model': 'm' }, ROOT],
  ],
  'services, databases, queues and actors': [
    ['other', { 'http.request.method': 'GET' }, { ...SERVER, ...ROOT }],
    ['other', { 'http.request.method': 'GET' }, { ...CLIENT, ...ROOT }],
    ['other', { 'rpc.system': 'grpc' }, SERVER],
    ['other', {}, SERVER],
    ['other', { 'db.system.name': 'postgresql' }, CLIENT],
    ['other', { 'messaging.operation': 'publish', 'messaging.destination': 'weather' }, PRODUCER],
    ['other', { 'messaging.system': 'kafka' }, INTERNAL],
    ['other', {}, CONSUMER],
    ['other', { 'mcp.method.name': 'tools/list' }, CLIENT],
    // The tool span does not know its caller.
    ['other', { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' }, SERVER],
    ['other', { 'gen_ai.tool.name': 'search' }, SERVER],
  ],
  'others say nothing': [
    [null, {}],
    [null, {}, ROOT],
    [null, { anything: 1 }, { ...INTERNAL, ...ROOT }],
    [null, { 'gen_ai.usage.input_tokens': 0 }],
    [null, {}, CLIENT],
    [null, { 'langfuse.observation.type': 'span' }, ROOT],
    [null, { 'openinference.span.kind': 'GUARDRAIL', 'http.request.method': 'GET' }, CLIENT],
  ],
};

for (const [row, cases] of Object.entries(ROWS))
  void t.test(row, async (t) => {
    for (const [message, attributes, changes] of cases)
      t.equal(mapSpan(attributes, changes).run_kind, message, JSON.stringify([attributes, changes?.kind]));
  });
