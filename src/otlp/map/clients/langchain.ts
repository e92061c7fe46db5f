import type { JsonValue } from '../../../signal/attributes.js';
import type { UsageFigure } from '../../../signal/usage-object.js';
import type { Convention } from '../conventions/convention.js';
import { cost, identity, inside, kindBy, objectOf, payload, text, texts } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';

/** The configuration of a run as sent by OpenInference: JSON in one attribute. */
const METADATA = 'metadata';
/** LangSmith's usage, in Python and in JavaScript. */
const USAGE = 'langsmith.metadata.usage_metadata';
const USAGE_METADATA = 'langsmith.usage_metadata';

/** LangChain, LangGraph and LangSmith: `metadata` as sent through OpenInference, and LangSmith's own attributes (`langsmith.*`). */
export const LANGCHAIN: Convention = {
  fields: {
    kind: {
      'langsmith.span.kind': {
        rank: 9,
        read: kindBy({
          LLM: 'llm',
          EMBEDDING: 'llm',
          TOOL: 'tool',
          RETRIEVER: 'retrieval',
          CHAIN: 'chain',
          PROMPT: 'custom',
          PARSER: 'custom',
        }),
      },
    },
    lc_agent: {
      [METADATA]: { rank: 1, read: inside(['lc_agent_name'], text) },
      'langsmith.metadata.lc_agent_name': { rank: 2 },
      'traceloop.association.properties.lc_agent_name': { rank: 3 },
    },
    model: {
      [METADATA]: { rank: 10, read: inside(['ls_model_name'], text) },
      'langsmith.metadata.ls_model_name': { rank: 11 },
      'traceloop.association.properties.ls_model_name': { rank: 12 },
    },
    provider: {
      [METADATA]: { rank: 6, read: inside(['ls_provider'], text) },
      'langsmith.metadata.ls_provider': { rank: 7 },
      'traceloop.association.properties.ls_provider': { rank: 8 },
    },
    input_tokens: ofUsage('input', 11),
    output_tokens: ofUsage('output', 11),
    total_tokens: ofUsage('total', 11),
    cached_read: ofUsage('cached_read', 26),
    cached_write: ofUsage('cached_write', 26),
    cached_write_5m: ofUsage('cached_write_5m', 26),
    cached_write_1h: ofUsage('cached_write_1h', 26),
    reasoning: ofUsage('reasoning', 26),
    audio_input: ofUsage('audio_input', 26),
    audio_output: ofUsage('audio_output', 26),
    cost: { [USAGE]: { rank: 17, read: inside(['total_cost'], cost) } },
    cost_input: { [USAGE]: { rank: 7, read: inside(['input_cost'], cost) } },
    cost_output: { [USAGE]: { rank: 7, read: inside(['output_cost'], cost) } },
    // LangSmith wraps values other than objects in an object.
    result: { 'gen_ai.completion': { rank: 20, read: outputAlone } },
    session_id: {
      'langsmith.metadata.session_id': { rank: 12 },
      'langsmith.metadata.conversation_id': { rank: 13 },
      'langsmith.metadata.thread_id': { rank: 14 },
      [METADATA]: { rank: 15, read: inside(['session_id', 'conversation_id', 'thread_id'], identity) },
    },
    release: { 'langsmith.metadata.revision_id': { rank: 22 } },
    user_id: {
      'langsmith.metadata.user_id': { rank: 12 },
      [METADATA]: { rank: 13, read: inside(['user_id'], identity) },
    },
    tags: {
      'langsmith.span.tags': { rank: 7, read: (value) => ofProgram(texts(commaSeparated(value))) },
      [METADATA]: { rank: 9, read: inside(['tags'], texts) },
    },
  },
  agentNames: {
    generic: [
      'LangGraph',
      'Graph',
      'StateGraph',
      'CompiledStateGraph',
      'Runnable*',
      'AgentExecutor',
      'LLMChain',
      'ConversationChain',
      'RetrievalQA',
      'StuffDocumentsChain',
      'ChatPromptTemplate',
      'PromptTemplate',
      '*OutputParser',
      // Nodes that its own functions add to graphs.
      'model',
      'tools',
      'call_model',
      '__start__',
      '__end__',
    ],
  },
};

/** A figure of its usage. @param rank of the first of two sources */
function ofUsage(figure: UsageFigure, rank: number) {
  const read = usageObject(figure);
  return { [USAGE]: { rank, read }, [USAGE_METADATA]: { rank: rank + 1, read } };
}

function outputAlone(value: JsonValue): JsonValue | undefined {
  const object = objectOf(value);
  return object !== undefined && Object.keys(object).length === 1
    ? payload(object.output ?? null)
    : undefined;
}

/** Tags that LangChain adds to the steps of graphs and sequences. */
const OF_STEPS = /^(?:graph|seq|map|condition|branch):/;

function ofProgram(tags: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(tags)) return tags;
  const kept = tags.filter((tag) => typeof tag !== 'string' || !OF_STEPS.test(tag));
  return kept.length === 0 ? undefined : kept;
}

function commaSeparated(value: JsonValue): JsonValue {
  return typeof value === 'string' ? value.split(',').map((tag) => tag.trim()) : value;
}
