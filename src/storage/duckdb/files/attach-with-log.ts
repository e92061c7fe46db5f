import { open } from 'node:fs/promises';
import { isNoRoom } from './disk-room.js';
import { examineLog, tornCommit } from './log-damage.js';
import { isLocked, StoreOpenError } from './store-open-error.js';

interface Attaching {
  readonly attach: () => Promise<void>;
  /** Runs `work` on the log while no other process can open the file; throws if one has it open. Absent if none can have it. */
  readonly whenOurs?: (work: () => Promise<void>) => Promise<void>;
  /** Called when a log was cut off, with the length that is left. */
  readonly cut: (log: string, bytes: number) => void;
}

/** The log message after a cut. */
export const CUT_MESSAGE =
  'Removed an incomplete commit that a crash left in this log. It was never acknowledged.';

/**
 * Attaches a file after examining its log (see `log-damage.ts`): a log torn by a crash is cut after its last commit; a log from
 * which DuckDB would silently drop commits is refused and left unchanged. DuckDB itself cuts a log only if it ends in the middle
 * of an entry, and does not sync the cut: after a second crash the file could hold parts of both.
 *
 * @throws StoreOpenError for a damaged log, and whatever `attach` throws
 */
export async function attachWithLog(path: string, { attach, whenOurs, cut }: Attaching): Promise<void> {
  const log = `${path}.wal`;
  const mend = async (work: () => Promise<void>): Promise<void> => {
    await (whenOurs === undefined ? work() : whenOurs(work));
  };
  const cutAt = async (end: number): Promise<void> => {
    await truncate(log, end);
    cut(log, end);
  };
  if (examineLog(log).kind !== 'readable') {
    await mend(async () => {
      // Another process that has the file may be writing to it.
      const state = examineLog(log);
      if (state.kind === 'damaged') throw damagedLog(log, state);
      if (state.kind === 'torn') await cutAt(state.end);
    });
  }
  try {
    await attach();
  } catch (error) {
    if (isLocked(error) || isNoRoom(error)) throw error;
    await mend(async () => {
      const end = tornCommit(log);
      if (end === null) throw error;
      await cutAt(end);
    });
    await attach();
  }
}

async function truncate(log: string, bytes: number): Promise<void> {
  const file = await open(log, 'r+');
  try {
    await file.truncate(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

function damagedLog(log: string, { at, end }: { readonly at: number; readonly end: number }): StoreOpenError {
  return new StoreOpenError(
    `The log ${log} is damaged at byte ${at}, and later commits would be lost. Restore an intact copy; to continue without those commits, truncate the log (truncate -s ${end} ${log}).`,
    { cause: new Error(`the log is damaged at byte ${at}`) },
  );
}
