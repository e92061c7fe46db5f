import { ConsumeError } from '../component/consume-error.js';
import type { Clock, Logger } from '../component/telemetry.js';
import { MICROS_PER_MS } from '../signal/time-units.js';
import { SparseLog } from '../telemetry/sparse-log.js';
import type { PublishedTerms, Terms } from './terms.js';

/** Of one that ends without a word, terms hold so long. */
const HOLD_MS = 120_000;
const RENEW_MS = 40_000;
/** Where nothing is published yet, or not any more. */
const RETRY_MS = 5000;

/** Who publishes, and by what clock. */
export interface TermsPublisher {
  /** Names it in all that share the store: after a restart as before. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Publishes terms and keeps them published; where the store does not take them now, as on a full disk, as soon as it does.
 *
 * @returns what withdraws them
 * @throws where the store will never take them
 */
export async function keepPublished(
  terms: Terms,
  published: PublishedTerms,
  { owner, clock, logger }: TermsPublisher,
): Promise<() => Promise<void>> {
  const faults = new SparseLog(logger, clock);
  let underWay: Promise<void> = Promise.resolve();
  let cancel: () => void = () => undefined;
  const publishLater = (afterMs: number): void => {
    cancel = clock.after(afterMs, () => {
      underWay = publish().catch(tellLater);
    });
  };
  const publish = async (): Promise<void> => {
    // Before it is known how it went: whoever withdraws them ends that, too.
    publishLater(RENEW_MS);
    await terms.publish(owner, published, clock.now() + HOLD_MS * MICROS_PER_MS);
  };
  let hasEnded = false;
  const tellLater = (error: unknown): void => {
    cancel();
    if (!hasEnded) publishLater(RETRY_MS);
    const message = 'The terms of this process could not be published; it is tried again';
    faults.warn(1, { err: error }, message);
  };
  try {
    await publish();
  } catch (error) {
    if (!(error instanceof ConsumeError) || !error.retryable) {
      cancel();
      throw error;
    }
    tellLater(error);
  }
  return async () => {
    hasEnded = true;
    cancel();
    await underWay;
    await terms.withdraw(owner).catch((error: unknown) => {
      logger.warn(
        { err: error },
        'The terms of this process could not be withdrawn: others go by them for two minutes',
      );
    });
  };
}
