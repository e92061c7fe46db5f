import type { JsonObject, JsonValue } from '../../signal/attributes.js';

/** Shortens a payload to one line: the last question or answer of a conversation, the call of a tool, otherwise the JSON. */
export function inShort(payload: JsonObject, part: 'input' | 'output'): string {
  const { messages } = payload;
  if (Array.isArray(messages) && messages.length > 0) return ofConversation(messages, part);
  const [only, ...others] = Object.entries(payload);
  if (only !== undefined && others.length === 0) return inLine(only[1]);
  return inLine(payload);
}

function ofConversation(messages: readonly JsonValue[], part: 'input' | 'output'): string {
  const isAsked = (message: JsonValue): boolean => isObject(message) && message.role === 'user';
  const found = (part === 'input' ? messages.findLast(isAsked) : undefined) ?? messages.at(-1) ?? null;
  const others = messages.length - 1;
  return `${messageInLine(found)}${others > 0 ? ` (and ${others} more)` : ''}`;
}

function messageInLine(message: JsonValue): string {
  if (!isObject(message)) return inLine(message);
  const { role, content, tool_calls: calls } = message;
  const parts = content === undefined ? [] : [partsInLine(content)];
  const called = Array.isArray(calls) ? calls.map(callInLine) : [];
  const text = [...parts, ...called].join(' ');
  return typeof role === 'string' ? `${role}: ${text}` : text;
}

function partsInLine(content: JsonValue): string {
  if (!Array.isArray(content)) return inLine(content);
  return content
    .map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : inLine(part)))
    .join(' ');
}

function callInLine(call: JsonValue): string {
  if (!isObject(call) || typeof call.name !== 'string') return inLine(call);
  return `→ ${call.name}(${call.arguments === undefined ? '' : inLine(call.arguments)})`;
}

/** A text unchanged, other values as JSON. */
export function inLine(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
