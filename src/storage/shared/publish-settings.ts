import { randomUUID } from 'node:crypto';
import { ConsumeError } from '../../component/consume-error.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { PublishedSettings, SettingsBoard } from '../contracts/coordination.js';

/** How long settings of a process stay valid after it stops without withdrawing them. */
const HOLD_MS = 120_000;
const RENEW_MS = 40_000;
/** Retry interval while nothing is published. */
const RETRY_MS = 5000;

/** The publisher of settings. */
export interface SettingsPublisher {
  /** Identifies the publisher among all that share the control store: {@link publisherName}. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The owner under which a component publishes settings for a telemetry store. Each process that shares the store has its own owner, so
 * that it withdraws only its own settings. For an unshared store the owner is the same after a restart, so that settings left by a killed
 * process are replaced.
 *
 * @param id of the component
 * @param store the identity of the telemetry store
 */
export function publisherName(
  id: string,
  store: string,
  { isShared = false }: { readonly isShared?: boolean },
): string {
  return isShared ? `${id} of ${store} ${randomUUID()}` : `${id} of ${store}`;
}

/**
 * Publishes settings and keeps them published; if the store cannot accept them now, for example on a full disk, publishing is retried.
 *
 * @returns a function that withdraws them
 * @throws if the store will never accept them
 */
export async function keepPublished(
  settings: SettingsBoard,
  published: PublishedSettings,
  { owner, clock, logger }: SettingsPublisher,
): Promise<() => Promise<void>> {
  const faults = new SparseLog(logger, clock);
  let underWay: Promise<void> = Promise.resolve();
  let cancel: () => void = () => undefined;
  const publishLater = (afterMs: number): void => {
    cancel = clock.after(afterMs, () => {
      underWay = publish().catch(reportLater);
    });
  };
  const publish = async (): Promise<void> => {
    // Scheduled before the result is known, so that withdrawing cancels it as well.
    publishLater(RENEW_MS);
    await settings.publish(owner, published, clock.now() + HOLD_MS * MICROS_PER_MS);
  };
  let hasEnded = false;
  const reportLater = (error: unknown): void => {
    cancel();
    if (!hasEnded) publishLater(RETRY_MS);
    const message = 'Could not publish the settings of this process; retrying';
    faults.warn(1, { err: error }, message);
  };
  try {
    await publish();
  } catch (error) {
    if (!(error instanceof ConsumeError) || !error.retryable) {
      cancel();
      throw error;
    }
    reportLater(error);
  }
  return async () => {
    hasEnded = true;
    cancel();
    await underWay;
    await settings.withdraw(owner).catch((error: unknown) => {
      logger.warn(
        { err: error },
        'Could not unpublish the settings of this process; other processes may use them for up to two minutes',
      );
    });
  };
}
