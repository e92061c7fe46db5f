import type { Convention, Reader } from '../conventions/convention.js';

/** Steps of an agent are called with events that Python has printed; they name the agent last. */
const AGENT_OF_EVENT = /\bcurrent_agent_name='([^']+)'\)/;

/** The agent in what a step was called with, or in what it gave on. */
const agentOfEvent: Reader = (value) =>
  typeof value === 'string' && (value.startsWith('{"ctx"') || value.startsWith('Agent'))
    ? AGENT_OF_EVENT.exec(value)?.[1]
    : undefined;

/** LlamaIndex: what it calls its workflows and engines, by their classes. */
export const LLAMA_INDEX: Convention = {
  fields: {
    agent: {
      'input.value': { rank: 3, read: agentOfEvent },
      'output.value': { rank: 4, read: agentOfEvent },
    },
  },
  agentNames: {
    around: ['*.query', '*.aquery', '*.chat', '*.achat', '*.stream_chat', '*.astream_chat'],
    generic: [
      'AgentWorkflow',
      'FunctionAgent',
      'ReActAgent',
      'CodeActAgent',
      '*QueryEngine',
      '*Splitter*',
      '*NodeParser*',
      'IngestionPipeline*',
      '*ChatEngine',
      'BaseWorkflowAgent',
    ],
  },
};
