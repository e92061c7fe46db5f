import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../component/telemetry.js';

/** How soon the loss of a store, and its return, is noticed. */
const EVERY_MS = 1000;
/** A server that has not answered for so long counts as lost. */
const ANSWER_MS = 5000;

/**
 * Checks regularly whether a store answers.
 *
 * @param ask a small read or write, which throws what is wrong
 * @param tell called once with the reason why it does not answer, and with null when it does again
 * @returns a function that ends it
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
