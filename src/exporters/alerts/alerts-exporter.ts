import { randomUUID } from 'node:crypto';
import type { EvaluatorOptions } from '../../alerting/evaluator-options.js';
import { Evaluator } from '../../alerting/evaluator.js';
import type { Reload } from '../../component/component.js';
import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { Original } from '../../component/intake.js';
import type { Clock } from '../../component/telemetry.js';
import { durationMs } from '../../config/duration.js';
import { readVersion } from '../../config/package-version.js';
import { Mailer, type MailerOptions } from '../../delivery/senders/email/mailer.js';
import { SoleOwner } from '../../delivery/senders/sole-owner.js';
import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { generateSecret } from '../../delivery/senders/webhook/signature.js';
import { WebhookSender, type SenderOptions } from '../../delivery/senders/webhook/sender.js';
import { readTrusted } from '../../delivery/senders/webhook/trusted.js';
import type { Batch } from '../../signal/batch.js';
import { alertSecretOwner } from '../../storage/contracts/alerts.js';
import { isControlStore, type ControlStore } from '../../storage/contracts/control-store.js';
import { keepPublished, publisherName } from '../../storage/shared/publish-settings.js';
import { SoleWorker } from '../../storage/shared/sole-worker.js';
import {
  hasParts,
  isPartialTelemetryStore,
  type TelemetryStore,
} from '../../storage/contracts/telemetry-store.js';
import type { AlertingSettings } from '../../storage/contracts/coordination.js';
import { AlertMetrics } from './alert-metrics.js';
import type { Channel } from './channel.js';
import type { AlertsConfig } from './config.js';
import { EmailChannel } from './email-channel.js';
import { NotedBatches, summaryOfMetrics, summaryOfTraces, type BatchSummary } from './noted-batches.js';
import { Notifier } from './notifier.js';
import { WebhookChannel } from './webhook-channel.js';

/** The limits of one attempt to post a webhook, and of connecting for it. */
const TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5000;

/** Dependencies that tests may replace. */
export interface Surroundings {
  /** From 0 (inclusive) to 1. */
  readonly random?: () => number;
  /** Resolves webhook host names; by default with the system resolver. */
  readonly resolve?: SenderOptions['resolve'];
  /** CA certificates to verify the mail server with. */
  readonly trusted?: MailerOptions['trusted'];
}

/** Whether a store provides the stats that rules need. */
function reportsStats(
  candidate: unknown,
): candidate is Pick<TelemetryStore, 'identity' | 'stats' | 'isShared'> {
  return isPartialTelemetryStore(candidate) && hasParts(candidate, ['identity', 'stats']);
}

/** One evaluator per store: a second one would only duplicate every query. */
const ALERTS = new SoleOwner((storeId) => `The alerts of "${storeId}" are evaluated`);

/** Exporter `alerts`: see README.md. */
export class AlertsExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<AlertsConfig>;
  readonly #surroundings: Surroundings;
  readonly #metrics: AlertMetrics;
  readonly #noted = new NotedBatches();
  /** Identifies this process among those that share the store. */
  readonly #process = randomUUID();
  /** Null before the start and while another process evaluates. */
  #evaluator: Evaluator | null = null;
  /** Notes a batch. @returns a function that schedules the evaluation */
  #note = (summary: BatchSummary): (() => void) => {
    const touched = this.#noted.note(summary);
    return () => this.#evaluator?.touched(touched);
  };
  #mailer: Mailer | undefined;
  /** Cleanup steps, run in reverse order. */
  readonly #ends: ((deadline: AbortSignal) => Promise<void> | void)[] = [];

  constructor(settings: Settings<AlertsConfig>, surroundings: Surroundings = {}) {
    this.#settings = settings;
    this.#surroundings = surroundings;
    this.#metrics = new AlertMetrics(settings.meter, settings.id);
    this.inputs = {
      traces: { consume: async (batch, context) => this.#take(batch, summaryOfTraces(batch), context) },
      metrics: { consume: async (batch, context) => this.#take(batch, summaryOfMetrics(batch), context) },
    };
  }

  /** A copy sends summaries to the component on the main thread, which evaluates. */
  startCopy(original: Original): void {
    // If the main thread does not get it, the next tick finds the data.
    this.#note = (summary) => () => void original.call(summary).catch(() => undefined);
  }

  answerCopy(message: object): void {
    this.#note(message as BatchSummary)();
  }

  /** @throws Error if an extension is missing, another exporter evaluates the same store, or the CA file cannot be read */
  async start(host: Host): Promise<void> {
    const { id, config, clock, logger } = this.#settings;
    const telemetry = host.extension(config.store, reportsStats);
    const control = host.extension(config.control, isControlStore);
    this.#ends.push(ALERTS.own(telemetry, config.store, id));
    const report = reportStore(host);
    await this.#startNotifier(host, control, report('notices'));
    const source = await telemetry.identity();
    const settings = settingsOf(config);
    const published = {
      targets: { allow_cidrs: config.targets.allow_cidrs },
      alerting: settings,
      canMail: host.smtp !== null,
    };
    const { stats, isShared = false } = telemetry;
    const owner = publisherName(id, source, telemetry);
    this.#ends.push(await keepPublished(control.settings, published, { owner, clock, logger }));
    const by = { stats, source, control, settings, isShared };
    const start = async (): Promise<Evaluator> => await this.#startEvaluator(by, report('evaluation'));
    if (isShared) this.#evaluateAlone(control, source, start, report('lease'));
    else {
      const evaluator = await start();
      this.#ends.push((deadline) => evaluator.stop(deadline));
    }
  }

  /** Applies new settings of the mail server. */
  async reload({ smtp }: Reload): Promise<boolean> {
    return smtp !== null && this.#mailer?.use(smtp) === true;
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end(deadline);
  }

  /** Schedules an evaluation once all other consumers of the batch have answered: its stored part is readable then. */
  #take({ items }: Batch<unknown>, summary: BatchSummary, { answered }: ConsumeContext): Receipt {
    const touch = this.#note(summary);
    if (answered === undefined) touch();
    else void answered.then(touch);
    return { accepted: items.length, refused: [] };
  }

  async #startNotifier(
    host: Host,
    control: ControlStore,
    onStore: (isFailing: boolean) => void,
  ): Promise<void> {
    const { clock, logger, tracer } = this.#settings;
    const { random = Math.random } = this.#surroundings;
    const { notices, watch } = control;
    const webhook = await this.#openWebhooks(random, secretsOf(host, control, clock));
    const email = this.#openEmail(host, random);
    const notifier = new Notifier({
      notices,
      watch,
      channels: { email, webhook },
      clock,
      random,
      logger,
      tracer,
      onStore,
      onResult: (channel, status) => {
        this.#metrics.notified(channel, status);
      },
    });
    this.#ends.push((deadline) => notifier.stop(deadline));
  }

  async #openWebhooks(random: () => number, secretOf: (userId: string) => Promise<string>): Promise<Channel> {
    const { config, clock, logger } = this.#settings;
    const policy = new AddressPolicy(config.targets.allow_cidrs);
    const sender = new WebhookSender({
      policy,
      trusted: await readTrusted(config.targets.ca_file),
      timeoutMs: TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      clock,
      resolve: this.#surroundings.resolve,
    });
    this.#ends.push(() => sender.close());
    return new WebhookChannel({ sender, policy, secretOf, version: readVersion(), clock, random, logger });
  }

  #openEmail({ smtp }: Host, random: () => number): Channel {
    const { clock, logger } = this.#settings;
    if (smtp === null) {
      logger.info({}, 'No mail server is configured (smtp.host); notices are not sent by e-mail');
      return new EmailChannel({ mailer: null, clock, random, logger });
    }
    const mailer = (this.#mailer = new Mailer({ smtp, clock, trusted: this.#surroundings.trusted }));
    this.#ends.push(() => {
      mailer.close();
    });
    return new EmailChannel({ mailer, clock, random, logger });
  }

  /** Of the processes that share a store, one evaluates, under a lease. Writes are fenced by the time of a rule's last firing. */
  #evaluateAlone(
    { leases }: Pick<ControlStore, 'leases'>,
    source: string,
    start: () => Promise<Evaluator>,
    onStore: (isFailing: boolean) => void,
  ): void {
    const { clock, logger } = this.#settings;
    const worker = new SoleWorker({
      ...{ leases, name: `alerts of ${source}`, owner: this.#process, clock, logger },
      begin: async () => {
        const evaluator = await start();
        logger.info({}, 'This daemon now evaluates alerts');
        return {
          stop: async (deadline) => {
            this.#evaluator = null;
            await evaluator.stop(deadline);
          },
        };
      },
      ask: async (question) => {
        try {
          const answer = await question();
          onStore(false);
          return answer;
        } catch (error) {
          onStore(true);
          throw error;
        }
      },
      words: {
        does: 'evaluates alerts',
        doing: 'evaluating alerts',
        lost: 'This daemon no longer evaluates alerts',
      },
    });
    this.#ends.push((deadline) => worker.stop(deadline));
  }

  /** @throws ConsumeError `storage_unavailable`: the evaluator has not started */
  async #startEvaluator(
    by: Pick<EvaluatorOptions, 'stats' | 'source' | 'control' | 'settings' | 'isShared'>,
    onStore: (isFailing: boolean) => void,
  ): Promise<Evaluator> {
    const { config, clock, logger } = this.#settings;
    const evaluator = new Evaluator({
      ...by,
      intervalMs: durationMs(config.interval),
      clock,
      logger,
      onEvaluated: ({ rules, ms }) => {
        this.#metrics.evaluated(rules, ms / 1000);
      },
      onFired: (count) => {
        this.#metrics.fired(count);
      },
      onResolved: (count) => {
        this.#metrics.resolved(count);
      },
      onFailed: () => {
        this.#metrics.evaluationFailed();
      },
      onStore,
    });
    await evaluator.start();
    this.#evaluator = evaluator;
    return evaluator;
  }
}

/** Finds the secret that signs a user's webhooks. A missing secret is created, so that every request is signed. */
function secretsOf(
  host: Host,
  { alertSecrets, directory }: Pick<ControlStore, 'alertSecrets' | 'directory'>,
  clock: Clock,
): (userId: string) => Promise<string> {
  const box = host.secretBox(directory);
  return async (userId) => {
    const owner = alertSecretOwner(userId);
    const make = async () => ({
      sealed_secret: await box.seal(generateSecret(), owner),
      created_at: clock.now(),
    });
    const stored = (await alertSecrets.find(userId)) ?? (await alertSecrets.keep(userId, await make()));
    return await box.open(stored.sealed_secret, owner);
  };
}

function settingsOf(config: AlertsConfig): AlertingSettings {
  return {
    windowMs: durationMs(config.window),
    minSamples: config.min_samples,
    timezone: config.timezone,
  };
}

/** Operations that the exporter performs on its store. */
type Part = 'evaluation' | 'notices' | 'lease';

/** Reports the state of the store to the daemon: ok while no part of the exporter fails. */
export function reportStore(host: Host): (part: Part) => (isFailing: boolean) => void {
  const failing = new Set<Part>();
  return (part) => (isFailing) => {
    if (failing.has(part) === isFailing) return;
    if (isFailing) failing.add(part);
    else failing.delete(part);
    host.reportStatus(
      failing.size === 0
        ? { level: 'ok' }
        : {
            // The store itself reports whether it is usable.
            level: 'degraded',
            message: 'Cannot read or write the data of alerts; retrying (see log)',
          },
    );
  };
}
