import type { Micros } from '../../../signal/time.js';
import type { Lease, Leases, WriteIntentLog } from '../../contracts/coordination.js';
import type { Reads } from '../client/reads.js';
import type { RunQueue } from './run-queue.js';
import type { WantedTrace } from './stored-facts.js';
import type { RunWrites } from './write-runs.js';

/** Maximum number of writes taken over, or of runs timed out, per step; and of such steps per call. */
const TAKEN_AT_ONCE = 10;
const TIMED_OUT_AT_ONCE = 1000;
const TIME_OUT_STEPS = 20;
/** Retention of ended writes: longer than any concurrent write takes. */
const REMEMBERED_MS = 3_600_000;
/** The same as in the embedded store. */
const NAMES_REMEMBERED_MS = 86_400_000;
const MOST_NAMES_OF_USER = 100_000;

export interface UpkeepParts {
  readonly reads: Reads;
  readonly book: Pick<WriteIntentLog, 'begin' | 'finish' | 'takeOver' | 'forgetEnded' | 'forgetBatches'>;
  readonly leases: Leases;
  readonly queue: Pick<RunQueue, 'write'>;
  readonly writes: Pick<RunWrites, 'finishTaken'>;
  /** The identity of the store. */
  readonly store: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** Receives the runs that were idle. */
  readonly ended: (runs: readonly WantedTrace[]) => Promise<void>;
}

/**
 * Finishes the writes of dead processes, oldest first.
 *
 * @returns how many writes were finished
 * @throws ConsumeError if a write cannot be finished now; it is taken over again when its lease expires
 */
export async function finishLeftWrites({
  book,
  writes,
  store,
  owner,
  leaseMs,
}: UpkeepParts): Promise<number> {
  let finished = 0;
  for (;;) {
    const taken = await book.takeOver(store, owner, leaseMs, TAKEN_AT_ONCE);
    for (const write of taken) {
      await writes.finishTaken(write);
      finished++;
    }
    if (taken.length < TAKEN_AT_ONCE) return finished;
  }
}

/** Deletes writes that ended long ago, under a lease of the control store. */
export async function forgetEndedWrites(parts: UpkeepParts): Promise<void> {
  await alone(parts, 'forget', async () => {
    await parts.book.forgetEnded(parts.store, REMEMBERED_MS);
  });
}

/** Deletes old batch names, under a lease. Reads all of them, so call it rarely. */
export async function forgetOldNames(parts: UpkeepParts): Promise<void> {
  await alone(parts, 'names', async () => {
    await parts.book.forgetBatches(parts.store, NAMES_REMEMBERED_MS, MOST_NAMES_OF_USER);
  });
}

/**
 * Ends idle runs (`timedOut`), in one process under a lease. Later spans reopen them.
 *
 * @returns how many
 */
export async function timeOutIdleRuns(parts: UpkeepParts, now: Micros): Promise<number> {
  let ended = 0;
  await alone(parts, 'idle', async () => {
    for (let step = 0; step < TIME_OUT_STEPS; step++) {
      const rows = await parts.reads.rows(
        `SELECT tenant, trace_id FROM runs FINAL WHERE times_out_at <= ${now} LIMIT ${TIMED_OUT_AT_ONCE}`,
      );
      const runs = rows.map((row) => ({ tenant: Number(row.tenant), traceId: String(row.trace_id) }));
      await Promise.all(
        runs.map(async (run) => {
          await parts.queue.write({ kind: 'message', ...run, at: now, message: { kind: 'timeout' } });
        }),
      );
      await parts.ended(runs);
      ended += rows.length;
      if (rows.length < TIMED_OUT_AT_ONCE) return;
    }
  });
  return ended;
}

/** Runs work under a lease; does nothing if another process holds it. */
async function alone(
  { leases, store, owner, leaseMs }: UpkeepParts,
  work: string,
  does: (lease: Lease) => Promise<void>,
): Promise<void> {
  const lease = await leases.take(`clickhouse/${store}/${work}`, owner, leaseMs);
  if (lease === null) return;
  try {
    await does(lease);
  } finally {
    await leases.release(lease);
  }
}
