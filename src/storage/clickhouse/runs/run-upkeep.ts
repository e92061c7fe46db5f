import type { Micros } from '../../../signal/time.js';
import type { Lease, Leases, WriteIntentLog } from '../../contracts/coordination.js';
import type { Reads } from '../client/reads.js';
import type { RunQueue } from './run-queue.js';
import type { RunWrites } from './write-runs.js';

/** Writes that are taken over at a time, and runs that are timed out. */
const TAKEN_AT_ONCE = 10;
const TIMED_OUT_AT_ONCE = 1000;
/** An ended write is remembered for so long: longer than any other may take to settle. */
const REMEMBERED_MS = 3_600_000;
/** As embedded. */
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
}

/**
 * Finishes what other processes left, the oldest first.
 *
 * @returns how many writes were finished
 * @throws ConsumeError where one of them cannot be finished now: it is taken over again when its lease ends
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

/** Forgets writes that ended long ago, under a lease of the control plane. */
export async function forgetEndedWrites(parts: UpkeepParts): Promise<void> {
  await alone(parts, 'forget', async () => {
    await parts.book.forgetEnded(parts.store, REMEMBERED_MS);
  });
}

/** Forgets old names of batches, likewise. It reads them all: to be called now and then. */
export async function forgetOldNames(parts: UpkeepParts): Promise<void> {
  await alone(parts, 'names', async () => {
    await parts.book.forgetBatches(parts.store, NAMES_REMEMBERED_MS, MOST_NAMES_OF_USER);
  });
}

/**
 * Ends runs of which nothing came for their time; what comes later opens them again. One process does it, under a lease.
 *
 * @returns how many
 */
export async function timeOutIdleRuns(parts: UpkeepParts, now: Micros): Promise<number> {
  let ended = 0;
  await alone(parts, 'idle', async () => {
    const rows = await parts.reads.rows(
      `SELECT tenant, trace_id FROM runs FINAL WHERE times_out_at <= ${now} LIMIT ${TIMED_OUT_AT_ONCE}`,
    );
    await Promise.all(
      rows.map(async (row) => {
        const run = { tenant: Number(row.tenant), traceId: String(row.trace_id) };
        await parts.queue.write({ kind: 'message', ...run, at: now, message: { kind: 'timeout' } });
      }),
    );
    ended = rows.length;
  });
  return ended;
}

/** Does work that one process does at a time; nothing where another does it. */
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
