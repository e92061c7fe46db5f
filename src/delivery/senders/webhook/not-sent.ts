import type { AttemptKind, AttemptResult } from './sender.js';

/** The result of an attempt that ended before a request was made. @param error one sentence for the user */
export function notSent(kind: Extract<AttemptKind, 'blocked' | 'failed'>, error: string): AttemptResult {
  return {
    kind,
    succeeded: false,
    statusCode: null,
    responseBody: '',
    durationMs: 0,
    error,
    userError: error,
    detail: null,
    isGone: false,
    retryAfterMs: null,
  };
}
