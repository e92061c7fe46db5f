import { randomBytes } from 'node:crypto';
import type { TelemetrySignal } from '../../src/signal/batch.js';
import { aSpan, protobufOf } from './otlp-requests.js';

/** Items acknowledged by a daemon. */
export interface Acknowledged {
  /** Hex trace id → hex ids of its spans. */
  readonly traces: Map<string, readonly string[]>;
  /** The value of each metric point; all differ. */
  readonly points: Set<number>;
  /** The body of each log record; all differ. */
  readonly logs: Set<string>;
}

/** Senders of all three signals over OTLP/HTTP that retry retryable requests. */
export class OtlpLoad {
  readonly acknowledged: Acknowledged = { traces: new Map(), points: new Set(), logs: new Set() };
  readonly #url: string;
  readonly #key: string;
  #isStopping = false;
  #next = 0;
  #watchers: (() => void)[] = [];
  readonly #senders: readonly Promise<void>[];

  /** @param url of OTLP/HTTP, without `/v1/…`. @param key API key with the scope `write` */
  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
    this.#senders = [this.#sendTraces(), this.#sendPoints(), this.#sendLogs()];
  }

  /** Requests acknowledged so far, of all signals. */
  get count(): number {
    const { traces, points, logs } = this.acknowledged;
    return traces.size + points.size + logs.size;
  }

  /** Resolves after that many more acknowledgements. */
  async more(count: number): Promise<void> {
    const wanted = this.count + count;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.count < wanted) return;
        this.#watchers = this.#watchers.filter((other) => other !== look);
        resolve();
      };
      this.#watchers.push(look);
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#senders);
  }

  async #sendTraces(): Promise<void> {
    while (!this.#isStopping) {
      const traceId = randomBytes(16);
      const ids = Array.from({ length: 3 }, () => randomBytes(8));
      const spans = ids.map((spanId, index) =>
        aSpan(1, { traceId, spanId, ...(ids[0] && index > 0 ? { parentSpanId: ids[0] } : {}) }),
      );
      // The spans of a trace come in two requests.
      const [first, ...others] = spans;
      const isTaken = await this.#send('traces', { resourceSpans: [{ scopeSpans: [{ spans: others }] }] });
      if (
        !isTaken ||
        !(await this.#send('traces', { resourceSpans: [{ scopeSpans: [{ spans: [first] }] }] }))
      )
        return;
      this.acknowledged.traces.set(
        traceId.toString('hex'),
        ids.map((id) => id.toString('hex')),
      );
      this.#noticed();
    }
  }

  async #sendPoints(): Promise<void> {
    while (!this.#isStopping) {
      const value = (this.#next += 1);
      const dataPoints = [{ timeUnixNano: timeOf(value), asDouble: value }];
      const metrics = [{ name: 'load', gauge: { dataPoints } }];
      if (!(await this.#send('metrics', { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }))) return;
      this.acknowledged.points.add(value);
      this.#noticed();
    }
  }

  async #sendLogs(): Promise<void> {
    while (!this.#isStopping) {
      const value = (this.#next += 1);
      const body = `record ${value}`;
      const logRecords = [{ timeUnixNano: timeOf(value), body: { stringValue: body } }];
      if (!(await this.#send('logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))) return;
      this.acknowledged.logs.add(body);
      this.#noticed();
    }
  }

  /** @returns false if it was not accepted before the end */
  async #send(signal: TelemetrySignal, request: object): Promise<boolean> {
    const body = new Uint8Array(protobufOf(signal, request));
    for (;;) {
      const response = await fetch(`${this.#url}/v1/${signal}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/x-protobuf' },
        body,
      });
      await response.arrayBuffer();
      if (response.status === 200) return true;
      if (response.status !== 503 && response.status !== 429)
        throw new Error(`A request of ${signal} was answered ${response.status}`);
      if (this.#isStopping) return false;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #noticed(): void {
    for (const look of this.#watchers) look();
  }
}

/** Each a millisecond later, so that all times differ. */
function timeOf(index: number): string {
  return (1_768_478_400_000_000_000n + BigInt(index) * 1_000_000n).toString();
}
