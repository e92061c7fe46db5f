import type { Clock, Logger } from '../component/telemetry.js';
import { MICROS_PER_MS } from '../signal/time-units.js';
import { SparseLog } from '../telemetry/sparse-log.js';
import type { PublishedTerms, Terms } from './terms.js';

/** Of one that ends without a word, terms hold so long. */
const HOLD_MS = 120_000;
const RENEW_MS = 40_000;

/** Who publishes, and by what clock. */
export interface TermsPublisher {
  /** Names it in all that share the store: after a restart as before. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Publishes terms and keeps them published.
 *
 * @returns what withdraws them
 * @throws ConsumeError `storage_unavailable` where they could not be published to begin with
 */
export async function keepPublished(
  terms: Terms,
  published: PublishedTerms,
  { owner, clock, logger }: TermsPublisher,
): Promise<() => Promise<void>> {
  const faults = new SparseLog(logger, clock);
  const publish = (): Promise<void> => terms.publish(owner, published, clock.now() + HOLD_MS * MICROS_PER_MS);
  await publish();
  let underWay: Promise<void> = Promise.resolve();
  let cancel: () => void = () => undefined;
  const renewLater = (): void => {
    cancel = clock.after(RENEW_MS, () => {
      renewLater();
      underWay = publish().catch((error: unknown) => {
        faults.warn(
          1,
          { err: error },
          'What this process holds to could not be told to others; it is tried again',
        );
      });
    });
  };
  renewLater();
  return async () => {
    cancel();
    await underWay;
    await terms.withdraw(owner).catch((error: unknown) => {
      logger.warn(
        { err: error },
        'What this process held to could not be withdrawn: others go by it for two minutes',
      );
    });
  };
}
