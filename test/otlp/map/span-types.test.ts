import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import type { SpanType } from '../../../src/signal/span.js';
import type { Span } from '../../../src/otlp/wire/requests.js';
import { mapSpan, ROOT } from '../../support/mapped-span.js';

const CLIENT: Partial<Span> = { kind: 3 };
const SERVER: Partial<Span> = { kind: 2 };
const DB = { 'db.collection.name': 'documents' };

type Row = readonly [type: SpanType, attributes: JsonObject, changes?: Partial<Span>];

/** The type table in `src/otlp/README.md`, row by row. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  '1 openinference.span.kind': [
    ['llm', { 'openinference.span.kind': 'LLM' }],
    ['llm', { 'openinference.span.kind': 'EMBEDDING' }],
    ['agent', { 'openinference.span.kind': 'AGENT' }],
    ['tool', { 'openinference.span.kind': 'TOOL' }],
    ['tool', { 'openinference.span.kind': 'RETRIEVER' }],
    ['db', { 'openinference.span.kind': 'RETRIEVER', ...DB }],
    ['custom', { 'openinference.span.kind': 'CHAIN' }],
    ['custom', { 'openinference.span.kind': 'CHAIN' }, ROOT],
    ['custom', { 'openinference.span.kind': 'RERANKER' }],
    ['custom', { 'openinference.span.kind': 'GUARDRAIL' }],
    ['custom', { 'openinference.span.kind': 'EVALUATOR' }],
    ['custom', { 'openinference.span.kind': 'PROMPT' }],
    ['llm', { 'openinference.span.kind': ' llm ' }],
  ],
  '2 gen_ai.operation.name': [
    ['llm', { 'gen_ai.operation.name': 'chat' }],
    ['llm', { 'gen_ai.operation.name': 'text_completion' }],
    ['llm', { 'gen_ai.operation.name': 'completion' }],
    ['llm', { 'gen_ai.operation.name': 'generate_content' }],
    ['llm', { 'gen_ai.operation.name': 'generate' }],
    ['llm', { 'gen_ai.operation.name': 'embeddings' }],
    ['agent', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'm' }],
    ['agent', { 'gen_ai.operation.name': 'create_agent' }],
    ['agent', { 'gen_ai.operation.name': 'invoke_workflow' }],
    ['tool', { 'gen_ai.operation.name': 'execute_tool' }],
    ['custom', { 'gen_ai.operation.name': 'handoff', 'gen_ai.agent.name': 'a' }],
    ['tool', { 'gen_ai.operation.name': 'retrieval' }],
    ['db', { 'gen_ai.operation.name': 'retrieval', ...DB }],
    ['custom', { 'gen_ai.operation.name': 'something new' }],
    ['custom', { 'gen_ai.operation.name': 'handoff', 'gen_ai.usage.input_tokens': 5 }],
    // Without a known kind.
    ['llm', { 'gen_ai.operation.name': 'something new', 'gen_ai.usage.input_tokens': 5 }],
    ['llm', { 'gen_ai.usage.input_tokens': 5 }, ROOT],
    ['agent', { 'gen_ai.agent.name': 'a', 'gen_ai.usage.input_tokens': 5 }],
    ['agent', { 'gen_ai.usage.input_tokens': 0 }, ROOT],
  ],
  '3 Langfuse, Traceloop, Laminar': [
    ['llm', { 'langfuse.observation.type': 'generation' }],
    ['llm', { 'langfuse.observation.type': 'embedding' }],
    ['agent', { 'langfuse.observation.type': 'agent' }],
    ['tool', { 'langfuse.observation.type': 'tool' }],
    ['tool', { 'langfuse.observation.type': 'retriever' }],
    ['custom', { 'langfuse.observation.type': 'chain' }, ROOT],
    // Langfuse uses the type `span` by default.
    ['agent', { 'langfuse.observation.type': 'span' }, ROOT],
    ['llm', { 'langfuse.observation.type': 'span', 'gen_ai.request.model': 'm' }],
    ['agent', { 'traceloop.span.kind': 'workflow' }, ROOT],
    ['custom', { 'traceloop.span.kind': 'workflow' }],
    ['agent', { 'traceloop.span.kind': 'agent' }],
    ['tool', { 'traceloop.span.kind': 'tool' }],
    ['custom', { 'traceloop.span.kind': 'task' }, ROOT],
    ['llm', { 'lmnr.span.type': 'LLM' }],
    ['tool', { 'lmnr.span.type': 'TOOL' }],
    ['agent', { 'lmnr.span.type': 'DEFAULT' }, ROOT],
  ],
  '4 Vercel AI SDK': [
    ['llm', { 'ai.operationId': 'ai.generateText.doGenerate' }],
    ['llm', { 'ai.operationId': 'ai.streamText.doStream' }],
    ['llm', { 'ai.operationId': 'ai.embed.doEmbed' }],
    ['tool', { 'ai.operationId': 'ai.toolCall' }],
    ['custom', { 'ai.operationId': 'ai.generateText' }],
    ['agent', { 'ai.operationId': 'ai.generateText' }, ROOT],
  ],
  '4b LangSmith, MLflow': [
    ['llm', { 'langsmith.span.kind': 'llm' }],
    ['tool', { 'langsmith.span.kind': 'tool' }],
    ['custom', { 'langsmith.span.kind': 'chain' }, ROOT],
    ['agent', { 'mlflow.spanType': '"AGENT"' }],
    ['llm', { 'mlflow.spanType': 'CHAT_MODEL' }],
  ],
  '5 tools by their names': [
    ['tool', { 'gen_ai.tool.name': 'search' }],
    ['tool', { 'gen_ai.tool.call.id': 'call_1' }],
    ['tool', { 'mcp.method.name': 'tools/call' }],
    ['custom', { 'mcp.method.name': 'tools/list' }],
    ['tool', { 'gen_ai.tool.name': 'search', 'gen_ai.request.model': 'm' }],
  ],
  '6 models': [
    ['llm', { 'gen_ai.request.model': 'm' }],
    ['llm', { 'gen_ai.response.model': 'm' }],
    ['llm', { 'llm.model_name': 'm' }],
    ['custom', { 'gen_ai.request.model': '' }],
    ['llm', { 'gen_ai.request.model': 'm' }, ROOT],
  ],
  '7 databases': [
    ['db', { 'db.system.name': 'postgresql' }],
    ['db', { 'db.system': 'redis' }],
    ['db', { 'db.system.name': 'elasticsearch', 'http.request.method': 'GET' }, CLIENT],
    ['custom', DB],
  ],
  '8 HTTP and RPC': [
    ['http', { 'http.request.method': 'GET' }, CLIENT],
    ['http', { 'http.method': 'GET' }, CLIENT],
    ['custom', { 'http.request.method': 'GET' }, SERVER],
    ['agent', { 'http.request.method': 'GET' }, { ...SERVER, ...ROOT }],
    ['custom', { 'http.request.method': 'GET' }],
    ['http', { 'rpc.system': 'grpc' }, CLIENT],
    ['http', { 'rpc.system': 'grpc' }],
    ['custom', { 'rpc.system': 'grpc' }, SERVER],
  ],
  '6b agents by their names': [
    ['agent', { 'gen_ai.agent.name': 'a' }],
    ['agent', { agent_name: 'a' }],
    ['db', { 'gen_ai.agent.name': 'a', 'db.system': 'redis' }],
  ],
  '9 and 10 the rest': [
    ['agent', {}, ROOT],
    ['agent', { anything: 1 }, { parentSpanId: new Uint8Array(0) }],
    // Some SDKs send zeros for no parent.
    ['agent', {}, { parentSpanId: Buffer.alloc(8) }],
    ['custom', {}],
    ['custom', { anything: 1 }],
  ],
  'rows before others': [
    ['agent', { 'openinference.span.kind': 'AGENT', 'gen_ai.operation.name': 'chat' }],
    ['agent', { 'gen_ai.operation.name': 'chat', 'openinference.span.kind': 'AGENT' }],
    ['llm', { 'langfuse.observation.type': 'tool', 'gen_ai.operation.name': 'chat' }],
    ['tool', { 'ai.operationId': 'ai.generateText.doGenerate', 'langfuse.observation.type': 'tool' }],
    ['llm', { 'ai.operationId': 'ai.generateText.doGenerate', 'gen_ai.tool.name': 'search' }],
    ['llm', { 'openinference.span.kind': 'NEW', 'gen_ai.operation.name': 'chat' }],
    ['llm', { 'openinference.span.kind': 7, 'gen_ai.operation.name': 'chat' }],
  ],
};

for (const [row, cases] of Object.entries(ROWS))
  void t.test(`types: ${row}`, async (t) => {
    for (const [type, attributes, changes] of cases)
      t.equal(
        mapSpan(attributes, changes).type,
        type,
        `${JSON.stringify(attributes)}${changes === ROOT ? ' at the root' : ''}`,
      );
  });
