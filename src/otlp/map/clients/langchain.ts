import type { JsonValue } from '../../../signal/attributes.js';
import type { Convention } from '../conventions/convention.js';
import { identity, inside, kindBy, text, texts } from '../conventions/readers.js';

/** What a run was configured with, as OpenInference writes it: JSON in one attribute. */
const METADATA = 'metadata';

/**
 * LangChain, LangGraph and LangSmith: what they say through OpenInference (`metadata`), and LangSmith's own attributes
 * (`langsmith.*`).
 */
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
    session_id: {
      'langsmith.metadata.session_id': { rank: 12 },
      'langsmith.metadata.conversation_id': { rank: 13 },
      'langsmith.metadata.thread_id': { rank: 14 },
      [METADATA]: { rank: 15, read: inside(['session_id', 'conversation_id', 'thread_id'], identity) },
    },
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
      // Nodes of the graphs that its own functions make.
      'model',
      'tools',
      'call_model',
      '__start__',
      '__end__',
    ],
  },
};

/** LangChain tags the steps of its graphs and sequences, too. */
const OF_STEPS = /^(?:graph|seq|map|condition|branch):/;

function ofProgram(tags: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(tags)) return tags;
  const kept = tags.filter((tag) => typeof tag !== 'string' || !OF_STEPS.test(tag));
  return kept.length === 0 ? undefined : kept;
}

function commaSeparated(value: JsonValue): JsonValue {
  return typeof value === 'string' ? value.split(',').map((tag) => tag.trim()) : value;
}
