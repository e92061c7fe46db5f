import { itemsOf, member, textOf, type Json } from '../json/parse.js';
import type { Conversation, Message, Part, Role } from './message.js';
import { callOf, parsed, partsOfContent } from './parts.js';

/** A Map, because a role may be called `constructor`. */
const ROLES: ReadonlyMap<string, Role> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'assistant'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['AIMessageChunk', 'assistant'],
  ['tool', 'tool'],
  ['tool-call', 'assistant'],
  ['tool-response', 'tool'],
  ['function', 'tool'],
]);

/** Members that contain messages, by library, in reading order. */
const SYSTEM_KEYS = [
  'system',
  'instructions',
  'systemInstruction',
  'system_instruction',
  'systemInstructions',
];
const LIST_KEYS = ['messages', 'contents', 'input', 'output', 'choices', 'candidates', 'generations'];
const TEXT_KEYS = ['prompt', 'text', 'completion', 'response', 'value'];

/**
 * Reads the input or output of a model call.
 *
 * @param side decides the role of text without one
 * @returns undefined if nothing reads as a message
 */
export function readConversation(value: Json, side: 'input' | 'output'): Conversation | undefined {
  const role: Role = side === 'input' ? 'user' : 'assistant';
  const list = itemsOf(value);
  if (list) return orNothing(listed(value, role) ?? [], []);
  if (value.kind === 'string') return orNothing([message(role, undefined, partsOfContent(value))], []);
  if (value.kind !== 'object') return undefined;
  if (isMessage(value)) return orNothing([messageOf(value, role)], besides(value, MESSAGE_KEYS));
  const read = new Set<string>();
  const messages: Message[] = [];
  const take = (key: string, found: readonly Message[] | undefined): void => {
    if (found === undefined || found.length === 0) return;
    read.add(key);
    messages.push(...found);
  };
  for (const key of LIST_KEYS) take(key, listed(member(value, key), role));
  // A system prompt that is also a message is shown once.
  const hasSystem = messages.some((each) => each.role === 'system');
  for (const key of SYSTEM_KEYS) {
    const system = member(value, key);
    const parts = system === undefined ? [] : partsOfContent(member(system, 'parts') ?? system);
    if (parts.length === 0 || parts.some((part) => part.kind === 'unknown')) continue;
    read.add(key);
    if (!hasSystem) messages.unshift(message('system', undefined, parts));
  }
  if (messages.every((each) => each.role === 'system')) {
    for (const key of TEXT_KEYS) {
      const text = textOf(value, key);
      if (text !== undefined) take(key, [message(role, undefined, partsOfContent(member(value, key)))]);
    }
  }
  const calls = itemsOf(member(value, 'toolCalls') ?? member(value, 'tool_calls'));
  if (calls && calls.length > 0) take('toolCalls', [message('assistant', undefined, calls.map(callOf))]);
  if (calls) read.add('tool_calls');
  return orNothing(messages, besides(value, read));
}

const MESSAGE_KEYS = new Set([
  'role',
  'content',
  'parts',
  'tool_calls',
  'name',
  'tool_call_id',
  'function_call',
]);

function isMessage(value: Json): boolean {
  return (
    textOf(value, 'role') !== undefined &&
    ['content', 'parts', 'tool_calls'].some((key) => member(value, key))
  );
}

function orNothing(messages: readonly Message[], rest: Conversation['rest']): Conversation | undefined {
  const nonEmpty = messages.filter(({ parts }) => parts.length > 0);
  return nonEmpty.length === 0 ? undefined : { messages: nonEmpty, rest };
}

function besides(value: Json, read: ReadonlySet<string>): Conversation['rest'] {
  return value.kind === 'object' ? value.entries.filter(([key]) => !read.has(key)) : [];
}

/** @returns undefined if the value contains no messages */
function listed(value: Json | undefined, role: Role): readonly Message[] | undefined {
  if (value?.kind === 'string') return [message(role, undefined, partsOfContent(value))];
  const items = itemsOf(value);
  if (items === undefined) return undefined;
  const messages = messagesOf(items, role);
  // Unknown parts are allowed in a message, but a list of only unknown parts is no conversation.
  const isKnown = messages.some(({ parts }) => parts.some(({ kind }) => kind !== 'unknown'));
  return isKnown || items.some((item) => textOf(item, 'role') !== undefined) ? messages : undefined;
}

function messagesOf(items: readonly Json[], role: Role): readonly Message[] {
  return items.flatMap((item) => {
    // LangChain has one list per prompt.
    const inner = itemsOf(item);
    return inner ? messagesOf(inner, role) : [messageOf(item, role)];
  });
}

function messageOf(value: Json, role: Role): Message {
  if (value.kind === 'string') return message(role, undefined, partsOfContent(value));
  // Chat completions, Gemini and LangChain wrap the message.
  const inner = member(value, 'message') ?? langChain(value) ?? geminiContent(value) ?? value;
  const roleName = textOf(inner, 'role') ?? kindOfLangChain(value) ?? kindOfLangChain(inner);
  const known = roleName === undefined ? roleOfItem(inner, role) : (ROLES.get(roleName) ?? 'other');
  const name = textOf(inner, 'name') ?? (known === 'other' ? roleName : undefined);
  const parts = partsOfMessage(inner);
  const content = known === 'tool' ? answered(inner, parts) : parts;
  const hasContent = content.length > 0 || roleName !== undefined;
  return message(known, name, hasContent ? content : [{ kind: 'unknown', value }]);
}

function partsOfMessage(value: Json): readonly Part[] {
  const content = member(value, 'content') ?? member(value, 'parts');
  const calls = itemsOf(member(value, 'tool_calls') ?? member(value, 'toolCalls'));
  const call = member(value, 'function_call');
  const hasRole = textOf(value, 'role') !== undefined;
  // Other items of the Responses API, and single parts, stand for themselves.
  const type = textOf(value, 'type');
  const own =
    content === undefined || (!hasRole && type !== undefined && type !== 'message' && !ROLES.has(type))
      ? itself(value)
      : partsOfContent(content);
  return [
    ...own,
    ...(calls ?? []).map(callOf),
    ...(call && call.kind === 'object' && hasRole ? [callOf(call)] : []),
  ];
}

function itself(value: Json): readonly Part[] {
  const hasMore = ['tool_calls', 'toolCalls', 'role'].some((key) => member(value, key) !== undefined);
  return hasMore ? partsOfContent(member(value, 'text')) : partsOfContent(value);
}

/** The role of an item without one. */
function roleOfItem(value: Json, role: Role): Role {
  const type = textOf(value, 'type') ?? '';
  if (/_output$|tool.result|tool_call_response/.test(type)) return 'tool';
  return /call|reasoning|tool.use/.test(type) ? 'assistant' : role;
}

/** A tool message is the result of the call whose id it names. */
function answered(value: Json, parts: readonly Part[]): readonly Part[] {
  if (parts.some(({ kind }) => kind === 'result')) return parts;
  const content = member(value, 'content') ?? member(value, 'parts');
  return [
    {
      kind: 'result',
      id: textOf(value, 'tool_call_id') ?? textOf(value, 'id'),
      name: textOf(value, 'name'),
      output: parsed(content),
      isError: textOf(value, 'status') === 'error',
    },
  ];
}

function langChain(value: Json): Json | undefined {
  return (
    member(value, 'kwargs') ??
    (textOf(value, 'type') === undefined ? undefined : objectOnly(member(value, 'data')))
  );
}

function objectOnly(value: Json | undefined): Json | undefined {
  return value?.kind === 'object' ? value : undefined;
}

/** `human` from `{type: human}`, or from the class at the end of `id`, such as `HumanMessage`. */
function kindOfLangChain(value: Json): string | undefined {
  const last = itemsOf(member(value, 'id'))?.at(-1);
  const named =
    textOf(last)
      ?.replace(/Message(Chunk)?$/, '')
      .toLowerCase() ?? textOf(value, 'type');
  return named !== undefined && ROLES.has(named) ? named : undefined;
}

function geminiContent(value: Json): Json | undefined {
  const content = member(value, 'content');
  return member(content, 'parts') === undefined ? undefined : content;
}

function message(role: Role, name: string | undefined, parts: readonly Part[]): Message {
  return { role, name, parts };
}
