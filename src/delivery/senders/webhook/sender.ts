import { setMaxListeners } from 'node:events';
import type { Agent } from 'undici';
import type { Clock } from '../../../component/telemetry.js';
import { isRedirect, readRetryAfter } from '../../http-answer.js';
import type { AddressPolicy } from './address-policy.js';
import { AddressRefusedError, AnswerTooLongError, TimeLimitError } from './connection-error.js';
import { failureDetail, failureText, hasNoAddress, userFailureText } from './failure-text.js';
import { guardedAgent, type TransportOptions } from './guarded-agent.js';
import type { Resolve } from './resolve-names.js';
import { ResponseStart } from './response-start.js';

/** How many answers with status 100 to 199 may come before the real one. They are expensive: 128 KiB of them would take 50 ms. */
const MAX_HINTS = 16;

export interface SenderOptions {
  readonly policy: Pick<AddressPolicy, 'allows'>;
  /** PEM certificates that are trusted in addition to the public ones: see `readTrusted`. */
  readonly trusted: readonly string[];
  /** Time limit for a whole attempt. */
  readonly timeoutMs: number;
  /** The part of it for finding the address, connecting and agreeing on TLS. */
  readonly connectTimeoutMs: number;
  /** How much of a response body is kept. Default 16 KiB. */
  readonly maxResponseBytes?: number;
  /** How connections differ from those of HTTPS with a certificate that is trusted. */
  readonly transport?: TransportOptions | undefined;
  /** Measures both times, and how far away the date of a `Retry-After` is. */
  readonly clock: Clock;
  /** If absent, names are resolved by the hosts file and DNS. */
  readonly resolve?: Resolve | undefined;
}

export interface WebhookRequest {
  /** A URL that `checkTarget` has accepted. */
  readonly url: string;
  /** POST where absent. */
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for none. */
  readonly body: Uint8Array | null;
}

/** The ways in which attempts end. */
export const ATTEMPT_KINDS = ['success', 'refused', 'timed_out', 'blocked', 'failed'] as const;
/**
 * `success`: a complete answer with status 2xx. `refused`: a complete answer with another status. `timed_out`: no complete answer
 * in time. `blocked`: the address is not allowed. `failed`: any other end without a complete answer.
 */
export type AttemptKind = (typeof ATTEMPT_KINDS)[number];

/** How one attempt ended. */
export interface AttemptResult {
  readonly kind: AttemptKind;
  /** A complete answer with status 2xx came. */
  readonly succeeded: boolean;
  /** null if no answer came. */
  readonly statusCode: number | null;
  /** The beginning of the response's body, as far as it was received and kept; empty if absent. */
  readonly responseBody: string;
  /** 0 if there is no allowed address: the duration would reveal which names exist. */
  readonly durationMs: number;
  /**
   * One sentence for the operator if there was no complete response or a redirect; null otherwise, because the status says enough.
   */
  readonly error: string | null;
  /** The text for the user who set the URL: without a response, it does not reveal what is at the address. */
  readonly userError: string | null;
  /** The cause of `error`, for the operator's log: it may contain addresses. Null if absent. */
  readonly detail: string | null;
  /** 410: the receiver wants no more. */
  readonly isGone: boolean;
  /** Retry delay requested by a failed receiver. */
  readonly retryAfterMs: number | null;
}

/** The part of a response received so far. */
interface Answer {
  statusCode: number | null;
  retryAfter: string | undefined;
  readonly body: ResponseStart;
}

/**
 * Posts webhooks to receivers that users name, and trusts neither of them: connections go only where the policy allows, redirects
 * are not followed, nothing is decompressed, and no more of an answer is read than is kept.
 */
export class WebhookSender {
  readonly #agent: Agent;
  readonly #closed = new AbortController();
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#agent = guardedAgent({ ...options, closed: this.#closed.signal });
  }

  /**
   * Makes one attempt. Any response of the receiver is a result.
   *
   * @param signal aborts the attempt
   * @throws TypeError if the URL is invalid
   * @throws the signal's reason if it was aborted before the attempt was over: the request may have been sent
   */
  async send(request: WebhookRequest, signal: AbortSignal): Promise<AttemptResult> {
    signal.throwIfAborted();
    const url = new URL(request.url);
    const { timeoutMs, clock, maxResponseBytes } = this.#options;
    const started = performance.now();
    const answer: Answer = {
      statusCode: null,
      retryAfter: undefined,
      body: new ResponseStart(maxResponseBytes),
    };
    const limit = new AbortController();
    const stop = (): void => {
      limit.abort(signal.reason);
    };
    // Many attempts listen to one signal, and Node takes more than ten listeners for a leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', stop);
    const cancel = clock.after(timeoutMs, () => {
      limit.abort(new TimeLimitError('response', timeoutMs));
    });
    let cause: unknown = null;
    try {
      await this.#exchange(url, request, limit.signal, answer);
    } catch (error) {
      signal.throwIfAborted();
      cause = error;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
    return this.#result(url, answer, cause, performance.now() - started);
  }

  /** Breaks off running attempts, and closes all connections. */
  async close(): Promise<void> {
    const ended = this.#agent.destroy();
    this.#closed.abort();
    await ended;
  }

  async #exchange(url: URL, request: WebhookRequest, signal: AbortSignal, answer: Answer): Promise<void> {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
    // undici looks at the signal only once it has a connection.
    await Promise.race([this.#post(url, request, signal, answer), aborted]);
  }

  async #post(
    { origin, pathname, search }: URL,
    { method = 'POST', headers, body }: WebhookRequest,
    signal: AbortSignal,
    answer: Answer,
  ): Promise<void> {
    let hints = 0;
    const response = await this.#agent.request({
      origin,
      path: pathname + search,
      method: method,
      headers: { ...headers, 'Accept-Encoding': 'identity' },
      body,
      signal,
      highWaterMark: 16 * 1024,
      onInfo: () => {
        if (++hints > MAX_HINTS) throw new AnswerTooLongError(`more than ${MAX_HINTS} provisional answers`);
      },
    });
    answer.statusCode = response.statusCode;
    answer.retryAfter = first(response.headers['retry-after']);
    try {
      for await (const piece of response.body as AsyncIterable<Uint8Array>) {
        answer.body.add(piece);
        if (answer.body.isFull) break;
      }
    } catch (error) {
      // Such a response has no body, regardless of its headers.
      if (response.statusCode !== 204) throw error;
    }
  }

  #result({ hostname }: URL, answer: Answer, cause: unknown, durationMs: number): AttemptResult {
    const { statusCode, retryAfter, body } = answer;
    const isComplete = cause === null;
    const hasAnswer = statusCode !== null;
    const error = isComplete ? redirectText(statusCode) : failureText(cause, hostname, hasAnswer);
    const succeeded = isComplete && statusCode !== null && statusCode >= 200 && statusCode < 300;
    return {
      kind: isComplete ? (succeeded ? 'success' : 'refused') : kindOf(cause),
      succeeded,
      statusCode,
      responseBody: body.text(),
      durationMs: hasNoAddress(cause) ? 0 : Math.round(durationMs),
      error,
      userError: isComplete || error === null ? error : userFailureText(cause, error, hasAnswer),
      detail: isComplete ? null : failureDetail(cause),
      isGone: statusCode === 410,
      retryAfterMs: succeeded ? null : (readRetryAfter(retryAfter, this.#options.clock.now()) ?? null),
    };
  }
}

function kindOf(cause: unknown): AttemptKind {
  if (cause instanceof TimeLimitError) return 'timed_out';
  return cause instanceof AddressRefusedError ? 'blocked' : 'failed';
}

function redirectText(statusCode: number | null): string | null {
  return statusCode !== null && isRedirect(statusCode)
    ? `The receiver answered ${statusCode}: redirects are not followed; set the endpoint to the final URL`
    : null;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
