import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { only, payload } from '../conventions/readers.js';
import { parsePython } from '../messages/python-literal.js';

/** The type of a component by the end of its class name. */
const component: Reader = (value) => {
  if (typeof value !== 'string') return undefined;
  if (value.endsWith('Generator') || value.endsWith('Embedder')) return 'llm';
  return value.endsWith('Retriever') ? 'retrieval' : 'custom';
};

const LITERAL = String.raw`('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`;
const PRINTED = /ChatMessage\(_role=<ChatRole\.[A-Z]+: '([a-z]+)'>, _content=\[/g;
const TEXT = new RegExp(String.raw`TextContent\(text=${LITERAL}\)`, 's');
const CALL = new RegExp(String.raw`^ToolCall\(tool_name=${LITERAL}, arguments=`, 's');
const RESULT = new RegExp(String.raw`^ToolCallResult\(result=${LITERAL}, origin=`, 's');

/** An input that JSON cannot hold, such as one with a callback, is printed by Python. */
const conversation: Reader = (value) =>
  typeof value === 'string' && value.startsWith("{'messages': [ChatMessage(")
    ? { messages: printedMessages(value) }
    : payload(value);

function printedMessages(text: string): JsonValue[] {
  const starts = [...text.matchAll(PRINTED)];
  return starts.map((start, i) => {
    const from = start.index + start[0].length;
    return printedMessage(start[1] ?? '', text.slice(from, starts[i + 1]?.index ?? text.length));
  });
}

function printedMessage(role: string, content: string): JsonObject {
  const result = RESULT.exec(content)?.[1];
  const found = result ?? TEXT.exec(content)?.[1];
  const message: JsonObject = { role };
  if (found !== undefined) message.content = parsePython(found) ?? found;
  const call = CALL.exec(content);
  if (call === null) return message;
  const rest = content.slice(call[0].length);
  const printed = rest.slice(0, Math.max(0, rest.indexOf(', id=')));
  message.tool_calls = [
    { name: parsePython(call[1] ?? '') ?? null, arguments: parsePython(printed) ?? printed },
  ];
  return message;
}

/** Haystack 2 and 3. Its agents have no name. */
export const HAYSTACK: Convention = {
  spanNames: {
    scope: '*',
    kinds: {
      'haystack.agent.run': 'agent',
      'haystack.agent.step': 'custom',
      'haystack.agent.step.llm': 'llm',
      'haystack.agent.step.tool': 'tool',
      'haystack.pipeline.run': 'root span is an agent',
      'haystack.async_pipeline.run': 'root span is an agent',
    },
  },
  fields: {
    kind: { 'haystack.component.type': { rank: 11, read: component } },
    is_failed: { 'haystack.tool.error': { rank: 4, read: only(true) } },
    tool_name: { 'haystack.tool.name': { rank: 5 }, 'haystack.component.name': { rank: 6 } },
    input: {
      'haystack.agent.step.llm.input': { rank: 61, read: conversation },
      'haystack.component.input': { rank: 62, read: conversation },
      'haystack.agent.input': { rank: 63, read: conversation },
    },
  },
  agentNames: {
    generic: [
      'AsyncPipeline',
      'haystack.*',
      '*PromptBuilder',
      '*Embedder',
      '*Retriever',
      '*Ranker',
      'Document*',
    ],
  },
};
