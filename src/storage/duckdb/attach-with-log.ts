import { open } from 'node:fs/promises';
import { isNoRoom } from './disk-room.js';
import { examineLog, tornCommit } from './log-damage.js';
import { isLocked, StoreOpenError } from './store-open-error.js';

interface Attaching {
  readonly attach: () => Promise<void>;
  /** Throws where another process has the file. Is asked before anything is said of its log, or done with it. */
  readonly isOurs?: () => Promise<void>;
  /** Is told that a log was cut off, and where. */
  readonly cut: (log: string, bytes: number) => void;
}

/** What a log says of {@link Attaching.cut}. */
export const CUT_MESSAGE =
  'A crash tore the last commit in this log. Nobody was told that it was stored; it was cut off.';

/**
 * Attaches a file so that its log is read as it should be (see `log-damage.ts`): one that a crash tore is cut off behind its last commit, and one of which DuckDB would drop commits in
 * silence is refused, and left as it is. DuckDB itself cuts off only what ends in the middle of an entry, and does not sync that: a second crash could then leave something of both.
 *
 * @throws StoreOpenError for a log that is damaged so, and whatever `attach` throws
 */
export async function attachWithLog(path: string, { attach, isOurs, cut }: Attaching): Promise<void> {
  const log = `${path}.wal`;
  let state = examineLog(log);
  if (state.kind !== 'readable' && isOurs !== undefined) {
    await isOurs();
    state = examineLog(log);
  }
  if (state.kind === 'damaged') throw damagedLog(log, state);
  if (state.kind === 'torn') {
    await cutAt(log, state.end);
    cut(log, state.end);
  }
  try {
    await attach();
  } catch (error) {
    const end = isLocked(error) || isNoRoom(error) ? null : tornCommit(log);
    if (end === null) throw error;
    await cutAt(log, end);
    cut(log, end);
    await attach();
  }
}

async function cutAt(log: string, bytes: number): Promise<void> {
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
    `The log ${log} is damaged at byte ${at}, and what was stored behind that would be lost. Put a sound copy in its place; to go on without what was stored from there on, cut it off (truncate -s ${end} ${log}).`,
    { cause: new Error(`the log is damaged at byte ${at}`) },
  );
}
