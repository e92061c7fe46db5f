import type { Transfer } from '../../../worker/thread-protocol.js';
import type { PastReads } from '../read/past-reads.js';
import type { AgentReads } from '../read/agent-reads.js';
import type { MapReads } from '../read/map-reads.js';
import type { SeriesReads } from '../read/series-reads.js';
import type { ModelReads } from '../read/model-reads.js';
import type { SessionReads } from '../read/session-reads.js';
import type { RunReads } from '../read/run-reads.js';
import { asker, type Asker } from '../segments/asker.js';
import type { Reads } from '../segments/read.js';
import type { StoredLogs } from './stored-logs.js';
import type { StoredMetrics } from './stored-metrics.js';
import type { StoredPrompts } from './stored-prompts.js';
import type { UsageReads } from './usage-reads.js';

/** What users read of the store, by the parts of `TelemetryPlane`: the first argument of each method says who asks. */
export interface StoreReads {
  readonly runs: RunReads;
  readonly agents: AgentReads;
  readonly models: ModelReads;
  readonly series: SeriesReads;
  readonly sessions: SessionReads;
  readonly metrics: Pick<StoredMetrics, 'list' | 'query' | 'points' | 'series' | 'labels'>;
  readonly logs: Pick<StoredLogs, 'search' | 'rest' | 'facets' | 'findTrace'>;
  readonly map: MapReads;
  readonly prompts: Pick<StoredPrompts, 'compare'>;
  readonly past: PastReads;
  readonly usage: UsageReads;
}

/** A part of {@link StoreReads}, a method of it, and what it is asked with: who reads names all three, so that the compiler holds both sides together. */
export type ReadPart = keyof StoreReads;
export type ReadMethod<Part extends ReadPart> = keyof StoreReads[Part] & string;
export type ReadArgs<
  Part extends ReadPart,
  Method extends ReadMethod<Part>,
> = StoreReads[Part][Method] extends (by: Asker, ...args: infer Args) => unknown ? Args : never;
/** As it arrives on the other side. */
export type ReadAnswer<
  Part extends ReadPart,
  Method extends ReadMethod<Part>,
> = StoreReads[Part][Method] extends (...args: never[]) => infer Answer ? Received<Awaited<Answer>> : never;
type Received<Answer> = Answer extends Transfer<infer Value> ? Value : Answer;

/** A read as it crosses. */
export interface ReadCall {
  readonly part: ReadPart;
  readonly method: string;
  readonly tenant: number;
  readonly args: readonly unknown[];
}

type Method = (by: Asker, ...args: readonly unknown[]) => unknown;

/** Answers a read. @param abort ends when the client disconnected */
export async function answerRead(
  from: StoreReads & { readonly reads: Reads },
  call: ReadCall,
  abort?: AbortSignal,
): Promise<unknown> {
  return await callRead(from, call, asker(from.reads, call.tenant, abort));
}

/** The same with other ways to the tables. */
export async function callRead(
  from: StoreReads,
  { part, method, args }: ReadCall,
  by: Asker,
): Promise<unknown> {
  const called = from[part] as unknown as Readonly<Record<string, Method>>;
  return await called[method]?.(by, ...args);
}
