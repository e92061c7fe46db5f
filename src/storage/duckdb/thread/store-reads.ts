import type { Transfer } from '../../../worker/thread-protocol.js';
import type { PastReads } from '../read/past-reads.js';
import type { AgentReads } from '../read/agent-reads.js';
import type { MapReads } from '../read/map-reads.js';
import type { ScoreReads } from '../read/run-scores.js';
import type { SeriesReads } from '../read/series-reads.js';
import type { ModelReads } from '../read/model-reads.js';
import type { SessionReads } from '../read/session-reads.js';
import type { GroupReads } from '../read/run-groups.js';
import type { RunReads } from '../read/run-reads.js';
import type { ReadContext } from '../segments/read-context.js';
import type { Reads } from '../segments/read.js';
import type { StoredLogs } from './stored-logs.js';
import type { StoredMetrics } from './stored-metrics.js';
import type { StoredPrompts } from './stored-prompts.js';
import type { UsageReads } from './usage-reads.js';

/** The reads of users, by the parts of `TelemetryStore`. The first argument of each method is the read context. */
export interface StoreReads {
  readonly runs: RunReads;
  readonly agents: AgentReads;
  readonly models: ModelReads;
  readonly series: SeriesReads;
  readonly groups: GroupReads;
  readonly sessions: SessionReads;
  readonly scores: ScoreReads;
  readonly metrics: Pick<StoredMetrics, 'list' | 'query' | 'points' | 'series' | 'labels'>;
  readonly logs: Pick<StoredLogs, 'search' | 'rest' | 'facets' | 'groups' | 'findTrace'>;
  readonly map: MapReads;
  readonly prompts: Pick<StoredPrompts, 'compare'>;
  readonly past: PastReads;
  readonly usage: UsageReads;
}

/** A part of {@link StoreReads}, a method of it and its arguments. Callers name all three, so that the compiler checks both sides. */
export type ReadPart = keyof StoreReads;
export type ReadMethod<Part extends ReadPart> = keyof StoreReads[Part] & string;
export type ReadArgs<
  Part extends ReadPart,
  Method extends ReadMethod<Part>,
> = StoreReads[Part][Method] extends (by: ReadContext, ...args: infer Args) => unknown ? Args : never;
/** The answer as the caller receives it. */
export type ReadAnswer<
  Part extends ReadPart,
  Method extends ReadMethod<Part>,
> = StoreReads[Part][Method] extends (...args: never[]) => infer Answer ? Received<Awaited<Answer>> : never;
type Received<Answer> = Answer extends Transfer<infer Value> ? Value : Answer;

/** A read in the message to the store thread. */
export interface ReadCall {
  readonly part: ReadPart;
  readonly method: string;
  readonly tenant: number;
  readonly args: readonly unknown[];
}

type Method = (by: ReadContext, ...args: readonly unknown[]) => unknown;

/** The readers and the read connections. */
export interface ReadParts extends StoreReads {
  readonly reads: Reads;
}

/** Answers a read. @param abort aborted when the caller no longer needs the answer */
export async function answerRead(
  from: ReadParts,
  { part, method, tenant, args }: ReadCall,
  abort?: AbortSignal,
): Promise<unknown> {
  const reader = from[part] as unknown as Readonly<Record<string, Method | undefined>>;
  const called = reader[method];
  if (called === undefined) throw new Error(`the store has no read ${part}.${method}`);
  const [short, long] = [from.reads.forUser(tenant, false, abort), from.reads.forUser(tenant, true, abort)];
  return await called.call(reader, { tenant, short, long }, ...args);
}
