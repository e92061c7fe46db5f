/**
 * `batch`: runs to `POST /api/v1/traces/batch`. The others: OTLP over HTTP in protobuf; `prompts` are traces of one model
 * call that names a prompt version.
 */
export const LOAD_KINDS = ['batch', 'traces', 'prompts', 'metrics', 'logs'] as const;
export type LoadKind = (typeof LOAD_KINDS)[number];

/** Settings of a load process, sent to it as JSON. An item is a span, a metric point or a log record. */
export interface LoadPlan {
  readonly kind: LoadKind;
  readonly url: string;
  /** Further daemons over the same stores. Connections are distributed over all daemons. */
  readonly otherUrls?: readonly string[];
  readonly key: string;
  readonly seed: string;
  /** Concurrent requests, each on its own connection. */
  readonly connections: number;
  /** Items due per second (open loop). Absent: closed loop. */
  readonly itemsPerSecond?: number;
  readonly itemsPerRequest: number;
  /** Number of different bodies, sent in turn. */
  readonly templates: number;
  /** Seconds of sending before the measurement. */
  readonly warmupSeconds: number;
  /** Seconds to measure. Absent: until stopped, or until `items` are sent. */
  readonly seconds?: number;
  /** Items to send, including the warm-up. */
  readonly items?: number;
  /** Times of the items: ending now, or spread over a period in the order of sending. */
  readonly times: 'now' | { readonly fromMs: number; readonly toMs: number };
  /** Size of the random sample of acknowledged traces. */
  readonly samples: number;
}

export interface SampledTrace {
  readonly traceId: string;
  readonly spans: number;
}

export interface LoadResult {
  /** Including the warm-up. */
  readonly acknowledged: {
    readonly requests: number;
    readonly items: number;
    /** What the daemon's API counts: traces, points or records. */
    readonly units: number;
  };
  /** Units of requests without a response, which may or may not be stored. */
  readonly unknownUnits: number;
  /** Items refused in accepted requests. */
  readonly rejected: number;
  /** Counts of responses other than 200 by status, and of connection failures by code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly samples: readonly SampledTrace[];
  readonly bodyBytes: number;
  /** Excluding the warm-up. */
  readonly measured: {
    readonly seconds: number;
    readonly items: number;
    readonly latency: Latency;
    /** Longest time between two acknowledgements. */
    readonly longestGapMs: number;
    /** Open loop: requests that were due but not sent, because all connections were busy. */
    readonly unsent: number;
    /** CPU time of the load process. */
    readonly cpuSeconds: number;
  };
}

/** Milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Messages from the load process: bodies are built, warm-up is over, progress (20 times per second), end. */
export type LoadReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measuring' }
  | { readonly kind: 'progress'; readonly acknowledgedItems: number }
  | { readonly kind: 'done'; readonly result: LoadResult };

/** Messages to the load process. */
export type LoadCommand =
  { readonly kind: 'prepare'; readonly plan: LoadPlan } | { readonly kind: 'go' | 'stop' };
