import type { SecretBox } from '../../component/secret-box.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import {
  WebhookSender,
  type AttemptKind,
  type AttemptResult,
  type SenderOptions,
} from '../../delivery/senders/webhook/sender.js';
import { uuidV7Time } from '../../signal/ids.js';
import type { Micros } from '../../signal/time.js';
import type { DeliveryClaim, DeliveryQueue } from '../../storage/contracts/deliveries.js';
import type { Watch } from '../../storage/contracts/coordination.js';
import { Attempts } from './attempts.js';
import { DeliveryLoop, type LoopOptions } from './delivery-loop.js';

/** Plain data: they cross to a thread. */
export interface SendingOptions
  extends LoopOptions, Pick<SenderOptions, 'trusted' | 'timeoutMs' | 'connectTimeoutMs'> {
  /** Private networks that receivers may be in. */
  readonly allowCidrs: readonly string[];
  /** Waits after failed attempts. */
  readonly scheduleMs: readonly number[];
  /** Of Jackdaw. */
  readonly version: string;
}

/** An attempt that was made, for the metrics. Plain data. */
export interface AttemptNote {
  readonly kind: AttemptKind;
  readonly durationMs: number;
  /** From the event on, if it was the first attempt of its delivery. */
  readonly delayMs: number | null;
}

/** Events of the sender. */
export interface SendingEvents {
  readonly attempted: (attempt: AttemptNote) => void;
  /** The breaker paused these endpoints. */
  readonly paused: (endpoints: readonly string[]) => void;
  /** The store begins to fail, or works again. */
  readonly storeFailing: (isFailing: boolean) => void;
  /** Receives the number of attempts in progress or not recorded yet. */
  readonly underWay: (count: number) => void;
}

export interface SendingTools {
  readonly queue: Pick<DeliveryQueue, 'claim' | 'renew' | 'finish'>;
  readonly watch: Watch;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly clock: Clock;
  /** From 0 (inclusive) to 1, as `Math.random`. */
  readonly random: () => number;
  /** Resolves host names; by default with the system resolver. */
  readonly resolve?: SenderOptions['resolve'];
  readonly logger: Logger;
  readonly events: SendingEvents;
}

/** Makes attempts: claims deliveries from the queue, signs, posts and records them. Runs in the thread that creates it. */
export class Sending {
  readonly #sender: WebhookSender;
  readonly #loop: DeliveryLoop;

  /** Begins at once. */
  constructor(options: SendingOptions, tools: SendingTools) {
    const { queue, watch, secrets, clock, random, resolve, logger, events } = tools;
    const policy = new AddressPolicy(options.allowCidrs);
    const { trusted, timeoutMs, connectTimeoutMs, scheduleMs, version } = options;
    const sender = new WebhookSender({ policy, trusted, timeoutMs, connectTimeoutMs, clock, resolve });
    const onAttempt = (claim: DeliveryClaim, startedAt: Micros, result: AttemptResult): void => {
      events.attempted(noteOf(claim, startedAt, result));
    };
    const attempts = new Attempts({
      ...{ sender, policy, secrets, scheduleMs, version, clock, random, logger, onAttempt },
    });
    this.#sender = sender;
    this.#loop = new DeliveryLoop({
      queue,
      watch: (listener) => watch.watch('deliveries', listener),
      options,
      attempt: (claim, signal) => attempts.make(claim, signal),
      clock,
      random,
      logger,
      onStore: events.storeFailing,
      onPaused: events.paused,
      onUnderWay: events.underWay,
    });
  }

  /** Says that more may be due. */
  wake(): void {
    this.#loop.wake();
  }

  /** Stops claiming and waits for attempts in progress. Aborts them at the deadline. */
  async stop(deadline: AbortSignal): Promise<void> {
    await this.#loop.stop(deadline);
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await this.#sender.close();
  }
}

function noteOf(
  { attempt, event_id }: DeliveryClaim,
  startedAt: Micros,
  { kind, durationMs }: AttemptResult,
): AttemptNote {
  const delayMs = attempt === 1 ? Math.max(0, startedAt / 1000 - uuidV7Time(event_id)) : null;
  return { kind, durationMs, delayMs };
}
