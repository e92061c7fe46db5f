import type { Clock, Logger } from '../component/telemetry.js';
import { MS_PER_MINUTE } from '../signal/time-units.js';
import { SparseLog } from './sparse-log.js';

/** What fails every few seconds is logged so often. */
const SAY_MS = 10 * MS_PER_MINUTE;

/**
 * Does something at once, or after a first pause, and then again and again. A failure is logged, at most once in ten minutes, and waits for the next turn.
 *
 * @param of.everyMs from the end of one turn to the beginning of the next
 * @param of.isLater whether the first turn comes only after such a time, too
 * @param of.failed what the log says of a turn that failed
 * @returns a function that ends it; a turn under way goes on
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
  const log = new SparseLog(logger, clock, SAY_MS);
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
