import type { JsonValue } from '../../../signal/attributes.js';
import type { Kind } from '../conventions/convention.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { firstOf, identity, inside, payload, text } from '../conventions/readers.js';
import { parsed } from '../messages/texts.js';
import { parsePython } from '../messages/python-literal.js';

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

const LITERAL = String.raw`('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|'[^']*$|"[^"]*$)`;

/** A text in an event printed by Python, cut by the instrumentation after 200 characters. */
function printed(before: string): Reader {
  const pattern = new RegExp(before + LITERAL, 's');
  return (value) => {
    const found = typeof value === 'string' ? pattern.exec(value)?.[1] : undefined;
    return found === undefined ? undefined : (parsePython(found) ?? found.slice(1));
  };
}

const QUESTION = printed(String.raw`^AgentWorkflowStartEvent\(user_msg=`);
const ANSWER = printed(String.raw`^StopEvent\(result=.*?TextBlock\(block_type='text', text=`);
const TOOL = printed(String.raw`^ToolCall\(tool_name=`);
const RESULT = printed(
  String.raw`^ToolCallResult\(.*?tool_output=ToolOutput\(blocks=\[TextBlock\(block_type='text', text=`,
);

/** The arguments of a tool: `ToolCall(tool_name='add', tool_kwargs={'a': 2}, tool_id='call_1')`. */
const toolCall: Reader = (value) => {
  if (typeof value !== 'string' || !value.startsWith('ToolCall(')) return undefined;
  const [, rest] = value.split('tool_kwargs=', 2);
  const end = rest?.lastIndexOf(', tool_id=') ?? -1;
  const sent = end < 0 ? rest : rest?.slice(0, end);
  return sent === undefined ? undefined : (parsePython(sent) ?? sent);
};

/** The blocks of a message. */
const answer: Reader = (value) => {
  const blocks = parsed(value);
  return Array.isArray(blocks) ? [{ role: 'assistant', content: blocks }] : undefined;
};

function kind(of: Kind): { readonly rank: number; readonly read: Reader } {
  return { rank: 17, read: (value: JsonValue) => (value === null ? undefined : of) };
}

const START = 'LLMChatStartEvent';
const END = 'LLMChatEndEvent';
const COMPLETION = 'LLMCompletionStartEvent';
const COMPLETED = 'LLMCompletionEndEvent';

/**
 * LlamaIndex: workflows and engines are named by their classes. Its own instrumentation sends calls, retrievals and queries as events
 * of their spans and the steps of workflows as printed Python.
 */
export const LLAMA_INDEX: Convention = {
  spanNames: { scope: 'llamaindex.opentelemetry.tracer', kinds: { '*.call_tool': 'tool' } },
  // It sends the usage of the provider's response.
  separateCachesOfClaude: ['llamaindex.opentelemetry.tracer'],
  events: [
    START,
    END,
    COMPLETION,
    COMPLETED,
    'EmbeddingStartEvent',
    'EmbeddingEndEvent',
    'RetrievalStartEvent',
    'RetrievalEndEvent',
    'QueryStartEvent',
    'QueryEndEvent',
    'step.output',
    'workflow.output',
  ],
  fields: {
    agent: {
      'input.value': { rank: 3, read: agentOfEvent },
      'output.value': { rank: 4, read: agentOfEvent },
      'traceloop.entity.output': { rank: 6, read: agentInEvent },
      'llamaindex.step.input_summary': { rank: 8, read: agentOfEvent },
      'step.output.output': { rank: 9, read: agentOfEvent },
    },
    kind: {
      // OpenLLMetry reports all steps as tasks.
      'traceloop.entity.name': {
        rank: 4,
        read: (value) => (value === 'FunctionTool.task' ? 'tool' : undefined),
      },
      [`${START}.messages`]: kind('llm'),
      [`${COMPLETION}.prompt`]: { ...kind('llm'), rank: 18 },
      'EmbeddingStartEvent.model_dict.model_name': { ...kind('llm'), rank: 19 },
      'RetrievalStartEvent.str_or_query_bundle': { ...kind('retrieval'), rank: 20 },
      'RetrievalStartEvent.str_or_query_bundle.query_str': { ...kind('retrieval'), rank: 21 },
    },
    tool_name: {
      'traceloop.entity.output': { rank: 0, read: toolInOutput },
      'llamaindex.step.input_summary': { rank: 12, read: TOOL },
    },
    model: {
      [`${END}.response.raw.model`]: { rank: 18 },
      [`${COMPLETED}.response.raw.model`]: { rank: 19 },
      [`${START}.model_dict.model_name`]: { rank: 20 },
      [`${START}.model_dict.model`]: { rank: 21 },
      [`${COMPLETION}.model_dict.model_name`]: { rank: 22 },
      [`${COMPLETION}.model_dict.model`]: { rank: 23 },
      'EmbeddingStartEvent.model_dict.model_name': { rank: 24 },
    },
    response_id: {
      [`${END}.response.raw.id`]: { rank: 3, read: identity },
      [`${COMPLETED}.response.raw.id`]: { rank: 4, read: identity },
    },
    input: {
      [`${START}.messages`]: { rank: 64, shape: 'messages' },
      [`${COMPLETION}.prompt`]: { rank: 65 },
      'QueryStartEvent.query': { rank: 66, shape: 'query' },
      'llamaindex.step.input_summary': { rank: 67, read: firstOf(QUESTION, payload) },
      'EmbeddingEndEvent.chunks': { rank: 68 },
      'RetrievalStartEvent.str_or_query_bundle': { rank: 69, shape: 'query' },
      'RetrievalStartEvent.str_or_query_bundle.query_str': { rank: 70, shape: 'query' },
    },
    output: {
      [`${END}.response.message.blocks`]: { rank: 64, read: answer, shape: 'messages' },
      [`${END}.response.message.content`]: { rank: 65, shape: 'text' },
      [`${COMPLETED}.response.text`]: { rank: 66, shape: 'text' },
      'QueryEndEvent.response.response': { rank: 67 },
      'workflow.output.output': { rank: 68, read: firstOf(ANSWER, payload) },
      'step.output.output': { rank: 69 },
      'EmbeddingEndEvent.embeddings': { rank: 70, shape: 'embeddings' },
      'RetrievalEndEvent.nodes': { rank: 71, shape: 'documents' },
    },
    tools: { [`${START}.additional_kwargs.tools`]: { rank: 8 } },
    arguments: { 'llamaindex.step.input_summary': { rank: 25, read: toolCall } },
    result: { 'step.output.output': { rank: 25, read: RESULT } },
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
