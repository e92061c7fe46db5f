import { setTimeout as sleep } from 'node:timers/promises';
import { unreachable, type Target } from '../api-client.js';
import type { BatchBody } from './body.js';

const ANSWER_TIMEOUT_MS = 30_000;
/** Longer waits are treated as failures: an exhausted quota asks for weeks. */
const LONGEST_WAIT_MS = 60_000;
const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 250;

/** A final response: no retry is needed. */
export interface Posted {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

/** The daemon's response to one batch. */
export interface BatchReceipt {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly trace_id: string; readonly error: string }[];
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Client of a daemon. Waits for `Retry-After` on 429 and 503, and retries after a broken connection; use it only for idempotent
 * requests.
 */
export class Poster {
  readonly #target: Target;
  readonly #abort: AbortSignal;
  #wasAnswered = false;

  /** @param abort stops all sending and waiting immediately */
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

  /** @throws Error for the user if all responses ask for a retry; the abort reason if aborted */
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

  /**
   * Sends runs; a retry after a lost response adds no duplicates.
   *
   * @throws like {@link send}, and if the daemon refuses them
   */
  async sendBatch(batch: BatchBody): Promise<BatchReceipt> {
    const answer = await this.send({ method: 'POST', path: '/api/v1/traces/batch', body: batch });
    if (!answer.ok) throw new Error(explain(this, answer, 'send traces', 'write'));
    const { accepted, rejected, errors } = (parsed(answer.text) ?? {}) as Partial<BatchReceipt>;
    if (accepted === undefined || rejected === undefined || errors === undefined)
      throw new Error(`${this.url} did not answer like a Jackdaw daemon: is something else listening there?`);
    return { accepted, rejected, errors };
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
      const message = unreachable(this.#target.url, cause, this.#target.urlSource);
      return { message, cause, waitMs: this.#wasAnswered ? 0 : undefined };
    }
  }
}

/** Delay before the next attempt; undefined if a retry cannot help. */
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

/** Parses JSON; undefined if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The error text for a refusal.
 *
 * @param scope the scope a key needs for the action
 */
export function explain(
  { url, keySource }: Pick<Poster, 'url' | 'keySource'>,
  { status, text }: Posted,
  action: string,
  scope: string,
): string {
  if (status === 401) return `The daemon at ${url} does not accept the API key from ${keySource}.`;
  const { detail } = (parsed(text) ?? {}) as { readonly detail?: unknown };
  if (status === 403)
    return `The API key from ${keySource} may not ${action}: ${typeof detail === 'string' ? detail : `it needs the scope ${scope}`}`;
  if (typeof detail === 'string')
    return `Cannot ${action}: the daemon at ${url} answered ${String(status)}: ${detail}`;
  return `${url} answered with status ${String(status)}, and not as a Jackdaw daemon does: is something else listening there?`;
}
