import { setTimeout as sleep } from 'node:timers/promises';
import { unreachable, type Target } from '../api-client.js';
import type { BatchBody } from './body.js';

const ANSWER_TIMEOUT_MS = 30_000;
/** Waiting longer than this is no progress: a used-up quota says weeks. */
const LONGEST_WAIT_MS = 60_000;
const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 250;

/** What the daemon made of one batch. */
export interface BatchReceipt {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly trace_id: string; readonly error: string }[];
}

/**
 * Posts batches to a daemon. It waits when the daemon asks for it (429 and 503 with `Retry-After`), and tries again
 * when a connection breaks after the first answer; an answer lost on the way does no harm, as repeats add nothing.
 */
export class BatchSender {
  readonly #target: Target;
  readonly #abort: AbortSignal;
  #wasAnswered = false;

  /** @param abort ends all sending and waiting at once */
  constructor(target: Target, abort: AbortSignal) {
    this.#target = target;
    this.#abort = abort;
  }

  /** @throws Error in words for the user; the abort's reason when it was aborted */
  async send(batch: BatchBody): Promise<BatchReceipt> {
    const body = JSON.stringify(batch);
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt(body);
      if ('receipt' in result) return result.receipt;
      if (attempt === MAX_ATTEMPTS || result.waitMs === undefined || result.waitMs > LONGEST_WAIT_MS) {
        throw new Error(result.message, { cause: result.cause });
      }
      await sleep(Math.max(result.waitMs, FIRST_WAIT_MS * 2 ** (attempt - 1)), undefined, {
        signal: this.#abort,
      });
    }
  }

  async #attempt(body: string): Promise<{ readonly receipt: BatchReceipt } | Refused> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${this.#target.url}/api/v1/traces/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#target.key}`, 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.any([this.#abort, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
      });
      text = await response.text();
    } catch (cause) {
      this.#abort.throwIfAborted();
      const message = unreachable(this.#target.url, cause);
      return { message, cause, waitMs: this.#wasAnswered ? 0 : undefined };
    }
    this.#wasAnswered = true;
    if (response.ok) return { receipt: readReceipt(text, this.#target.url) };
    return { message: this.#explain(response.status, text), waitMs: askedWaitMs(response) };
  }

  #explain(status: number, text: string): string {
    const { url, keySource } = this.#target;
    if (status === 401) {
      return `The daemon at ${url} does not accept the API key from ${keySource}.`;
    }
    const detail = field(text, 'detail');
    if (status === 403) {
      return `The API key from ${keySource} may not send traces: ${detail ?? 'it needs the scope write'}`;
    }
    if (detail !== undefined) return `The daemon at ${url} refused (${status}): ${detail}`;
    return `${url} answered with status ${status}, and not as a Jackdaw daemon does: is something else listening there?`;
  }
}

interface Refused {
  readonly message: string;
  readonly cause?: unknown;
  /** How long to wait before the next attempt; absent where none would help. */
  readonly waitMs: number | undefined;
}

function askedWaitMs(response: Response): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const asked = response.headers.get('retry-after');
  if (asked === null) return 1000;
  const seconds = Number(asked);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(asked) - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : 1000;
}

function readReceipt(text: string, url: string): BatchReceipt {
  const receipt = parse(text);
  if (!isReceipt(receipt)) {
    throw new Error(`${url} did not answer like a Jackdaw daemon: is something else listening there?`);
  }
  return receipt;
}

function isReceipt(value: unknown): value is BatchReceipt {
  return (
    typeof value === 'object' &&
    value !== null &&
    'accepted' in value &&
    typeof value.accepted === 'number' &&
    'rejected' in value &&
    typeof value.rejected === 'number' &&
    'errors' in value &&
    Array.isArray(value.errors)
  );
}

function field(text: string, name: string): string | undefined {
  const value = parse(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
