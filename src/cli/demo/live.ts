import type { RunBody, SpanBody, TraceBody } from './body.js';
import { playRun, type PlayedRun, type Recording } from './recording.js';

/**
 * A run that is being sent while it happens, as an SDK with a short flush interval would: first as `running` with its
 * root span, then each span once it has ended, at last the end of both.
 */
export class LiveRun {
  readonly #run: PlayedRun;
  readonly #endsMs: ReadonlyMap<SpanBody, number>;
  readonly #root: SpanBody | undefined;
  /** Up to here it was sent; undefined before the first time. */
  #sentMs: number | undefined;
  #isOver = false;

  constructor(run: PlayedRun) {
    this.#run = run;
    this.#root = run.body.spans[0];
    this.#endsMs = new Map(
      run.body.spans.map((span) => [span, Date.parse(span.ended_at ?? span.started_at)]),
    );
  }

  /** Whether its end was sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Changes since the last call. @returns undefined if there are none. */
  news(nowMs: number): RunBody | undefined {
    if (this.#isOver || nowMs < this.#run.startMs) return undefined;
    const isFirst = this.#sentMs === undefined;
    const spans = this.#endedSince(this.#sentMs ?? -Infinity, nowMs);
    this.#sentMs = nowMs;
    if (nowMs >= this.#run.endMs) {
      this.#isOver = true;
      return { trace: this.#run.body.trace, spans: [...this.#rootSpans(), ...spans] };
    }
    if (!isFirst && spans.length === 0) return undefined;
    return {
      trace: runningTrace(this.#run.body.trace),
      spans: [...(isFirst ? this.#rootSpans().map(runningSpan) : []), ...spans],
    };
  }

  /** Its end before its time. @returns undefined when it was over already, or had not begun. */
  cancel(nowMs: number): RunBody | undefined {
    if (this.#isOver || this.#sentMs === undefined) return undefined;
    this.#isOver = true;
    const end = {
      status: 'failed',
      ended_at: new Date(nowMs).toISOString(),
      duration_ms: nowMs - this.#run.startMs,
      error_message: 'Cancelled: the demo was stopped',
    } as const;
    return {
      trace: { ...runningTrace(this.#run.body.trace), ...end, success: false, outcome: 'cancelled' },
      spans: [
        ...this.#rootSpans().map((span) => ({ ...runningSpan(span), ...end })),
        ...this.#endedSince(this.#sentMs, nowMs),
      ],
    };
  }

  /** In the order in which they ended, the root left out. */
  #endedSince(fromMs: number, toMs: number): SpanBody[] {
    const endMs = (span: SpanBody) => this.#endsMs.get(span) ?? 0;
    return this.#run.body.spans
      .filter((span) => span !== this.#root && endMs(span) > fromMs && endMs(span) <= toMs)
      .sort((a, b) => endMs(a) - endMs(b));
  }

  #rootSpans(): SpanBody[] {
    return this.#root === undefined ? [] : [this.#root];
  }
}

function runningTrace(trace: TraceBody): TraceBody {
  const { trace_id, agent, started_at, metadata, sdk_version } = trace;
  return {
    trace_id,
    agent,
    status: 'running',
    started_at,
    ...(metadata && { metadata }),
    ...(sdk_version !== undefined && { sdk_version }),
  };
}

function runningSpan(span: SpanBody): SpanBody {
  const { span_id, trace_id, type, name, started_at, input_data, metadata } = span;
  return {
    span_id,
    trace_id,
    type,
    name,
    status: 'running',
    started_at,
    ...(input_data && { input_data }),
    ...(metadata && { metadata }),
  };
}

export interface LiveOptions {
  /** When the traffic begins, in milliseconds since the epoch. */
  readonly startMs: number;
  readonly runsPerMinute: number;
  /** All ids are derived from this text; each session needs its own. */
  readonly key: string;
}

/** The runs of a recording in a loop, so many a minute on average, each reported while it happens. */
export class LiveTraffic {
  readonly #recording: Recording;
  readonly #options: LiveOptions;
  readonly #first: number;
  #open: LiveRun[] = [];
  #nextStartMs: number;
  #started = 0;

  constructor(recording: Recording, options: LiveOptions) {
    this.#recording = recording;
    this.#options = options;
    this.#nextStartMs = options.startMs;
    this.#first = Math.floor(Math.random() * recording.runs.length);
  }

  /** Runs that have begun so far. */
  get started(): number {
    return this.#started;
  }

  /** Runs that have begun and not ended. */
  get underWay(): number {
    return this.#open.length;
  }

  /** All that has happened since the last call. */
  news(nowMs: number): RunBody[] {
    while (this.#nextStartMs <= nowMs) this.#begin();
    return this.#report((run) => run.news(nowMs));
  }

  /** Ends all open runs. */
  cancel(nowMs: number): RunBody[] {
    return this.#report((run) => run.cancel(nowMs));
  }

  #begin(): void {
    const { key, runsPerMinute } = this.#options;
    const { length } = this.#recording.runs;
    const place = this.#first + this.#started;
    const lap = Math.floor(place / length);
    const run = playRun(this.#recording, place % length, this.#nextStartMs, `${key}/live/${String(lap)}`);
    this.#open.push(new LiveRun(run));
    this.#started += 1;
    // Exponential pauses: the starts are independent of each other.
    const pauseMs = (-Math.log(1 - Math.random()) * 60_000) / runsPerMinute;
    this.#nextStartMs += Math.max(1, Math.round(pauseMs));
  }

  #report(what: (run: LiveRun) => RunBody | undefined): RunBody[] {
    const bodies = this.#open.flatMap((run) => what(run) ?? []);
    this.#open = this.#open.filter((run) => !run.isOver);
    return bodies;
  }
}
