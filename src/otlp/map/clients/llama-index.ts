import type { Convention } from '../conventions/convention.js';

/** LlamaIndex: what it calls its workflows and engines, by their classes. */
export const LLAMA_INDEX: Convention = {
  agentNames: {
    around: ['*.query', '*.aquery', '*.chat', '*.achat', '*.stream_chat', '*.astream_chat'],
    generic: [
      'AgentWorkflow',
      'FunctionAgent',
      'ReActAgent',
      'CodeActAgent',
      '*QueryEngine',
      '*ChatEngine',
      'BaseWorkflowAgent',
    ],
  },
};
