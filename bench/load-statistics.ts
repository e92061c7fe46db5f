import type { BatchTemplate } from './batch-template.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { LoadResult, SampledTrace } from './load-plan.js';
import type { Answer } from './post-batch.js';

/** Counts what comes back. */
export class LoadStatistics {
  readonly #sampleSize: number;
  readonly #bodyBytes: number;
  readonly #errors = new Map<string, number>();
  readonly #samples: SampledTrace[] = [];
  #requests = 0;
  #spans = 0;
  #traces = 0;
  #rejected = 0;
  #unknownTraces = 0;
  #latency = new LatencyRecorder();
  #measuredSpans = 0;
  #measuredFromMs = performance.now();
  #lastMs = performance.now();
  #silenceMs = 0;
  #cpu = process.cpuUsage();

  /** @param bodyBytes of a request on average */
  constructor(sampleSize: number, bodyBytes: number) {
    this.#sampleSize = sampleSize;
    this.#bodyBytes = bodyBytes;
  }

  get acknowledgedSpans(): number {
    return this.#spans;
  }

  /** Forgets what was measured so far; the sums of what was acknowledged go on. */
  beginMeasuring(): void {
    this.#latency = new LatencyRecorder();
    this.#measuredSpans = 0;
    this.#measuredFromMs = this.#lastMs = performance.now();
    this.#silenceMs = 0;
    this.#cpu = process.cpuUsage();
  }

  count(answer: Answer, template: BatchTemplate, latencyMs: number): void {
    if (answer.status !== 200) {
      const name = answer.failure ?? String(answer.status);
      this.#errors.set(name, (this.#errors.get(name) ?? 0) + 1);
      // Without an answer it may have been stored all the same, unless there was no connection to begin with.
      if (answer.status === 0 && name !== 'ECONNREFUSED') this.#unknownTraces += template.runs.length;
      return;
    }
    const now = performance.now();
    this.#silenceMs = Math.max(this.#silenceMs, now - this.#lastMs);
    this.#lastMs = now;
    this.#latency.record(latencyMs);
    this.#requests += 1;
    this.#traces += answer.accepted;
    this.#rejected += answer.rejected;
    if (answer.rejected > 0) return;
    this.#spans += template.spans;
    this.#measuredSpans += template.spans;
    this.#sample(template);
  }

  result(unsent: number): LoadResult {
    const cpu = process.cpuUsage(this.#cpu);
    return {
      acknowledged: { requests: this.#requests, spans: this.#spans, traces: this.#traces },
      unknownTraces: this.#unknownTraces,
      rejectedTraces: this.#rejected,
      errors: Object.fromEntries(this.#errors),
      samples: this.#samples,
      bodyBytes: this.#bodyBytes,
      measured: {
        seconds: (this.#lastMs - this.#measuredFromMs) / 1000,
        spans: this.#measuredSpans,
        latency: this.#latency.summary(),
        longestSilenceMs: this.#silenceMs,
        unsent,
        cpuSeconds: (cpu.user + cpu.system) / 1e6,
      },
    };
  }

  /** Keeps a sample of one trace a request, each request as likely as any other (Vitter's algorithm R). */
  #sample(template: BatchTemplate): void {
    const place =
      this.#samples.length < this.#sampleSize
        ? this.#samples.length
        : Math.floor(Math.random() * this.#requests);
    if (place >= this.#sampleSize) return;
    const run = template.runs[Math.floor(Math.random() * template.runs.length)];
    if (run !== undefined) this.#samples[place] = { traceId: template.traceId(run), spans: run.spans };
  }
}
