import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { invariant } from '../src/signal/checked.js';
import type { BodyTemplate } from './body-template.js';
import { FreshIds, NanoTime, TimeText } from './fresh-values.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { LoadPlan, LoadResult, SampledTrace } from './load-plan.js';
import { post, type Answer } from './post.js';
import { WORKLOADS, type Workload } from './workload.js';

/** Pause of a connection after a response other than 200. */
const PAUSE_AFTER_ERROR_MS = 100;
const TIMEOUT_MS = 120_000;

/** Sends requests as planned. The constructor builds the bodies, which is slow. */
export class LoadGenerator {
  readonly #plan: LoadPlan;
  readonly #workload: Workload;
  /** Templates that no request is using. */
  readonly #freeTemplates: BodyTemplate[] = [];
  readonly #ids = new FreshIds();
  readonly #times = new TimeText();
  readonly #nanos = new NanoTime();
  readonly #statistics: LoadStatistics;
  readonly #requests: number;
  #nextRequest = 0;
  #stopped = false;
  #startMs = 0;
  #untilMs = Infinity;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#workload = WORKLOADS[plan.kind];
    this.#requests = plan.items === undefined ? Infinity : Math.ceil(plan.items / plan.itemsPerRequest);
    const templates = this.#workload.templates(plan);
    // At least one per connection, so that one is always free.
    const count = Math.max(plan.templates, plan.connections);
    while (this.#freeTemplates.length < count) this.#freeTemplates.push(templates.next().value);
    const bytes = this.#freeTemplates.reduce((sum, template) => sum + template.bytes.length, 0);
    this.#statistics = new LoadStatistics(plan.samples, Math.round(bytes / count));
  }

  get acknowledgedItems(): number {
    return this.#statistics.acknowledgedItems;
  }

  /** Stops sending; `run` still waits for pending responses. */
  stop(): void {
    this.#stopped = true;
  }

  /** @param onMeasuring called when the warm-up is over */
  async run(onMeasuring: () => void): Promise<LoadResult> {
    const { url, otherUrls = [], key, connections, warmupSeconds, seconds = Infinity } = this.#plan;
    const urls = [url, ...otherUrls];
    const pools = urls.map(
      (each) =>
        new Pool(each, {
          connections: Math.ceil(connections / urls.length),
          pipelining: 1,
          headersTimeout: TIMEOUT_MS,
          bodyTimeout: TIMEOUT_MS,
        }),
    );
    const headers = { authorization: `Bearer ${key}`, 'content-type': this.#workload.contentType };
    this.#startMs = performance.now();
    this.#untilMs = this.#startMs + (warmupSeconds + seconds) * 1000;
    const warmup = setTimeout(() => {
      this.#statistics.beginMeasuring();
      onMeasuring();
    }, warmupSeconds * 1000);
    try {
      await Promise.all(
        Array.from({ length: connections }, (_, i) =>
          this.#send(invariant(pools[i % pools.length], 'pool'), headers),
        ),
      );
    } finally {
      clearTimeout(warmup);
      await Promise.all(pools.map((pool) => pool.destroy()));
    }
    return this.#statistics.result(this.#unsent());
  }

  /** The loop of one connection: sends the next request when it is due. */
  async #send(pool: Pool, headers: Readonly<Record<string, string>>): Promise<void> {
    for (;;) {
      const number = this.#nextRequest;
      const dueMs = this.#dueMs(number);
      if (this.#stopped || number >= this.#requests || Math.max(dueMs, performance.now()) >= this.#untilMs) {
        return;
      }
      this.#nextRequest += 1;
      const earlyMs = dueMs - performance.now();
      if (earlyMs > 0) await sleep(earlyMs);
      const template = this.#freeTemplates.shift();
      if (template === undefined) throw new Error('No free body template.');
      template.refresh({
        ids: this.#ids,
        times: this.#times,
        nanos: this.#nanos,
        number,
        startMs: (at, durationMs) => this.#startOf(number, at, durationMs),
      });
      const sentMs = performance.now();
      const answer = await post(pool, this.#workload.path, headers, template.bytes);
      const latencyFromMs = this.#plan.itemsPerSecond === undefined ? sentMs : Math.min(dueMs, sentMs);
      const latencyMs = performance.now() - latencyFromMs;
      const rejected = answer.status === 200 ? this.#workload.rejected(answer.body) : 0;
      this.#statistics.count(answer, rejected, template, latencyMs);
      this.#freeTemplates.push(template);
      if (answer.status !== 200) await sleep(PAUSE_AFTER_ERROR_MS);
    }
  }

  /** Time at which a request is due. In a closed loop that is now. */
  #dueMs(number: number): number {
    const { itemsPerSecond, itemsPerRequest } = this.#plan;
    if (itemsPerSecond === undefined) return performance.now();
    return this.#startMs + (number * itemsPerRequest * 1000) / itemsPerSecond;
  }

  /** Start time of a part of a request. @param at its position, from 0 to 1 */
  #startOf(number: number, at: number, durationMs: number): number {
    const { times } = this.#plan;
    if (times === 'now') return Date.now() - durationMs;
    const share = (number + at) / this.#requests;
    return Math.round(times.fromMs + share * (times.toMs - times.fromMs));
  }

  /** Requests that were due before the end but not sent. */
  #unsent(): number {
    const { itemsPerSecond, itemsPerRequest } = this.#plan;
    if (itemsPerSecond === undefined) return 0;
    const elapsedMs = Math.min(performance.now(), this.#untilMs) - this.#startMs;
    const due = Math.min(this.#requests, (elapsedMs * itemsPerSecond) / 1000 / itemsPerRequest);
    return Math.max(0, Math.floor(due) - this.#nextRequest);
  }
}

/** Counts responses and records their latencies. */
class LoadStatistics {
  readonly #sampleSize: number;
  readonly #bodyBytes: number;
  readonly #errors = new Map<string, number>();
  readonly #samples: SampledTrace[] = [];
  #requests = 0;
  #items = 0;
  #units = 0;
  #rejected = 0;
  #unknown = 0;
  #latency = new LatencyRecorder();
  #measuredItems = 0;
  #measuredFromMs = performance.now();
  #lastMs = performance.now();
  #longestGapMs = 0;
  #cpu = process.cpuUsage();

  /** @param bodyBytes average size of a request */
  constructor(sampleSize: number, bodyBytes: number) {
    this.#sampleSize = sampleSize;
    this.#bodyBytes = bodyBytes;
  }

  get acknowledgedItems(): number {
    return this.#items;
  }

  /** Resets the measurements. Counts of acknowledged items continue. */
  beginMeasuring(): void {
    this.#latency = new LatencyRecorder();
    this.#measuredItems = 0;
    this.#measuredFromMs = this.#lastMs = performance.now();
    this.#longestGapMs = 0;
    this.#cpu = process.cpuUsage();
  }

  /** @param rejected items refused in an accepted request */
  count(answer: Answer, rejected: number, template: BodyTemplate, latencyMs: number): void {
    if (answer.status !== 200) {
      const name = answer.failure ?? String(answer.status);
      this.#errors.set(name, (this.#errors.get(name) ?? 0) + 1);
      // Without a response the items may be stored, unless there was no connection.
      if (answer.status === 0 && name !== 'ECONNREFUSED') this.#unknown += template.units;
      return;
    }
    const now = performance.now();
    this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastMs);
    this.#lastMs = now;
    this.#latency.record(latencyMs);
    this.#requests += 1;
    this.#rejected += rejected;
    if (rejected > 0) {
      // The response does not say which units were accepted.
      this.#unknown += template.units;
      return;
    }
    this.#units += template.units;
    this.#items += template.items;
    this.#measuredItems += template.items;
    this.#sample(template);
  }

  result(unsent: number): LoadResult {
    const cpu = process.cpuUsage(this.#cpu);
    return {
      acknowledged: { requests: this.#requests, items: this.#items, units: this.#units },
      unknownUnits: this.#unknown,
      rejected: this.#rejected,
      errors: Object.fromEntries(this.#errors),
      samples: this.#samples,
      bodyBytes: this.#bodyBytes,
      measured: {
        seconds: (this.#lastMs - this.#measuredFromMs) / 1000,
        items: this.#measuredItems,
        latency: this.#latency.summary(),
        longestGapMs: this.#longestGapMs,
        unsent,
        cpuSeconds: (cpu.user + cpu.system) / 1e6,
      },
    };
  }

  /** Reservoir sampling (Vitter's algorithm R) of one trace per request. */
  #sample(template: BodyTemplate): void {
    const index =
      this.#samples.length < this.#sampleSize
        ? this.#samples.length
        : Math.floor(Math.random() * this.#requests);
    if (index >= this.#sampleSize) return;
    const sample = template.sample();
    if (sample !== undefined) this.#samples[index] = sample;
  }
}
