import type { Clock } from '../component/telemetry.js';

/**
 * Waits for a time, or until one of the signals is aborted.
 *
 * @param ms null: until a signal is aborted
 */
export async function pause(clock: Clock, ms: number | null, ...ends: readonly AbortSignal[]): Promise<void> {
  if (ends.some((end) => end.aborted)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      for (const end of ends) end.removeEventListener('abort', done);
      resolve();
    };
    const cancel = ms === null ? () => undefined : clock.after(ms, done);
    for (const end of ends) end.addEventListener('abort', done);
  });
}
