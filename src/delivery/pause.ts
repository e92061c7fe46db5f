import type { Clock } from '../component/telemetry.js';

/** Waits, but not longer than until the signal fires. */
export async function pause(clock: Clock, ms: number, end: AbortSignal): Promise<void> {
  if (end.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      end.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    end.addEventListener('abort', done);
  });
}
