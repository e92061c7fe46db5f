import type { AttemptKind, AttemptResult } from './sender.js';

/** The result of an attempt that ended before there was a request. @param error one sentence for the tenant */
export function notSent(kind: Extract<AttemptKind, 'blocked' | 'failed'>, error: string): AttemptResult {
  return {
    kind,
    succeeded: false,
    statusCode: null,
    responseBody: '',
    durationMs: 0,
    error,
    detail: null,
    isGone: false,
    retryAfterMs: null,
  };
}
