import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { isObject } from '../json-text.js';
import { isMessage, isPair, toMessages } from './message.js';
import { toCall } from './parts.js';
import { isPrinted } from './printed-message.js';

/** Keys that belong to the message itself, if it was sent as a whole object. */
const OF_A_MESSAGE = new Set([
  'role',
  'content',
  'parts',
  'tool_calls',
  'function_call',
  'tool_call_id',
  'name',
  'finish_reason',
  'refusal',
]);

/**
 * Normalizes an object that holds a conversation, such as requests and responses of model providers and states of graphs: its messages
 * go under `messages`, in place of the original key. Undefined for any other object.
 *
 * @param role of messages without one
 */
export function withMessages(object: JsonObject, role: string | null): JsonObject | undefined {
  for (const [key, listOf] of HOLDERS) {
    const list = key in object ? listOf(object[key] ?? null) : undefined;
    if (list === undefined || list.length === 0) continue;
    return { ...without(object, (name) => name === key), messages: toMessages(list, role) };
  }
  if (isRequest(object)) {
    const { input, ...others } = object;
    return { ...others, messages: [{ role: 'user', content: input }] };
  }
  if (isCommand(object)) return withMessages(object.update, role);
  if (isTextResult(object)) {
    const { text, toolCalls = null, ...others } = object;
    return { ...others, messages: toMessages([{ role: 'assistant', text, toolCalls }], role) };
  }
  if (!isMessage(object)) return undefined;
  // LangChain's wrapper, which has no other fields of interest.
  if (isObject(object.data) || isObject(object.kwargs)) return { messages: toMessages([object], role) };
  return { ...without(object, (name) => OF_A_MESSAGE.has(name)), messages: toMessages([object], role) };
}

/** The messages of a list of messages, or of a result of LangGraph's nodes. */
export function messagesIn(list: readonly JsonValue[], role: string | null): JsonValue[] | undefined {
  if (list.length === 0) return undefined;
  if (list.every((entry) => isMessage(entry) || isBatch(entry) || isPair(entry) || isChoice(entry)))
    return toMessages(list, role);
  if (list.every(isCall)) return [{ role: role ?? 'assistant', tool_calls: list.map(toCall) }];
  const [first] = list;
  if (list.length > 1 || !isObject(first) || !isCommand(first)) return undefined;
  const { messages } = withMessages(first, role) ?? {};
  return Array.isArray(messages) ? messages : undefined;
}

/** The keys under which objects hold a conversation, with a function that extracts it. */
const HOLDERS: readonly (readonly [string, (value: JsonValue) => readonly JsonValue[] | undefined])[] = [
  ['messages', (value) => (Array.isArray(value) && value.every(isStructured) ? value : undefined)],
  // Gemini: a request, and an answer.
  [
    'contents',
    (value) => (typeof value === 'string' ? [{ role: 'user', content: value }] : everyMessage(value)),
  ],
  ['candidates', (value) => mapped(value, ({ content, message }) => content ?? message)],
  // ADK writes one candidate.
  ['content', (value) => (isObject(value) && isMessage(value) ? [value] : undefined)],
  // OpenAI: chat completions, then Responses.
  ['choices', (value) => mapped(value, (choice) => (isObject(choice.message) ? choice : undefined))],
  ['output', everyItem],
  // LangChain's results, batch by batch.
  ['generations', (value) => mapped(Array.isArray(value) ? value.flat() : value, ({ message }) => message)],
  ['message', (value) => (isObject(value) && isMessage(value) ? [value] : undefined)],
  // Haystack.
  ['replies', everyMessage],
];

function everyMessage(value: JsonValue): readonly JsonValue[] | undefined {
  return Array.isArray(value) && value.every(isMessage) ? value : undefined;
}

function everyItem(value: JsonValue): readonly JsonValue[] | undefined {
  if (isObject(value)) return isMessage(value) ? [value] : undefined;
  return everyMessage(value) ?? (Array.isArray(value) ? updatesIn(value) : undefined);
}

/** The messages that a node of LangGraph returned as a list with one `Command`. */
function updatesIn(list: readonly JsonValue[]): readonly JsonValue[] | undefined {
  const [only] = list;
  return list.length === 1 && isObject(only) && isCommand(only) ? messagesOfCommand(only) : undefined;
}

function messagesOfCommand({ update }: { readonly update: JsonObject }): readonly JsonValue[] | undefined {
  return Array.isArray(update.messages) ? update.messages : undefined;
}

function mapped(
  value: JsonValue,
  read: (entry: JsonObject) => JsonValue | undefined,
): readonly JsonValue[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.map((entry) => (isObject(entry) ? read(entry) : undefined));
  return found.every((entry) => isObject(entry)) ? found : undefined;
}

function isStructured(value: JsonValue): boolean {
  return (typeof value === 'object' && value !== null) || isPrinted(value);
}

/** A call sent without a message, as by LangChain and the Vercel AI SDK. */
function isCall(value: JsonValue): value is JsonObject {
  if (!isObject(value)) return false;
  return value.type === 'tool_call'
    ? typeof value.name === 'string'
    : 'toolCallId' in value && 'toolName' in value;
}

/** A request to OpenAI's Responses with a text; requests for embeddings look the same. */
function isRequest(object: JsonObject): object is JsonObject & { input: string } {
  return (
    typeof object.input === 'string' && typeof object.model === 'string' && !object.model.includes('embed')
  );
}

/** A result of the Vercel AI SDK or Mastra. */
function isTextResult(object: JsonObject): object is JsonObject & { text: string } {
  return typeof object.text === 'string' && (Array.isArray(object.toolCalls) || Array.isArray(object.files));
}

/** One of a response's choices. */
function isChoice(value: JsonValue): boolean {
  return isObject(value) && isObject(value.message) && isMessage(value.message) && 'finish_reason' in value;
}

function isBatch(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isMessage);
}

/** LangGraph's `Command`, and other objects with a state update. */
function isCommand(object: JsonObject): object is JsonObject & { update: JsonObject } {
  return isObject(object.update) && Array.isArray(object.update.messages);
}

function without(object: JsonObject, isGone: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !isGone(name)));
}
