import { HttpProblem, type InspectBody } from '../component/http.js';
import type { Clock } from '../component/telemetry.js';
import { contentCoding, decompress, tooLarge } from './decompress.js';
import { SLOW_BODY_MS } from './limits.js';
import type { MinRateMonitor } from './min-rate-monitor.js';
import { overloaded } from './problem.js';
import type { SharedUse } from './shares.js';
import type { FairQueue } from './fair-queue.js';

const KIB = 1024;
/**
 * Upper bound of the first allocation for a `Content-Length`. The rest is allocated as bytes arrive, so that a false length costs
 * little.
 */
const MAX_FIRST_ALLOCATION = 128 * KIB;
const FIRST_ALLOCATION = 16 * KIB;
/** Growth factor of the allocation if the length is known: memory pages that are never written cost nothing. */
const GROWTH = 16;
/** Growth factor for a body of unknown length. */
const CHUNKED_GROWTH = 2;
/** Decoding a larger body blocks the event loop for a while. */
const LARGE = 1024 * KIB;
const EMPTY = Buffer.alloc(0);

export interface BodySettings {
  /** Undefined for a chunked body. */
  readonly contentLength: number | undefined;
  /** The `Content-Encoding` header. */
  readonly contentEncoding: string | undefined;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Holds the bytes of the body. */
  readonly budget: SharedUse;
  /** Minimum rate. If absent, only the total time is limited. */
  readonly rateMonitor?: MinRateMonitor;
  /** Queue that delivers large bodies. If absent, bodies are delivered as they arrive. */
  readonly queue?: FairQueue;
  readonly clock: Clock;
}

/**
 * Collects a body within its size limit, the listener's budget and its time limit. It collects even without a reader; an error is
 * kept until the body is read.
 */
export class Body {
  readonly #settings: BodySettings;
  readonly #coding: string | undefined;
  #buffer: Buffer = EMPTY;
  #length = 0;
  #reserved = 0;
  #cost = 0;
  #state: 'gathering' | 'complete' | 'released' = 'gathering';
  #problem: HttpProblem | undefined;
  #waiting: { resolve: (bytes: Uint8Array) => void; reject: (problem: HttpProblem) => void } | undefined;
  #result: Promise<Uint8Array> | undefined;
  #inspect: InspectBody | undefined;
  #cancelTimeout: (() => void) | undefined;
  #endWatch: (() => void) | undefined;

  constructor(settings: BodySettings) {
    this.#settings = settings;
    const { contentLength = 0, contentEncoding, maxBytes, budget } = settings;
    try {
      this.#coding = contentCoding(contentEncoding);
      if (contentLength > maxBytes) throw tooLarge(maxBytes);
      if (!budget.fits(contentLength)) throw overloaded();
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      this.#problem = error;
    }
  }

  /** Why the body is refused, if it is refused. */
  get problem(): HttpProblem | undefined {
    return this.#problem;
  }

  /** Number of received bytes, or of decompressed bytes if that is more. */
  get cost(): number {
    return this.#cost;
  }

  /** Starts the time limit for the whole body. */
  startTimeout(): void {
    if (this.#state !== 'gathering' || this.#problem !== undefined) return;
    const { clock, timeoutMs, rateMonitor } = this.#settings;
    this.#cancelTimeout = clock.after(timeoutMs, () => {
      this.fail(new HttpProblem(408, 'request_timeout', `The body did not arrive within ${timeoutMs} ms.`));
    });
    this.#endWatch = rateMonitor?.watch(SLOW_BODY_MS, {
      moved: () => this.#length,
      tooSlow: () => {
        this.fail(new HttpProblem(408, 'request_timeout', 'The body arrived too slowly.'));
      },
    });
  }

  /** Copies a piece of the body. */
  take(piece: Uint8Array, isLast: boolean): void {
    if (this.#state !== 'gathering' || this.#problem !== undefined) return;
    const length = this.#length + piece.length;
    if (length > this.#settings.maxBytes) {
      this.fail(tooLarge(this.#settings.maxBytes));
      return;
    }
    const refusal = this.#inspect?.(piece);
    if (refusal !== undefined) {
      this.fail(refusal);
      return;
    }
    if (length > this.#buffer.length && !this.#grow(length, isLast)) {
      this.fail(overloaded());
      return;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
    this.#cost = length;
    if (isLast) this.#complete();
  }

  /** Refuses the body. No effect on a complete body. */
  fail(problem: HttpProblem): void {
    if (this.#state !== 'gathering' || this.#problem !== undefined) return;
    this.#problem = problem;
    this.#cancelTimeout?.();
    this.#endWatch?.();
    this.#giveBack();
    this.#waiting?.reject(problem);
    this.#waiting = undefined;
  }

  /**
   * The whole body, decompressed.
   *
   * @throws HttpProblem as documented for `HttpRequest.body`, and 503 `overloaded`
   */
  read(inspect?: InspectBody): Promise<Uint8Array> {
    if (this.#result === undefined) {
      if (inspect !== undefined && this.#coding === undefined) this.#inspectFromNowOn(inspect);
      const { contentLength = Infinity, queue } = this.#settings;
      const bytes = this.#coding === undefined ? this.#raw() : this.#decompressed(this.#coding);
      const maybeLarge = contentLength > LARGE || this.#coding !== undefined;
      this.#result = queue !== undefined && maybeLarge ? this.#queued(bytes, queue) : bytes;
      // A handler may fail before it awaits this promise; an unhandled rejection would end the process.
      this.#result.catch(ignore);
    }
    return this.#result;
  }

  /** Releases the budget, because the request is over and its bytes are no longer needed. */
  release(): void {
    // The error is created only if the body may still be read, since it costs more than a small body.
    if (this.#state === 'gathering') this.fail(connectionClosed());
    this.#state = 'released';
    this.#giveBack();
  }

  /** Discards the rest of the body, because the handler has finished. */
  discard(): void {
    if (this.#waiting !== undefined) return;
    this.#state = 'released';
    this.#cancelTimeout?.();
    this.#endWatch?.();
    this.#buffer = EMPTY;
    this.#giveBack();
  }

  #inspectFromNowOn(inspect: InspectBody): void {
    this.#inspect = inspect;
    const refusal = this.#length > 0 ? inspect(this.#bytes()) : undefined;
    if (refusal === undefined) return;
    this.fail(refusal);
    // Also if the body was already complete.
    this.#problem ??= refusal;
  }

  async #queued(bytes: Promise<Uint8Array>, queue: FairQueue): Promise<Uint8Array> {
    const whole = await bytes;
    if (whole.length > LARGE)
      await new Promise<void>((resolve) => {
        queue.add(this.#settings.budget.owner, resolve);
      });
    return whole;
  }

  #complete(): void {
    this.#state = 'complete';
    this.#cancelTimeout?.();
    this.#endWatch?.();
    this.#waiting?.resolve(this.#bytes());
    this.#waiting = undefined;
  }

  #bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #raw(): Promise<Uint8Array> {
    if (this.#problem !== undefined) return Promise.reject(this.#problem);
    if (this.#state !== 'gathering') return Promise.resolve(this.#bytes());
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  async #decompressed(coding: string): Promise<Uint8Array> {
    const bytes = await this.#raw();
    if (bytes.length === 0) return bytes;
    const packed = this.#reserved;
    const { maxBytes, budget } = this.#settings;
    let inflated: Uint8Array;
    try {
      inflated = await decompress(coding, bytes, maxBytes, (more) => this.#reserve(more));
    } catch (error) {
      if (error instanceof HttpProblem) this.#problem ??= error;
      throw error;
    }
    this.#cost = Math.max(this.#cost, inflated.length);
    this.#buffer = EMPTY;
    this.#length = 0;
    if (this.#state === 'complete') {
      this.#reserved -= packed;
      budget.give(packed);
    }
    return inflated;
  }

  #reserve(bytes: number): boolean {
    if (this.#state === 'released' || !this.#settings.budget.take(bytes)) return false;
    this.#reserved += bytes;
    return true;
  }

  /** Grows the buffer to fit the bytes, but never beyond the announced length, so that a body with a length is rarely copied. */
  #grow(length: number, isLast: boolean): boolean {
    const { contentLength, maxBytes } = this.#settings;
    const most = Math.max(length, Math.min(contentLength ?? maxBytes, maxBytes));
    const first = contentLength === undefined ? FIRST_ALLOCATION : MAX_FIRST_ALLOCATION;
    const growth = contentLength === undefined ? CHUNKED_GROWTH : GROWTH;
    const wanted = isLast ? length : Math.min(most, Math.max(length, this.#buffer.length * growth, first));
    if (!this.#reserve(wanted - this.#buffer.length)) return false;
    // Not from Node's shared pool: the handler keeps the bytes, and one small body would hold a whole slab.
    const grown = Buffer.allocUnsafeSlow(wanted);
    grown.set(this.#bytes());
    this.#buffer = grown;
    return true;
  }

  #giveBack(): void {
    this.#settings.budget.give(this.#reserved);
    this.#reserved = 0;
    this.#buffer = EMPTY;
    this.#length = 0;
  }
}

/** For the log only: the client is gone. */
export function connectionClosed(): HttpProblem {
  return new HttpProblem(400, 'connection_closed', 'The connection was closed before the body was complete.');
}

function ignore(): void {
  // Reported by the promise that the handler awaits.
}
