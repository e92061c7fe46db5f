import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { kindBy, objectOf, payload } from '../conventions/readers.js';
import { isObject, parseStructure } from '../json-text.js';

/** The arguments in the request of a tool. */
const requestedArguments: Reader = (value) => {
  const request = recordOf(value, CALL_ID);
  return request !== undefined && 'callId' in request ? payload(request.args ?? null) : undefined;
};

/** The result in the record of a tool's call: what the model gets, or the error. */
const returnedResult: Reader = (value) => {
  const response = recordOf(value, RESPONSE)?.response;
  if (!isObject(response)) return undefined;
  const returned = listOf(response.responseParts).flatMap((part) => {
    const answer = isObject(part) && isObject(part.functionResponse) ? part.functionResponse.response : null;
    return isObject(answer) ? [answer] : [];
  });
  if (returned.length > 1) return returned;
  return payload(returned[0]?.output ?? returned[0] ?? response.resultDisplay ?? null);
};

/** Keys of the request and the record of a tool's call. */
const CALL_ID = '"callId"';
const RESPONSE = '"response"';

/** The record of a tool. Values in other clients' formats are not parsed. */
function recordOf(value: JsonValue, key: string): JsonObject | undefined {
  if (typeof value === 'string' && !(value.startsWith('{') && value.includes(key))) return undefined;
  return objectOf(value);
}

/** Start of Google's messages; other values are not parsed. */
const CHUNK = '[{"role":"model","parts":[{"text":';

/** The chunks of a streamed answer as one message: neighbours of one role that have texts only. */
const joinedChunks: Reader = (value) => {
  if (typeof value === 'string' && !value.startsWith(CHUNK)) return undefined;
  const messages = listOf(typeof value === 'string' ? parseStructure(value) : value);
  if (messages.length < 2) return undefined;
  const joined: JsonValue[] = [];
  let last: { readonly role: JsonValue | undefined; text: string } | undefined;
  for (const message of messages) {
    const text = textOf(message);
    const role = isObject(message) ? message.role : undefined;
    if (text === undefined) {
      joined.push(message);
      last = undefined;
    } else if (last?.role === role && last !== undefined) {
      last.text += text;
      joined[joined.length - 1] = { role: role ?? 'model', parts: [{ text: last.text }] };
    } else {
      joined.push(message);
      last = { role, text };
    }
  }
  return joined.length < messages.length ? joined : undefined;
};

/** The text of a message in Google's format; undefined if it has other parts. */
function textOf(message: JsonValue): string | undefined {
  const parts = isObject(message) ? listOf(message.parts) : [];
  if (parts.length === 0) return undefined;
  let all = '';
  for (const part of parts) {
    if (!isObject(part) || typeof part.text !== 'string' || Object.keys(part).length !== 1) return undefined;
    all += part.text;
  }
  return all;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Gemini CLI: OpenTelemetry's attributes with its own operations and records of tools. */
export const GEMINI_CLI: Convention = {
  fields: {
    kind: {
      'gen_ai.operation.name': {
        rank: 25,
        read: kindBy({
          LLM_CALL: 'llm',
          TOOL_CALL: 'tool',
          AGENT_CALL: 'agent',
          SCHEDULE_TOOL_CALLS: 'custom',
        }),
      },
    },
    output: { 'gen_ai.output.messages': { rank: 0, read: joinedChunks, shape: 'messages' } },
    arguments: { 'gen_ai.input.messages': { rank: 48, read: requestedArguments } },
    result: { 'gen_ai.output.messages': { rank: 45, read: returnedResult } },
  },
  programEvents: {
    prefix: 'gemini_cli.',
    programs: [],
    decision: 'tool_call',
    kinds: {
      user_prompt: 'prompt',
      api_request: 'request',
      api_response: 'call',
      api_error: 'call',
      tool_call: 'tool',
    },
  },
};
