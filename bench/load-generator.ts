import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { invariant } from '../src/signal/checked.js';
import type { BodyTemplate } from './body-template.js';
import { FreshIds, NanoTime, TimeText } from './fresh-values.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { LoadPlan, LoadResult, SampledTrace } from './load-plan.js';
import { post, type Answer } from './post.js';
import { WORKLOADS, type Workload } from './workload.js';

/** How long a connection rests after an answer that was no 200. */
const REST_AFTER_ERROR_MS = 100;
const TIMEOUT_MS = 120_000;

/** Sends requests by a plan, over as many connections as it says. All that is costly is done by the constructor. */
export class LoadGenerator {
  readonly #plan: LoadPlan;
  readonly #workload: Workload;
  /** Bodies that are not being sent. */
  readonly #free: BodyTemplate[] = [];
  readonly #ids = new FreshIds();
  readonly #times = new TimeText();
  readonly #nanos = new NanoTime();
  readonly #statistics: LoadStatistics;
  readonly #requests: number;
  #next = 0;
  #stopped = false;
  #startMs = 0;
  #untilMs = Infinity;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#workload = WORKLOADS[plan.kind];
    this.#requests = plan.items === undefined ? Infinity : Math.ceil(plan.items / plan.itemsPerRequest);
    const templates = this.#workload.templates(plan);
    // One body for each connection at least, so that a free one is always at hand.
    const count = Math.max(plan.templates, plan.connections);
    while (this.#free.length < count) this.#free.push(templates.next().value);
    const bytes = this.#free.reduce((sum, template) => sum + template.bytes.length, 0);
    this.#statistics = new LoadStatistics(plan.samples, Math.round(bytes / count));
  }

  get acknowledgedItems(): number {
    return this.#statistics.acknowledgedItems;
  }

  /** Ends the sending; what is under way is waited for. */
  stop(): void {
    this.#stopped = true;
  }

  /** @param onMeasuring called when the warm-up is over */
  async run(onMeasuring: () => void): Promise<LoadResult> {
    const { url, others = [], key, connections, warmupSeconds, seconds = Infinity } = this.#plan;
    const urls = [url, ...others];
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
          this.#send(invariant(pools[i % pools.length], 'a daemon to send to'), headers),
        ),
      );
    } finally {
      clearTimeout(warmup);
      await Promise.all(pools.map((pool) => pool.destroy()));
    }
    return this.#statistics.result(this.#unsent());
  }

  /** The work of one connection: the next request, as soon as it is due. */
  async #send(pool: Pool, headers: Readonly<Record<string, string>>): Promise<void> {
    for (;;) {
      const number = this.#next;
      const dueMs = this.#dueMs(number);
      if (this.#stopped || number >= this.#requests || Math.max(dueMs, performance.now()) >= this.#untilMs) {
        return;
      }
      this.#next += 1;
      const earlyMs = dueMs - performance.now();
      if (earlyMs > 0) await sleep(earlyMs);
      const template = this.#free.shift();
      if (template === undefined) throw new Error('There are fewer bodies than connections.');
      template.refresh({
        ids: this.#ids,
        times: this.#times,
        nanos: this.#nanos,
        number,
        startMs: (at, durationMs) => this.#startOf(number, at, durationMs),
      });
      const sentMs = performance.now();
      const answer = await post(pool, this.#workload.path, headers, template.bytes);
      const countedFromMs = this.#plan.itemsPerSecond === undefined ? sentMs : Math.min(dueMs, sentMs);
      const latencyMs = performance.now() - countedFromMs;
      const rejected = answer.status === 200 ? this.#workload.rejected(answer.body) : 0;
      this.#statistics.count(answer, rejected, template, latencyMs);
      this.#free.push(template);
      if (answer.status !== 200) await sleep(REST_AFTER_ERROR_MS);
    }
  }

  /** When a request is to be sent. In a closed loop that is now. */
  #dueMs(number: number): number {
    const { itemsPerSecond, itemsPerRequest } = this.#plan;
    if (itemsPerSecond === undefined) return performance.now();
    return this.#startMs + (number * itemsPerRequest * 1000) / itemsPerSecond;
  }

  /** When something at that place of a request starts. */
  #startOf(number: number, at: number, durationMs: number): number {
    const { times } = this.#plan;
    if (times === 'now') return Date.now() - durationMs;
    const share = (number + at) / this.#requests;
    return Math.round(times.fromMs + share * (times.toMs - times.fromMs));
  }

  /** Requests that were due before the end and had not been sent then. */
  #unsent(): number {
    const { itemsPerSecond, itemsPerRequest } = this.#plan;
    if (itemsPerSecond === undefined) return 0;
    const lastedMs = Math.min(performance.now(), this.#untilMs) - this.#startMs;
    const due = Math.min(this.#requests, (lastedMs * itemsPerSecond) / 1000 / itemsPerRequest);
    return Math.max(0, Math.floor(due) - this.#next);
  }
}

/** Counts what comes back. */
export class LoadStatistics {
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
  #silenceMs = 0;
  #cpu = process.cpuUsage();

  /** @param bodyBytes of a request on average */
  constructor(sampleSize: number, bodyBytes: number) {
    this.#sampleSize = sampleSize;
    this.#bodyBytes = bodyBytes;
  }

  get acknowledgedItems(): number {
    return this.#items;
  }

  /** Forgets what was measured so far; the sums of what was acknowledged go on. */
  beginMeasuring(): void {
    this.#latency = new LatencyRecorder();
    this.#measuredItems = 0;
    this.#measuredFromMs = this.#lastMs = performance.now();
    this.#silenceMs = 0;
    this.#cpu = process.cpuUsage();
  }

  /** @param rejected how many were refused although the request was accepted */
  count(answer: Answer, rejected: number, template: BodyTemplate, latencyMs: number): void {
    if (answer.status !== 200) {
      const name = answer.failure ?? String(answer.status);
      this.#errors.set(name, (this.#errors.get(name) ?? 0) + 1);
      // Without an answer it may have been stored all the same, unless there was no connection to begin with.
      if (answer.status === 0 && name !== 'ECONNREFUSED') this.#unknown += template.units;
      return;
    }
    const now = performance.now();
    this.#silenceMs = Math.max(this.#silenceMs, now - this.#lastMs);
    this.#lastMs = now;
    this.#latency.record(latencyMs);
    this.#requests += 1;
    this.#rejected += rejected;
    if (rejected > 0) {
      // Which of them were taken is not known.
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
        longestSilenceMs: this.#silenceMs,
        unsent,
        cpuSeconds: (cpu.user + cpu.system) / 1e6,
      },
    };
  }

  /** Keeps a sample of one trace a request, each request as likely as any other (Vitter's algorithm R). */
  #sample(template: BodyTemplate): void {
    const place =
      this.#samples.length < this.#sampleSize
        ? this.#samples.length
        : Math.floor(Math.random() * this.#requests);
    if (place >= this.#sampleSize) return;
    const sample = template.sample();
    if (sample !== undefined) this.#samples[place] = sample;
  }
}
