import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../component/telemetry.js';

/** How soon a store that is lost is known to be, and one that is back. */
const EVERY_MS = 1000;
/** A server that has not answered for so long is not there. */
const ANSWER_MS = 5000;

/**
 * Looks now and then whether a store answers.
 *
 * @param ask a small read or write, which throws what is wrong
 * @param tell is told why it does not, once, and with null when it does again
 * @returns what ends it
 */
export function watchReach(
  clock: Clock,
  ask: () => Promise<unknown>,
  tell: (trouble: string | null) => void,
): () => void {
  let isEnded = false;
  let isLost = false;
  let cancel = (): void => undefined;
  const look = async (): Promise<void> => {
    const trouble = await troubleOf(ask);
    if (isEnded) return;
    if (trouble === null ? isLost : !isLost) tell(trouble);
    isLost = trouble !== null;
    next();
  };
  const next = (): void => {
    cancel = clock.after(EVERY_MS, () => void look());
  };
  next();
  return () => {
    isEnded = true;
    cancel();
  };
}

async function troubleOf(ask: () => Promise<unknown>): Promise<string | null> {
  const over = new AbortController();
  const answered = ask().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const late = wait(ANSWER_MS, 'It does not answer.', { signal: over.signal, ref: false });
  late.catch(() => undefined);
  try {
    return await Promise.race([answered, late]);
  } finally {
    over.abort();
  }
}
