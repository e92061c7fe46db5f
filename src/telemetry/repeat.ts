import type { Clock, Logger } from '../component/telemetry.js';
import { MS_PER_MINUTE } from '../signal/time-units.js';
import { SparseLog } from './sparse-log.js';

/** Minimum interval between logs of a repeated failure. */
const REPEAT_MS = 10 * MS_PER_MINUTE;

/**
 * Repeats an action, first at once or after a pause. A failure is logged at most once in ten minutes; the action runs again at the
 * next turn.
 *
 * @param of.everyMs from the end of one turn to the start of the next
 * @param of.isLater whether the first turn also waits that long
 * @param of.failed the log message of a failed turn
 * @returns a function that stops the repetition; a turn in progress continues
 */
export function repeat(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  {
    everyMs,
    failed,
    isLater = false,
  }: { readonly everyMs: number; readonly failed: string; readonly isLater?: boolean },
  work: () => Promise<void>,
): () => void {
  const log = new SparseLog(logger, clock, REPEAT_MS);
  let cancel = (): void => undefined;
  let hasEnded = false;
  const turn = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!hasEnded) log.warn(0, { err: error }, failed);
    }
    if (!hasEnded) cancel = clock.after(everyMs, () => void turn());
  };
  if (isLater) cancel = clock.after(everyMs, () => void turn());
  else void turn();
  return () => {
    hasEnded = true;
    cancel();
  };
}
