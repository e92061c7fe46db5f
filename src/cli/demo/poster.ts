import { setTimeout as sleep } from 'node:timers/promises';
import { unreachable, type Target } from '../api-client.js';
import type { BatchBody } from './body.js';

const ANSWER_TIMEOUT_MS = 30_000;
/** Waiting longer than this is no progress: a used-up quota says weeks. */
const LONGEST_WAIT_MS = 60_000;
const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 250;

/** An answer that asks for no other attempt. */
export interface Posted {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Talks to a daemon. It waits when the daemon asks for it (429 and 503 with `Retry-After`), and tries again when a connection
 * breaks after the first answer: only for requests that do no harm when they come twice.
 */
export class Poster {
  readonly #target: Target;
  readonly #abort: AbortSignal;
  #wasAnswered = false;

  /** @param abort ends all sending and waiting at once */
  constructor(target: Target, abort: AbortSignal) {
    this.#target = target;
    this.#abort = abort;
  }

  get url(): string {
    return this.#target.url;
  }

  get keySource(): string {
    return this.#target.keySource;
  }

  /** @throws Error in words for the user where there is no answer but "later"; the abort's reason when it was aborted */
  async send(request: Request): Promise<Posted> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt(request);
      if ('status' in result && (result.waitMs === undefined || attempt === MAX_ATTEMPTS)) return result;
      if (attempt === MAX_ATTEMPTS || result.waitMs === undefined || result.waitMs > LONGEST_WAIT_MS) {
        if ('status' in result) return result;
        throw new Error(result.message, { cause: result.cause });
      }
      await sleep(Math.max(result.waitMs, FIRST_WAIT_MS * 2 ** (attempt - 1)), undefined, {
        signal: this.#abort,
      });
    }
  }

  async #attempt({ method, path, body, headers }: Request): Promise<Answered | Failed> {
    try {
      const response = await fetch(`${this.#target.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#target.key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.any([this.#abort, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
      });
      const text = await response.text();
      this.#wasAnswered = true;
      return { ok: response.ok, status: response.status, text, waitMs: askedWaitMs(response) };
    } catch (cause) {
      this.#abort.throwIfAborted();
      const message = unreachable(this.#target.url, cause);
      return { message, cause, waitMs: this.#wasAnswered ? 0 : undefined };
    }
  }
}

/** How long to wait before the next attempt; undefined where none would help. */
type Wait = { readonly waitMs: number | undefined };
type Answered = Posted & Wait;
type Failed = { readonly message: string; readonly cause: unknown } & Wait;

function askedWaitMs(response: Response): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const asked = response.headers.get('retry-after');
  if (asked === null) return 1000;
  const seconds = Number(asked);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(asked) - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : 1000;
}

/** A text of a JSON object's field, as far as it is one. */
export function textIn(text: string, name: string): string | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}

/** What a text says as JSON; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What the daemon made of one batch. */
export interface BatchReceipt {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly trace_id: string; readonly error: string }[];
}

/** Posts batches to a daemon; an answer lost on the way does no harm, as repeats add nothing. */
export class BatchSender {
  readonly #poster: Poster;

  constructor(poster: Poster) {
    this.#poster = poster;
  }

  /** @throws Error in words for the user; the abort's reason when it was aborted */
  async send(batch: BatchBody): Promise<BatchReceipt> {
    const answer = await this.#poster.send({ method: 'POST', path: '/api/v1/traces/batch', body: batch });
    if (!answer.ok) throw new Error(explain(this.#poster, answer, 'send traces', 'write'));
    const receipt = parsed(answer.text);
    if (!isReceipt(receipt))
      throw new Error(
        `${this.#poster.url} did not answer like a Jackdaw daemon: is something else listening there?`,
      );
    return receipt;
  }
}

/** A refusal in words for the user. @param scope what the key needs for that */
export function explain(
  { url, keySource }: Pick<Poster, 'url' | 'keySource'>,
  { status, text }: Posted,
  action: string,
  scope: string,
): string {
  if (status === 401) return `The daemon at ${url} does not accept the API key from ${keySource}.`;
  const detail = textIn(text, 'detail');
  if (status === 403)
    return `The API key from ${keySource} may not ${action}: ${detail ?? `it needs the scope ${scope}`}`;
  if (detail !== undefined) return `The daemon at ${url} refused (${String(status)}): ${detail}`;
  return `${url} answered with status ${String(status)}, and not as a Jackdaw daemon does: is something else listening there?`;
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

/**
 * Does work for every item, so many at a time, taking items only as fast as they are dealt with.
 *
 * @throws the first failure, once nothing is under way any more
 */
export async function sendAll<T>(
  items: Iterable<T>,
  concurrency: number,
  send: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async () => {
    for (;;) {
      if (hasFailed) return;
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await send(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
