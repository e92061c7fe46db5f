import { ConsumeError } from '../../component/consume-error.js';
import type { Receipt, Refusal } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { durationMs } from '../../config/duration.js';
import { readVersion } from '../../config/package-version.js';
import type { DueLoop } from '../../delivery/due-loop.js';
import { SoleOwner } from '../../delivery/sole-owner.js';
import { AddressPolicy } from '../../delivery/webhook/address-policy.js';
import { WebhookSender, type AttemptResult, type SenderOptions } from '../../delivery/webhook/sender.js';
import type { EventsBatch } from '../../signal/batch.js';
import { uuidV7Time } from '../../signal/ids.js';
import type { Micros } from '../../signal/time.js';
import {
  isDeliveryStore,
  type DeliveryClaim,
  type DeliveryStore,
  type FinishedAttempt,
} from '../../storage/delivery-store.js';
import { isMetaStore, type MetaStore } from '../../storage/meta-store.js';
import { Attempts } from './attempts.js';
import type { WebhookConfig } from './config.js';
import { startDeliveryLoop, type LoopOptions } from './delivery-loop.js';
import { Upkeep } from './upkeep.js';
import { WebhookMetrics } from './webhook-metrics.js';

/** Of a body: what receivers can be expected to take. */
const MAX_BODY_BYTES = 256 * 1024;

/** What may be exchanged around the exporter. */
export interface Surroundings {
  /** From 0 (inclusive) to 1. */
  readonly random?: () => number;
  /** Finds addresses; asks the system where absent. */
  readonly resolve?: SenderOptions['resolve'];
}

type Loop = DueLoop<DeliveryClaim, FinishedAttempt>;

/** Two senders would also remove deliveries by their own retention. */
const QUEUES = new SoleOwner((storeId) => `The deliveries in "${storeId}" are sent`);

type WebhookStore = DeliveryStore & Pick<MetaStore, 'directory'>;

/** Exporter `webhook`: see README.md. */
export class WebhookExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<WebhookConfig>;
  readonly #surroundings: Surroundings;
  readonly #metrics: WebhookMetrics;
  /** What is to be let go of at the end, the last first. */
  readonly #ends: (() => Promise<void> | void)[] = [];
  #store: DeliveryStore | undefined;
  #loop: Loop | undefined;

  constructor(settings: Settings<WebhookConfig>, surroundings: Surroundings = {}) {
    this.#settings = settings;
    this.#surroundings = surroundings;
    this.#metrics = new WebhookMetrics(settings.meter, settings.id);
    this.inputs = { events: { consume: (batch) => this.#take(batch) } };
  }

  /** @throws Error where there is no such store, another exporter sends its deliveries, or the CA file cannot be used */
  async start(host: Host): Promise<void> {
    const { id, config, clock, logger } = this.#settings;
    const store = host.extension(config.store, isWebhookStore);
    this.#ends.push(QUEUES.own(store, config.store, id));
    const policy = new AddressPolicy(config.targets.allow_cidrs);
    const sender = await this.#openSender(policy);
    this.#ends.push(() => sender.close());
    this.#ends.push(store.announceTargets(config.targets.allow_cidrs));
    const random = this.#surroundings.random ?? Math.random;
    const attempts = new Attempts({
      sender,
      policy,
      secrets: host.secretBox(store.directory),
      scheduleMs: config.retry_schedule.map(durationMs),
      version: readVersion(),
      clock,
      random,
      logger,
      onAttempt: (claim, startedAt, result) => {
        this.#note(claim, startedAt, result);
      },
    });
    const loop = startDeliveryLoop({
      store,
      attempt: (claim, signal) => attempts.make(claim, signal),
      options: loopOptions(config),
      clock,
      random,
      logger,
      onStore: (isFailing) => {
        reportStore(host, isFailing);
      },
      onPaused: (endpoints) => {
        this.#metrics.paused(endpoints.length);
        logger.warn({ endpoints }, 'Paused webhook endpoints after too many failed attempts in a row');
      },
    });
    this.#watch(store, loop);
    this.#store = store;
    this.#loop = loop;
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    await this.#loop?.stop(deadline);
    this.#loop = undefined;
    this.#store = undefined;
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  async #openSender(policy: AddressPolicy): Promise<WebhookSender> {
    const { config, clock } = this.#settings;
    return await WebhookSender.open({
      policy,
      caFile: config.targets.ca_file,
      timeoutMs: durationMs(config.timeout),
      connectTimeoutMs: durationMs(config.connect_timeout),
      clock,
      resolve: this.#surroundings.resolve,
    });
  }

  #watch(store: DeliveryStore, loop: Loop): void {
    const { config, clock, logger } = this.#settings;
    const upkeep = new Upkeep({ store, retentionMs: durationMs(config.retention), clock, logger });
    this.#ends.push(() => {
      upkeep.end();
    });
    this.#ends.push(
      this.#metrics.observe(
        () => upkeep.figures,
        () => loop.underWay,
      ),
    );
  }

  /** Resolves when the deliveries are queued: from then on they survive whatever happens. */
  async #take(batch: EventsBatch): Promise<Receipt> {
    if (!this.#store)
      throw new ConsumeError('the webhook exporter is not running', {
        code: 'shutting_down',
        retryable: true,
      });
    const refused = refusalsOf(batch);
    const unsent = new Set(refused.map(({ index }) => index));
    const items = batch.items.filter((_event, index) => !unsent.has(index));
    const accepted = items.length;
    await this.#store.addDeliveries({ ...batch, items }, this.#settings.clock.now()).catch(rethrowRetryable);
    return { accepted, refused };
  }

  #note({ attempt, event_id }: DeliveryClaim, startedAt: Micros, { kind, durationMs }: AttemptResult): void {
    this.#metrics.attempted(kind, durationMs / 1000);
    if (attempt === 1) this.#metrics.firstAttempt(Math.max(0, startedAt / 1e6 - uuidV7Time(event_id) / 1e3));
  }
}

/** Events that are too large to be sent. */
function refusalsOf({ items }: EventsBatch): readonly Refusal[] {
  return items.flatMap(({ id, body }, index) => {
    const bytes = Buffer.byteLength(body);
    if (bytes <= MAX_BODY_BYTES) return [];
    return [{ index, id, reason: `/body has ${bytes} bytes; webhooks have at most ${MAX_BODY_BYTES}` }];
  });
}

/** No event is one that can never be queued: whatever is wrong with the store, it is asked again. */
function rethrowRetryable(cause: unknown): never {
  if (cause instanceof ConsumeError && cause.retryable) throw cause;
  throw new ConsumeError('The store does not queue deliveries.', {
    code: 'storage_unavailable',
    retryable: true,
    cause,
  });
}

function isWebhookStore(candidate: unknown): candidate is WebhookStore {
  return isDeliveryStore(candidate) && isMetaStore(candidate);
}

function loopOptions(config: WebhookConfig): LoopOptions {
  return {
    maxConcurrency: config.max_concurrency,
    perEndpoint: config.max_concurrency_per_endpoint,
    breakerThreshold: config.breaker_threshold,
  };
}

function reportStore(host: Host, isFailing: boolean): void {
  if (isFailing)
    host.reportStatus({
      level: 'recoverable',
      message: 'The store does not give or take deliveries; it is asked again, and the log says why',
    });
  else host.reportStatus({ level: 'ok' });
}
