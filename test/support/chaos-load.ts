import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../src/signal/batch.js';
import { aSpan, protobufOf } from './otlp-requests.js';

/** A metric query returns at most this many points. */
export const POINTS_OF_A_METRIC = 10_000;
const SENDERS = 2;
const START = 1_768_478_400_000_000_000n;

/** A request until it is acknowledged. */
interface Work {
  readonly signal: TelemetrySignal;
  readonly id: string;
  readonly body: Uint8Array;
  readonly items: number;
}

/**
 * Sends that many distinct items of each signal to a daemon that restarts: each request is repeated until it is acknowledged.
 */
export class ChaosLoad {
  /** Hex ids of the traces. */
  readonly traces: string[] = [];
  readonly done: Promise<void>;
  readonly #url: () => string;
  readonly #items: number;
  readonly #perRequest: number;
  readonly #isNamed: boolean;
  readonly #next: Record<TelemetrySignal, number> = { traces: 0, metrics: 0, logs: 0 };
  #acknowledged = 0;
  #watchers: (() => void)[] = [];

  /**
   * @param url current OTLP/HTTP endpoint
   * @param items of each signal
   * @param isNamed whether each request has its own name, so that a repeat adds nothing
   */
  constructor(url: () => string, items: number, perRequest: number, isNamed = true) {
    this.#isNamed = isNamed;
    this.#url = url;
    this.#items = items;
    this.#perRequest = perRequest;
    const senders = TELEMETRY_SIGNALS.flatMap((signal) =>
      Array.from({ length: SENDERS }, () => this.#send(signal)),
    );
    this.done = Promise.all(senders).then(() => undefined);
  }

  /** Items of all signals. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Resolves once that many items of all signals are acknowledged. */
  async reached(count: number): Promise<void> {
    while (this.#acknowledged < count) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  async #send(signal: TelemetrySignal): Promise<void> {
    for (let work = this.#take(signal); work !== null; work = this.#take(signal)) {
      while (!(await this.#attempt(work))) await wait(10);
      this.#acknowledged += work.items;
      for (const notify of this.#watchers.splice(0)) notify();
    }
  }

  async #attempt({ signal, id, body }: Work): Promise<boolean> {
    try {
      const response = await fetch(`${this.#url()}/v1/${signal}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-protobuf',
          ...(this.#isNamed && { 'jackdaw-batch-id': id }),
        },
        body,
      });
      const answer = await response.arrayBuffer();
      if (response.status === 200 && answer.byteLength > 0)
        throw new RangeError('a request was taken in part');
      if (response.status !== 200 && response.status !== 503)
        throw new RangeError(`a request of ${signal} was answered ${response.status}`);
      return response.status === 200;
    } catch (error) {
      // A killed daemon does not respond.
      if (error instanceof RangeError) throw error;
      return false;
    }
  }

  #take(signal: TelemetrySignal): Work | null {
    const first = this.#next[signal];
    const items = Math.min(this.#perRequest, this.#items - first);
    if (items <= 0) return null;
    this.#next[signal] += items;
    const numbers = Array.from({ length: items }, (_, index) => first + index);
    const request = this.#request(signal, numbers);
    return { signal, id: randomUUID(), body: new Uint8Array(protobufOf(signal, request)), items };
  }

  #request(signal: TelemetrySignal, numbers: readonly number[]): object {
    if (signal === 'logs') {
      const logRecords = numbers.map((number) => ({
        timeUnixNano: timeOf(number),
        body: { stringValue: String(number) },
      }));
      return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
    }
    if (signal === 'metrics') {
      const metrics = numbers.map((number) => ({
        name: metricOf(number),
        gauge: { dataPoints: [{ timeUnixNano: timeOf(number), asDouble: number }] },
      }));
      return { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] };
    }
    const traceId = randomBytes(16);
    this.traces.push(traceId.toString('hex'));
    const spans = numbers.map(() => aSpan(1, { traceId, spanId: randomBytes(8) }));
    return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
  }
}

/** The metric of a point. */
export function metricOf(number: number): string {
  return `load_${Math.floor(number / POINTS_OF_A_METRIC)}`;
}

/** Each a millisecond later, so that all times differ. */
function timeOf(number: number): string {
  return String(START + BigInt(number) * 1_000_000n);
}
