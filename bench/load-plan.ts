/**
 * What is sent: runs to `POST /api/v1/traces/batch`, or a signal by OTLP over HTTP in protobuf. `prompts` are traces of one
 * model call each, which name a prompt version.
 */
export const LOAD_KINDS = ['batch', 'traces', 'prompts', 'metrics', 'logs'] as const;
export type LoadKind = (typeof LOAD_KINDS)[number];

/** What the load process is to do. Travels to it as JSON. An item is a span, a metric point or a log record. */
export interface LoadPlan {
  readonly kind: LoadKind;
  readonly url: string;
  /** Further daemons over the same stores: connections are shared out to all of them. */
  readonly others?: readonly string[];
  readonly key: string;
  readonly seed: string;
  /** Requests under way at the same time, each on a connection of its own. */
  readonly connections: number;
  /** Open loop: so many items are due each second, whatever the daemon does. Absent: closed loop. */
  readonly itemsPerSecond?: number;
  readonly itemsPerRequest: number;
  /** Different bodies that are sent in turn. */
  readonly templates: number;
  /** Sent, but not measured. */
  readonly warmupSeconds: number;
  /** How long is measured. Absent: until stopped, or until `items` are sent. */
  readonly seconds?: number;
  /** All that is sent, warm-up included. */
  readonly items?: number;
  /** The times of what is sent: ending now, or spread over a stretch of the past in the order of sending. */
  readonly times: 'now' | { readonly fromMs: number; readonly toMs: number };
  /** How many of the acknowledged traces are remembered, drawn evenly. */
  readonly samples: number;
}

export interface SampledTrace {
  readonly traceId: string;
  readonly spans: number;
}

/** What came of it. */
export interface LoadResult {
  /** Of the whole run, warm-up included. */
  readonly acknowledged: {
    readonly requests: number;
    readonly items: number;
    /** What the daemon counts when it is asked: traces, points or records. */
    readonly units: number;
  };
  /** Those of requests that were sent and not answered: they may be stored or not. */
  readonly unknownUnits: number;
  /** What the daemon refused although the request was accepted. */
  readonly rejected: number;
  /** Answers other than 200 by status, and failures of connections by code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly samples: readonly SampledTrace[];
  readonly bodyBytes: number;
  /** Without the warm-up. */
  readonly measured: {
    readonly seconds: number;
    readonly items: number;
    readonly latency: Latency;
    /** Longest time in which no acknowledgement at all came. */
    readonly longestSilenceMs: number;
    /** Open loop: requests that were due and could not be sent because all connections were waiting. */
    readonly unsent: number;
    /** Of the load process. */
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

/** From the load process: its bodies are ready, the warm-up is over, how far it is (several times a second), the end. */
export type LoadReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measuring' }
  | { readonly kind: 'progress'; readonly acknowledgedItems: number }
  | { readonly kind: 'done'; readonly result: LoadResult };

/** To the load process. */
export type LoadCommand =
  { readonly kind: 'prepare'; readonly plan: LoadPlan } | { readonly kind: 'go' | 'stop' };
