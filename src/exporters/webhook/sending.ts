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

/** Plain data, so that it can be sent to a thread. */
export interface SendingOptions
  extends LoopOptions, Pick<SenderOptions, 'trusted' | 'timeoutMs' | 'connectTimeoutMs'> {
  /** Private networks that receivers may be in. */
  readonly allowCidrs: readonly string[];
  /** Waits after failed attempts. */
  readonly scheduleMs: readonly number[];
  /** Version of Jackdaw. */
  readonly version: string;
}

/** A finished attempt, for metrics and traces. Plain data. */
export interface AttemptNote {
  readonly kind: AttemptKind;
  readonly eventType: string;
  /** Null without a response. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** Time since the event, for the first attempt of a delivery; else null. */
  readonly delayMs: number | null;
}

/** Events of the sender. */
export interface SendingEvents {
  readonly attempted: (attempt: AttemptNote) => void;
  /** Called with the endpoints that the breaker paused. */
  readonly paused: (endpoints: readonly string[]) => void;
  /** Called when the store begins to fail, and when it works again. */
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

/** The sender: claims deliveries, signs and posts them, and records the results. It runs in the thread that creates it. */
export class Sending {
  readonly #sender: WebhookSender;
  readonly #loop: DeliveryLoop;

  /** Starts immediately. */
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

  /** Called when more deliveries may be due. */
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
  { attempt, event_id, event_type: eventType }: DeliveryClaim,
  startedAt: Micros,
  { kind, statusCode, durationMs }: AttemptResult,
): AttemptNote {
  const delayMs = attempt === 1 ? Math.max(0, startedAt / 1000 - uuidV7Time(event_id)) : null;
  return { kind, eventType, statusCode, durationMs, delayMs };
}
