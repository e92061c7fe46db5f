/** What the run page needs of a span without its payloads. Times in milliseconds since the epoch. */
export interface RunSpan {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: SpanType;
  readonly name: string;
  readonly status: RunStatus;
  readonly start: number;
  /** Null while it runs. */
  readonly end: number | null;
  readonly model: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly tokens: number | null;
  readonly cost: number | null;
  /** False where another span tells of the same call, which counts there. */
  readonly counted: boolean;
  readonly sameAs: string | null;
  readonly error: string | null;
  /** The beginning of what it was given, for the eye and for finding repeats. */
  readonly preview: string;
  /** How long its input and its output are as JSON; null where it brought none. */
  readonly inputBytes: number | null;
  readonly outputBytes: number | null;
}

export type SpanType = 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';

export type RunStatus = 'running' | 'completed' | 'failed' | 'timed_out';

/** Whether it went wrong. */
export function hasFailed(span: Pick<RunSpan, 'status'>): boolean {
  return span.status === 'failed' || span.status === 'timed_out';
}
