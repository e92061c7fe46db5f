import { randomUUID } from 'node:crypto';
import { ConsumeError } from '../../component/consume-error.js';
import type { Receipt, Refusal } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { attemptTimes } from '../../delivery/senders/webhook/attempt-times.js';
import { durationMs } from '../../config/duration.js';
import { readVersion } from '../../config/package-version.js';
import { SoleOwner } from '../../delivery/senders/sole-owner.js';
import { readTrusted } from '../../delivery/senders/webhook/trusted.js';
import type { EventsBatch } from '../../signal/batch.js';
import { isControlStore, type ControlStore } from '../../storage/contracts/control-store.js';
import { keepPublished } from '../../storage/shared/publish-settings.js';
import type { WebhookConfig } from './config.js';
import { limitsOf } from './delivery-loop.js';
import { LazySending, type SendingSetup, type StartSending } from './lazy-sending.js';
import type { AttemptNote, SendingEvents, SendingOptions } from './sending.js';
import { startSendingThread } from './sending-thread.js';
import { WebhookMetrics } from './webhook-metrics.js';
import type { Tracer, Clock, Logger } from '../../component/telemetry.js';
import type { DeliveryStats, DeliveryQueue } from '../../storage/contracts/deliveries.js';
import { MS_PER_HOUR } from '../../signal/time-units.js';
import { repeat } from '../../telemetry/repeat.js';

/** Maximum body that receivers can be expected to accept. */
const MAX_BODY_BYTES = 256 * 1024;

/**
 * With many endpoints, each event causes many deliveries. Between small transactions, other users of the control store, including
 * the sender, get their turn.
 */
const EVENTS_A_TRANSACTION = 100;

/** One sender per store: two would also each apply their own retention. */
const QUEUES = new SoleOwner((storeId) => `The deliveries in "${storeId}" are sent`);

/** Exporter `webhook`: see README.md. It queues events; a separate thread sends the deliveries. */
export class WebhookExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<WebhookConfig>;
  readonly #startSending: StartSending;
  readonly #metrics: WebhookMetrics;
  /** Cleanup steps, run in reverse order. */
  readonly #ends: ((deadline: AbortSignal) => Promise<void> | void)[] = [];
  #control: ControlStore | undefined;
  #underWay = 0;

  /** @param startSending starts the sender when there is something to send */
  constructor(settings: Settings<WebhookConfig>, startSending: StartSending = startSendingThread) {
    this.#settings = settings;
    this.#startSending = startSending;
    this.#metrics = new WebhookMetrics(settings.meter, settings.id);
    this.inputs = { events: { consume: (batch) => this.#take(batch) } };
  }

  /** @throws Error if the control store is missing, another exporter sends its deliveries, or the CA file cannot be read */
  async start(host: Host): Promise<void> {
    const { id, config } = this.#settings;
    const control = host.extension(config.control, isControlStore);
    this.#ends.push(QUEUES.own(control, config.control, id));
    const options = sendingOptions(config, await readTrusted(config.targets.ca_file));
    this.#ends.push(await this.#publish(control));
    const sending = this.#prepare(host, control, options);
    this.#watch(control, sending);
    this.#control = control;
    this.#ends.push(async (deadline) => {
      // Events are accepted until sending has stopped.
      await sending.stop(deadline).finally(() => {
        this.#control = undefined;
      });
    });
  }

  /** @throws Error if the sending thread ended unexpectedly; resources are released even then */
  async shutdown(deadline: AbortSignal): Promise<void> {
    const end = this.#ends.pop();
    if (end === undefined) return;
    try {
      await end(deadline);
    } finally {
      await this.shutdown(deadline);
    }
  }

  /** Publishes the networks that this process may send to, for URL checks. @returns a function that withdraws it */
  async #publish({ settings }: ControlStore): Promise<() => Promise<void>> {
    const { id, config, clock, logger } = this.#settings;
    const targets = { allow_cidrs: config.targets.allow_cidrs };
    return await keepPublished(settings, { targets }, { owner: `${id} ${randomUUID()}`, clock, logger });
  }

  #prepare(host: Host, control: ControlStore, options: SendingOptions): LazySending {
    const { logger } = this.#settings;
    const secrets = host.secretBox(control.directory);
    const failed = (message: string, error: unknown): void => {
      logger.error({ err: error }, `${message}.`);
      host.reportStatus({
        level: 'fatal',
        message: `${message}; see the log. Queued deliveries are on disk and are sent after the next start.`,
      });
    };
    const setup: SendingSetup = {
      ...{ options, control, secrets, logger, events: this.#events(host) },
      onCrash: (error) => {
        failed('The thread that sends webhooks ended', error);
      },
    };
    return new LazySending(
      () => this.#startSending(setup),
      (error) => {
        failed('The thread that sends webhooks could not be started', error);
      },
    );
  }

  #events(host: Host): SendingEvents {
    const { logger } = this.#settings;
    return {
      attempted: (attempt) => {
        this.#metrics.attempted(attempt);
        if (this.#settings.tracer !== undefined) traceAttempt(this.#settings.tracer, attempt);
      },
      paused: (endpoints) => {
        this.#metrics.paused(endpoints.length);
        logger.warn({ endpoints }, 'Paused webhook endpoints after too many consecutive failed attempts');
      },
      storeFailing: (isFailing) => {
        reportStore(host, isFailing);
      },
      underWay: (count) => {
        this.#underWay = count;
      },
    };
  }

  /** Starts the sender when deliveries are queued. From then on, the control store notifies the sender directly. */
  #watch({ deliveries: queue, watch }: ControlStore, sending: LazySending): void {
    const { config, clock, logger } = this.#settings;
    this.#ends.push(
      watch.watch('deliveries', () => {
        sending.begin();
      }),
    );
    // Called repeatedly, so that a lost hint does not delay deliveries until the next event.
    const onPending = (): void => {
      sending.wake();
    };
    const upkeep = new Upkeep({
      ...{ queue, retentionMs: durationMs(config.retention), clock, logger, onPending },
    });
    this.#ends.push(() => {
      upkeep.end();
    });
    this.#ends.push(
      this.#metrics.observe(
        () => upkeep.stats,
        () => this.#underWay,
      ),
    );
  }

  /** Resolves after the commit of the deliveries. */
  async #take(batch: EventsBatch): Promise<Receipt> {
    if (!this.#control)
      throw new ConsumeError('the webhook exporter is not running', {
        code: 'shutting_down',
        retryable: true,
      });
    const refused = refusalsOf(batch);
    const unsent = new Set(refused.map(({ index }) => index));
    const items = batch.items.filter((_event, index) => !unsent.has(index));
    const accepted = items.length;
    const { deliveries } = this.#control;
    const events = items.map((event) => ({ tenant: batch.tenant, event }));
    // If a chunk fails, the retry detects the events that were already queued.
    for (let start = 0; start < events.length; start += EVENTS_A_TRANSACTION)
      await deliveries
        .enqueue(events.slice(start, start + EVENTS_A_TRANSACTION), this.#settings.clock.now())
        .catch(rethrowRetryable);
    return { accepted, refused };
  }
}

/** Attempts are made in the sending thread. */
function traceAttempt(tracer: Tracer, { kind, eventType, statusCode, durationMs }: AttemptNote): void {
  const attributes = {
    'http.request.method': 'POST',
    'jackdaw.event.type': eventType,
    ...(statusCode !== null && { 'http.response.status_code': statusCode }),
  };
  tracer.delivered(
    { name: 'deliver webhook', kind: 'client', attributes },
    { durationMs, ...(kind !== 'success' && { error: kind }) },
  );
}

/** Events that are too large to send. */
function refusalsOf({ items }: EventsBatch): readonly Refusal[] {
  return items.flatMap(({ id, body }, index) => {
    const bytes = Buffer.byteLength(body);
    if (bytes <= MAX_BODY_BYTES) return [];
    return [{ index, id, reason: `/body has ${bytes} bytes; webhooks have at most ${MAX_BODY_BYTES}` }];
  });
}

/** Makes every store error retryable: any event can be queued eventually. */
function rethrowRetryable(cause: unknown): never {
  if (cause instanceof ConsumeError && cause.retryable) throw cause;
  throw new ConsumeError('The store cannot queue deliveries.', {
    code: 'storage_unavailable',
    retryable: true,
    cause,
  });
}

function sendingOptions(config: WebhookConfig, trusted: readonly string[]): SendingOptions {
  return {
    limits: limitsOf(config.max_concurrency, config.max_concurrency_per_endpoint),
    breakerThreshold: config.breaker_threshold,
    scheduleMs: config.retry_schedule.map(durationMs),
    ...attemptTimes(config),
    allowCidrs: config.targets.allow_cidrs,
    trusted,
    version: readVersion(),
  };
}

function reportStore(host: Host, isFailing: boolean): void {
  // The control store itself reports whether it is usable.
  if (isFailing)
    host.reportStatus({
      level: 'degraded',
      message: 'Cannot read or write deliveries; retrying (see log)',
    });
  else host.reportStatus({ level: 'ok' });
}

const RETENTION_TURN_MS = MS_PER_HOUR;
const STATS_TURN_MS = 15_000;

interface UpkeepTools {
  readonly queue: Pick<DeliveryQueue, 'removeBefore' | 'stats'>;
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the stats show pending deliveries. */
  readonly onPending: () => void;
}

/** Periodic work next to sending, first run at once: deletes old deliveries and reads stats. */
export class Upkeep {
  readonly #ends: readonly (() => void)[];
  #stats: DeliveryStats = { pending: 0, overdueMs: 0 };

  constructor(tools: UpkeepTools) {
    const { queue, retentionMs, clock, logger, onPending } = tools;
    const retention = {
      everyMs: RETENTION_TURN_MS,
      failed: 'Could not remove webhook deliveries older than retention; retrying',
    };
    const endRetention = repeat({ clock, logger }, retention, async () => {
      const removed = await queue.removeBefore(clock.now() - retentionMs * 1000);
      if (removed > 0)
        logger.info({ deliveries: removed }, 'Removed webhook deliveries older than retention');
    });
    const stats = {
      everyMs: STATS_TURN_MS,
      failed: 'Could not count pending webhook deliveries; retrying',
    };
    const endStats = repeat({ clock, logger }, stats, async () => {
      this.#stats = await queue.stats(clock.now());
      if (this.#stats.pending > 0) onPending();
    });
    this.#ends = [endRetention, endStats];
  }

  /** Stats of the last read. */
  get stats(): DeliveryStats {
    return this.#stats;
  }

  /** Stops the schedule; a run in progress continues. */
  end(): void {
    for (const end of this.#ends) end();
  }
}
