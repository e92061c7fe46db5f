/** A span of the run page without payload. Times in milliseconds since the epoch. */
export interface RunSpan {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: SpanType;
  readonly name: string;
  readonly status: RunStatus;
  readonly start: number;
  /** Null while running. */
  readonly end: number | null;
  readonly model: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly tokens: number | null;
  readonly cost: number | null;
  /** False if the call is counted on another span. */
  readonly counted: boolean;
  readonly sameAs: string | null;
  readonly error: string | null;
  /** The start of the input, for display and for finding repeats. */
  readonly preview: string;
  /** Payload sizes as JSON in bytes; null without a payload. */
  readonly inputBytes: number | null;
  readonly outputBytes: number | null;
}

export type SpanType = 'agent' | 'llm' | 'tool' | 'http' | 'db' | 'custom';

export type RunStatus = 'running' | 'completed' | 'failed' | 'timed_out';

/** Whether the span failed or timed out. */
export function hasFailed(span: Pick<RunSpan, 'status'>): boolean {
  return span.status === 'failed' || span.status === 'timed_out';
}
