import type { Settings } from '../../../component/factory.js';

/**
 * Does something now and again and again. A failure is logged and waits for the next turn.
 *
 * @param everyMs from the end of one turn to the beginning of the next
 * @returns a function that ends it; a turn under way goes on
 */
export function repeat(
  { clock, logger }: Pick<Settings<unknown>, 'clock' | 'logger'>,
  everyMs: number,
  work: () => Promise<void>,
): () => void {
  let cancel = (): void => undefined;
  let hasEnded = false;
  const turn = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!hasEnded) logger.warn({ err: error }, 'A recurring task of the store failed.');
    }
    if (!hasEnded) cancel = clock.after(everyMs, () => void turn());
  };
  void turn();
  return () => {
    hasEnded = true;
    cancel();
  };
}
