import { serializeSpan } from '../../../src/api/resources/trace-body.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { StoredTrace } from '../../../src/storage/contracts/runs.js';
import type { ShownPage } from '../../../src/storage/duckdb/read/run-reads.js';
import { listOf } from '../../support/read-pieces.js';

/** The JSON of a page without log records. */
export function textOf(page: ShownPage): string {
  return 'json' in page ? Buffer.from(page.json).toString('utf8') : 'rows';
}

/** A span in the API format. */
export type ShownSpan = Omit<
  SpanRecord,
  | 'metadata'
  | 'agent_hint'
  | 'map_hint'
  | 'run_kind'
  | 'context'
  | 'prompt'
  | 'call'
  | 'scores'
  | 'parent_is_remote'
  | 'started_at'
  | 'ended_at'
  | 'cost_usd'
> & {
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly cost_usd: number | null;
  readonly counted?: false;
  readonly same_as?: string;
};

/** The spans of a stored trace, from all pages. */
export async function spansOf(trace: Pick<StoredTrace, 'spans'>): Promise<ShownSpan[]> {
  return await listOf(trace.spans, serializeSpan);
}

/** An object without some of its fields. */
export function without<T extends object, K extends keyof T>(object: T, ...keys: readonly K[]): Omit<T, K> {
  const gone: ReadonlySet<unknown> = new Set(keys);
  return Object.fromEntries(Object.entries(object).filter(([key]) => !gone.has(key))) as Omit<T, K>;
}
