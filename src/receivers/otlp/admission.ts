import { HttpProblem } from '../../component/http.js';
import type { Counter, Meter } from '../../component/telemetry.js';
import { InFlight } from '../../http/in-flight.js';

const RETRY_AFTER_SECONDS = '1';

/** Transports by their names in metrics. */
export type Transport = 'http' | 'grpc';

/** Admits or refuses requests, over all transports of a receiver. */
export class Admission {
  readonly #id: string;
  readonly #meter: Meter;
  readonly #inFlight: InFlight;
  readonly #refused: Counter;
  #endGauges: readonly (() => void)[] = [];
  #isDraining = false;

  constructor(id: string, limits: { readonly requests: number; readonly bytes: number }, meter: Meter) {
    this.#id = id;
    this.#meter = meter;
    this.#inFlight = new InFlight(limits);
    this.#refused = meter.counter('otlp_refused_requests_total', {
      description: 'Requests refused as a whole, by reason.',
      labelNames: ['receiver', 'transport', 'code'],
    });
  }

  /** @param share of the waiting requests that one user may have */
  start(share: number): void {
    this.#inFlight.shareOut(share);
    const labels = { receiver: this.#id };
    const gauge = (name: string, description: string, read: () => number) =>
      this.#meter.gauge(name, { description, labelNames: ['receiver'] }, read, labels);
    this.#endGauges = [
      gauge('otlp_requests_in_flight', 'Requests waiting for the store.', () => this.#inFlight.requests),
      gauge('otlp_bytes_in_flight', 'Bytes of requests waiting for the store.', () => this.#inFlight.bytes),
    ];
  }

  /** @throws HttpProblem 503 `shutting_down`, or `overloaded` if a user's request of `bytes` cannot be accepted now */
  check(userId: string, bytes: number): void {
    if (this.#isDraining) throw busy('shutting_down', 'The daemon is shutting down; send the request again.');
    this.#refuseFull(userId, bytes);
  }

  /**
   * Runs the work of a received request.
   *
   * @param work calls `begin` before it begins to process the request. Until then the request counts only for the limits of the
   *   listener: a thread works on others.
   * @throws HttpProblem as {@link check}; errors of the work
   */
  async run<T>(userId: string, bytes: number, work: (begin: () => void) => Promise<T>): Promise<T> {
    this.check(userId, 0);
    let leave = (): void => undefined;
    const begin = (): void => {
      this.#refuseFull(userId, bytes);
      leave = this.#inFlight.enter(userId, bytes);
    };
    try {
      return await work(begin);
    } finally {
      leave();
    }
  }

  #refuseFull(userId: string, bytes: number): void {
    if (this.#inFlight.isFull(userId, bytes))
      throw busy('overloaded', 'Too many requests are waiting for the store; send this one again later.');
  }

  /** Counts a request that was refused. */
  noteRefusal(transport: Transport, problem: HttpProblem): void {
    this.#refused.add(1, { receiver: this.#id, transport, code: problem.code });
  }

  /** Refuses all further requests. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Resolves when all accepted requests are answered, or at the deadline. */
  async close(deadline: AbortSignal): Promise<void> {
    this.drain();
    await this.#inFlight.idle(deadline);
    for (const end of this.#endGauges) end();
    this.#endGauges = [];
  }
}

function busy(code: 'shutting_down' | 'overloaded', detail: string): HttpProblem {
  return new HttpProblem(503, code, detail, { headers: { 'retry-after': RETRY_AFTER_SECONDS } });
}
