import type { RunBody, SpanBody, TraceBody } from './body.js';
import { playRun, type PlayedRun, type Recording } from './recording.js';

/**
 * A run that is sent while it happens, as by an SDK with a short flush interval: first as `running` with its root span, then each
 * span when it has ended, and finally the end of the run and its root span.
 */
export class LiveRun {
  readonly #run: PlayedRun;
  readonly #endsMs: ReadonlyMap<SpanBody, number>;
  readonly #root: SpanBody | undefined;
  /** Everything up to this time was sent; undefined before the first report. */
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
  pending(nowMs: number): RunBody | undefined {
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

  /**
   * Ends the run early.
   *
   * @returns undefined if it has already ended or not yet started.
   */
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

  /** The spans that ended in this period, by end time, without the root span. */
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
  /** Start of the traffic, in milliseconds since the epoch. */
  readonly startMs: number;
  readonly runsPerMinute: number;
  /** All ids are derived from this text; each session needs its own. */
  readonly key: string;
}

/** Plays the runs of a recording in a loop at an average rate and reports each while it happens. */
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

  /** Number of runs started so far. */
  get started(): number {
    return this.#started;
  }

  /** Number of runs that have started and not ended. */
  get underWay(): number {
    return this.#open.length;
  }

  /** Changes since the last call. */
  pending(nowMs: number): RunBody[] {
    while (this.#nextStartMs <= nowMs) this.#begin();
    return this.#report((run) => run.pending(nowMs));
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
    // Exponential pauses, so that the starts are independent of each other.
    const pauseMs = (-Math.log(1 - Math.random()) * 60_000) / runsPerMinute;
    this.#nextStartMs += Math.max(1, Math.round(pauseMs));
  }

  #report(what: (run: LiveRun) => RunBody | undefined): RunBody[] {
    const bodies = this.#open.flatMap((run) => what(run) ?? []);
    this.#open = this.#open.filter((run) => !run.isOver);
    return bodies;
  }
}
