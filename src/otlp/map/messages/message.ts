import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { isObject } from '../json-text.js';
import { addCalls, addContent, contentOf, isPart, noParts, type MessageParts } from './parts.js';
import { isPrinted, printedMessage } from './printed-message.js';

/** Roles by their names in other formats. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['humanmessage', 'user'],
  ['humanmessagechunk', 'user'],
  ['ai', 'assistant'],
  ['aimessage', 'assistant'],
  ['aimessagechunk', 'assistant'],
  ['model', 'assistant'],
  ['systemmessage', 'system'],
  ['systemmessagechunk', 'system'],
  ['toolmessage', 'tool'],
  ['toolmessagechunk', 'tool'],
  ['function', 'tool'],
  ['functionmessage', 'tool'],
]);
const PAIRED: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool', 'developer']);
/** The types of LangChain's messages, and of the items of OpenAI's Responses. */
const MESSAGE_TYPES: ReadonlySet<string> = new Set(['human', 'ai', 'system', 'tool', 'AIMessageChunk']);
const ITEM_TYPES: ReadonlySet<string> = new Set(['function_call', 'function_call_output', 'reasoning']);
/** Other fields of a message that are kept. */
const KEPT = ['name', 'tool_call_id', 'finish_reason', 'refusal'] as const;
const SIMPLE: ReadonlySet<string> = new Set(['role', 'content', ...KEPT]);

/**
 * Normalizes messages of any provider or client: `{role, content, tool_calls, tool_call_id, name, finish_reason, refusal}`, without
 * missing fields. `content` is a text, or a list of parts `{type, text, …}`; `tool_calls` are `{id, name, arguments}`; a tool result
 * is a message of role `tool`.
 *
 * @param role of messages without one; null: none is added
 */
export function toMessages(list: readonly JsonValue[], role: string | null): JsonValue[] {
  const messages: JsonValue[] = [];
  for (const entry of list) {
    // LangChain sends batches of conversations, mostly of one.
    if (isPair(entry)) addMessages({ role: entry[0], content: entry[1] }, role, messages);
    else if (Array.isArray(entry)) for (const inner of entry) addMessages(inner, role, messages);
    else addMessages(entry, role, messages);
  }
  return messages;
}

/** LangChain also accepts messages as pairs: `["user", "Hi"]`. */
export function isPair(value: JsonValue): value is [string, JsonValue] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [role] = value;
  return typeof role === 'string' && (PAIRED.has(role) || ROLES.has(role));
}

/** Whether a value looks like a message. */
export function isMessage(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const { role, type } = value;
  if (typeof role === 'string') return true;
  if (isObject(value.kwargs)) return 'lc' in value;
  if (typeof type !== 'string') return false;
  if (MESSAGE_TYPES.has(type)) return 'content' in value || isObject(value.data);
  return ITEM_TYPES.has(type) && ('call_id' in value || 'summary' in value);
}

/** Whether any message has content beyond its role. */
export function haveContent(messages: readonly JsonValue[]): boolean {
  return messages.some(
    (message) =>
      !isObject(message) || 'content' in message || 'tool_calls' in message || !('role' in message),
  );
}

function addMessages(entry: JsonValue, role: string | null, messages: JsonValue[]): void {
  if (isPrinted(entry)) {
    messages.push(printedMessage(entry));
    return;
  }
  if (!isObject(entry)) {
    messages.push(typeof entry === 'string' && role !== null ? { role, content: entry } : entry);
    return;
  }
  if (isSimple(entry)) {
    messages.push(entry);
    return;
  }
  const source = unwrapped(entry);
  const parts = noParts();
  addCalls(source.tool_calls ?? source.toolCalls, parts);
  if (parts.calls.length === 0 && isObject(source.additional_kwargs))
    addCalls(source.additional_kwargs.tool_calls, parts);
  if (isObject(source.function_call)) addCalls([source.function_call], parts);
  const sent = isItem(source) ? [source] : contentIn(source);
  // A tool may return an object.
  const isData = isObject(sent) && !isPart(sent);
  if (!isData) addContent(sent, parts);
  const message = messageOf(source, role);
  if (answersItself(parts)) {
    // The Vercel AI SDK sends all steps of an agent as one message.
    messages.push({ ...message, tool_calls: parts.calls.splice(0) });
  }
  messages.push(...parts.results);
  const content = isData ? sent : contentOf(parts.content);
  if (content !== undefined) message.content = content;
  if (parts.calls.length > 0) message.tool_calls = parts.calls;
  if (!isItem(source)) keep(source, message);
  if (message.role === 'tool' && message.tool_call_id === undefined && typeof source.id === 'string')
    message.tool_call_id = source.id;
  const hasContent = content !== undefined || parts.calls.length > 0;
  if (hasContent || isMessage(source)) {
    if (hasContent || parts.results.length === 0) messages.push(message);
  } else if (parts.results.length === 0) {
    messages.push(entry);
  }
}

/** Whether a message has the results of its own calls. */
function answersItself({ calls, results }: MessageParts): boolean {
  return (
    calls.length > 0 &&
    results.some(({ tool_call_id: id }) => id !== undefined && calls.some((call) => call.id === id))
  );
}

function keep(source: JsonObject, message: JsonObject): void {
  for (const key of KEPT) {
    const value = source[key];
    if (value !== undefined && value !== null && value !== '') message[key] = value;
  }
}

/** Whether the message is already normalized, as most are. */
function isSimple(message: JsonObject): boolean {
  const { role, content } = message;
  if (typeof role !== 'string' || typeof content !== 'string' || ROLES.has(role)) return false;
  const first = content.charCodeAt(0);
  if (first === QUOTE || first === BRACKET || content === '') return false;
  for (const key in message) if (!SIMPLE.has(key) || message[key] === null) return false;
  return true;
}

const QUOTE = 34;
const BRACKET = 91;

/** The message without the wrapper of its provider or client. */
function unwrapped(entry: JsonObject): JsonObject {
  const { message, kwargs, data, id, type } = entry;
  if (isObject(message) && !('role' in entry))
    return { finish_reason: entry.finish_reason ?? null, ...message };
  if ('lc' in entry && isObject(kwargs)) {
    const name = Array.isArray(id) ? id.at(-1) : undefined;
    return { type: typeof name === 'string' ? name : null, ...kwargs };
  }
  return isObject(data) && typeof type === 'string' ? { ...data, type } : entry;
}

function contentIn(source: JsonObject): JsonValue | undefined {
  const { content, contents, parts, blocks } = source;
  // If both forms are present, the list is complete.
  return contents ?? parts ?? (isEmpty(content) ? (blocks ?? source.text ?? source['']) : content);
}

function isItem({ role, type }: JsonObject): boolean {
  return role === undefined && typeof type === 'string' && ITEM_TYPES.has(type);
}

function isEmpty(content: JsonValue | undefined): boolean {
  return content === undefined || content === null || content === '';
}

function messageOf(source: JsonObject, role: string | null): JsonObject {
  const name = typeof source.role === 'string' ? source.role : source.type;
  if (isItem(source)) return { role: 'assistant' };
  const found = typeof name === 'string' && name !== 'message' ? name : role;
  return found === null ? {} : { role: ROLES.get(found.toLowerCase()) ?? found };
}
