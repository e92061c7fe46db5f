import type { AttemptResult, WebhookRequest } from '../../delivery/senders/webhook/sender.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { parseJson } from '../../signal/json.js';

/** The result of a request that was not sent. */
export const NOT_SENT: AttemptResult = {
  kind: 'success',
  succeeded: true,
  statusCode: 200,
  responseBody: '',
  durationMs: 0,
  error: null,
  userError: null,
  detail: null,
  isGone: false,
  retryAfterMs: null,
};

/** A request of an exporter `http` in the form that tests expect. */
export function recordedRequest({ method = 'POST', url, headers, body }: WebhookRequest): JsonObject {
  const bytes = body === null ? null : Buffer.from(body);
  return { method, url, headers: { ...headers }, body: bytes && bodyOf(bytes, headers['content-type']) };
}

/** Decodes a body: JSON as its value, JSON Lines as a list, other content as text. */
export function bodyOf(bytes: Uint8Array, type: string | undefined): JsonValue {
  const text = Buffer.from(bytes).toString();
  try {
    if (type === 'application/x-ndjson') return linesOf(text);
    return /^application\/(.+\+)?json\b/.test(type ?? '') ? parseJson(text) : text;
  } catch {
    return text;
  }
}

/**
 * Parses JSON Lines.
 *
 * @throws Error for an invalid line
 */
export function linesOf(text: string): JsonValue[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line));
}
