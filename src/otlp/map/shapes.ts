import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { isObject } from './json-text.js';
import { messagesIn, withMessages } from './messages/conversations.js';
import { haveContent, toMessages } from './messages/message.js';
import { toCall } from './messages/parts.js';
import { parsed, untyped } from './messages/texts.js';
import type { FoundPayload } from './span-reading.js';

/** A payload in the form of `input_data` or `output_data`. */
export interface Shaped {
  readonly data: JsonObject;
  /** Whether the object was received as a whole; nothing is added to it. */
  readonly isWhole: boolean;
}

/** @param role for messages without one; null: none is added @param all all payloads of the span, including this one */
export function shaped(found: FoundPayload, role: string | null, all: readonly FoundPayload[]): Shaped {
  const content = untyped(parsed(found.value));
  switch (found.shape) {
    case 'messages':
      if (typeof content === 'string') return named('value', content);
      return messages(Array.isArray(content) ? content : [content], role);
    case 'text':
      return named('messages', [messageOf(role, content, separateCalls(all))]);
    case 'calls':
      return Array.isArray(content)
        ? named('messages', [messageOf(role, undefined, content)])
        : named('value', content);
    case 'prompt':
      return prompt(content);
    case 'documents':
    case 'embeddings':
    case 'query':
      return named(found.shape, content);
    case 'whole':
      return whole(content, role);
  }
}

/** Whether a payload has content beyond the roles of messages. */
export function hasContent({ data }: Shaped): boolean {
  return !Array.isArray(data.messages) || haveContent(data.messages);
}

function whole(content: JsonValue, role: string | null): Shaped {
  if (isObject(content)) return { data: withMessages(content, role) ?? content, isWhole: true };
  if (!Array.isArray(content)) return named('value', content);
  const { list, tools } = withoutDefinitions(content);
  const found = messagesIn(list, role);
  return found === undefined ? named('value', content) : withTools(named('messages', found), tools);
}

/** Langfuse sends the definitions of tools as messages of role tool. */
function withoutDefinitions(sent: readonly JsonValue[]): {
  readonly list: readonly JsonValue[];
  readonly tools: JsonValue[];
} {
  const tools = sent.flatMap((entry) => definitionIn(entry) ?? []);
  return {
    list: tools.length === 0 ? sent : sent.filter((entry) => definitionIn(entry) === undefined),
    tools,
  };
}

function definitionIn(entry: JsonValue): JsonObject | undefined {
  if (!isObject(entry) || entry.role !== 'tool' || !isObject(entry.content)) return undefined;
  const { content } = entry;
  return content.type === 'function' && isObject(content.function) ? content : undefined;
}

function withTools(found: Shaped, tools: JsonValue[]): Shaped {
  return tools.length === 0 ? found : { ...found, data: { ...found.data, tools } };
}

function messages(sent: readonly JsonValue[], role: string | null): Shaped {
  const { list, tools } = withoutDefinitions(sent);
  const [only] = list;
  // A single object that holds the messages.
  const held = list.length === 1 && isObject(only) ? withMessages(only, role)?.messages : undefined;
  return withTools(named('messages', Array.isArray(held) ? held : toMessages(list, role)), tools);
}

/** The input of the Vercel AI SDK: a text, or messages, with an optional system prompt. */
function prompt(content: JsonValue): Shaped {
  if (!isObject(content)) return whole(content, null);
  const { system, prompt: asked, messages: sent, ...others } = content;
  const list = Array.isArray(sent) ? sent : Array.isArray(asked) ? asked : [];
  const question = typeof asked === 'string' ? [{ role: 'user', content: asked }] : toMessages(list, null);
  if (question.length === 0) return { data: content, isWhole: true };
  const before = typeof system === 'string' ? [{ role: 'system', content: system }] : [];
  return { data: { ...others, messages: [...before, ...question] }, isWhole: true };
}

/** Tool calls that a client sends separately from the text of an answer. */
function separateCalls(all: readonly FoundPayload[]): readonly JsonValue[] {
  const found = all.find(({ shape }) => shape === 'calls');
  const calls = found === undefined ? undefined : parsed(found.value);
  return Array.isArray(calls) ? calls : [];
}

function messageOf(
  role: string | null,
  content: JsonValue | undefined,
  calls: readonly JsonValue[],
): JsonObject {
  const message: JsonObject = { role: role ?? 'user' };
  if (content !== undefined) message.content = content;
  if (calls.length > 0) message.tool_calls = calls.map((call) => (isObject(call) ? toCall(call) : call));
  return message;
}

function named(name: string, value: JsonValue): Shaped {
  return { data: { [name]: value }, isWhole: false };
}
