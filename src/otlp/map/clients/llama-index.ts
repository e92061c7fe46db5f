import type { Convention, Reader } from '../conventions/convention.js';
import { inside, text } from '../conventions/readers.js';

/** The input of an agent's step is an event printed by Python, which ends with the agent's name. */
const AGENT_OF_EVENT = /\bcurrent_agent_name='([^']+)'\)/;

/** The agent in the input or output of a step. */
const agentOfEvent: Reader = (value) =>
  typeof value === 'string' && (value.startsWith('{"ctx"') || value.startsWith('Agent'))
    ? AGENT_OF_EVENT.exec(value)?.[1]
    : undefined;

/** The same from OpenLLMetry, which sends the event as JSON. */
const agentInEvent = under('"current_agent_name"', inside(['current_agent_name'], text));

/** The name of a tool in its output. */
const toolInOutput = under('"raw_output"', inside(['tool_name'], text));

/** Reads only texts that contain the key, so that others are not parsed. */
function under(key: string, read: Reader): Reader {
  return (value) => (typeof value === 'string' && value.includes(key) ? read(value) : undefined);
}

/** LlamaIndex: workflows and engines are named by their classes. */
export const LLAMA_INDEX: Convention = {
  fields: {
    agent: {
      'input.value': { rank: 3, read: agentOfEvent },
      'output.value': { rank: 4, read: agentOfEvent },
      'traceloop.entity.output': { rank: 6, read: agentInEvent },
    },
    // OpenLLMetry reports all steps as tasks.
    kind: {
      'traceloop.entity.name': {
        rank: 4,
        read: (value) => (value === 'FunctionTool.task' ? 'tool' : undefined),
      },
    },
    tool_name: { 'traceloop.entity.output': { rank: 0, read: toolInOutput } },
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
