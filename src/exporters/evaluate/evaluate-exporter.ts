import { join } from 'node:path';
import { endpointOfQuery } from '../../api/support/api.js';
import { generalRule } from '../../api/support/prices.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import {
  notConnected,
  type Exporter,
  type ExporterFactory,
  type Outputs,
  type PassOn,
  type Settings,
} from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { readPem } from '../../config/client-tls.js';
import { deliveryOptions } from '../../delivery/queue/config.js';
import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { attemptTimes } from '../../delivery/senders/webhook/attempt-times.js';
import { WebhookSender } from '../../delivery/senders/webhook/sender.js';
import { resourcesOfTargets } from '../../delivery/senders/webhook/targets.js';
import { readTrusted } from '../../delivery/senders/webhook/trusted.js';
import { EvaluationFailures } from '../../expressions/failures.js';
import type { EventsBatch } from '../../signal/batch.js';
import { NANOS } from '../../signal/money.js';
import { isControlStore } from '../../storage/contracts/control-store.js';
import { END_TYPES, subjectOf } from '../../storage/contracts/events.js';
import {
  hasParts,
  isPartialTelemetryStore,
  type TelemetryStore,
} from '../../storage/contracts/telemetry-store.js';
import {
  checkEvaluate,
  evaluateConfig,
  pipelinesOf,
  type EvaluateConfig,
  type JudgeConfig,
} from './config.js';
import { Evaluations } from './evaluations.js';
import { Evaluator, isRunEvaluator } from './evaluator.js';
import { Judge, MAX_ANSWER_BYTES } from './judge.js';
import { serveEvaluations } from './route.js';
import { Spending } from './spending.js';

export const evaluateExporter: ExporterFactory<typeof evaluateConfig> = {
  kind: 'exporter',
  type: 'evaluate',
  description: 'Scores runs that have ended, by expressions, a model as judge, or plugins.',
  stability: 'alpha',
  signals: ['events'],
  createdSignals: ['logs', 'traces'],
  configSchema: evaluateConfig,
  delivery: 'queued',
  // One run per batch, so that each is retried separately.
  deliveryConfig: (config) => ({
    ...config,
    queue: { ...config.queue, batch: { ...config.queue.batch, max_items: 1 } },
  }),
  check: checkEvaluate,
  resources: ({ targets, judge }) => [
    ...resourcesOfTargets(targets),
    ...[judge?.tls?.cert_file, judge?.tls?.key_file]
      .filter((path) => path !== undefined)
      .map((path) => ({ kind: 'readable_file' as const, path })),
  ],
  pipelines: ({ pipelines }) => pipelines.map((name, at) => ({ name, path: ['pipelines', String(at)] })),
  create: (settings) => new EvaluateExporter(settings),
};

/** Whether a store has runs. */
function holdsRuns(candidate: unknown): candidate is Pick<TelemetryStore, 'runs'> {
  return isPartialTelemetryStore(candidate) && hasParts(candidate, ['runs']);
}

/** Exporter `evaluate`: see README.md. */
class EvaluateExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #passOn: PassOn;
  readonly #settings: Settings<EvaluateConfig>;
  readonly #evaluators: readonly Evaluator[];
  #evaluations: Evaluations | undefined;
  #transport: WebhookSender | undefined;
  readonly #ends: (() => void)[] = [];

  constructor({
    passOn = notConnected,
    ...settings
  }: Settings<EvaluateConfig> & { readonly passOn?: PassOn }) {
    this.#settings = settings;
    this.#passOn = passOn;
    const failures = new EvaluationFailures(settings, 'exporter');
    const evaluators = settings.config.evaluators.map(
      (config) =>
        new Evaluator(config, (key, error) => {
          failures.count(`${config.name}.${key}`, error);
        }),
    );
    // Expressions do not wait for a judge, and nothing waits for a plugin, which may never answer.
    const rank = ({ config: { judge, extension } }: Evaluator) =>
      judge !== undefined ? 1 : extension !== undefined ? 2 : 0;
    this.#evaluators = evaluators.sort((a, b) => rank(a) - rank(b));
    this.inputs = { events: { consume: (batch, context) => this.#take(batch, context) } };
  }

  /** @throws Error if an extension is missing, or a file cannot be used */
  async start(host: Host): Promise<void> {
    const { id, config, clock, logger, meter } = this.#settings;
    const { evaluators, store, control, judge } = config;
    const { runs } = host.extension(store, holdsRuns);
    const usesPrompts = evaluators.some((one) => one.judge?.stored_prompt !== undefined);
    const named = evaluators.flatMap(({ extension }) => extension ?? []);
    this.#evaluations = new Evaluations({
      exporter: id,
      evaluators: this.#evaluators,
      runs,
      passOn: this.#passOn,
      pipelines: { logs: pipelinesOf(config, 'logs'), traces: pipelinesOf(config, 'traces') },
      judge: judge === undefined ? null : await this.#openJudge(host, judge),
      maxVariableLength: judge?.max_variable_length ?? 0,
      prompts: usesPrompts ? host.extension(control, isControlStore).promptLabels : null,
      extensions: new Map(named.map((one) => [one, host.extension(one, isRunEvaluator)])),
      timeoutMs: deliveryOptions(config).timeoutMs,
      clock,
      logger,
      meter,
    });
    const endpoint = endpointOfQuery(host);
    if (endpoint !== null) this.#ends.push(serveEvaluations(host, endpoint, id, this.#evaluations));
  }

  async shutdown(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await this.#transport?.close();
    this.#transport = undefined;
    this.#evaluations = undefined;
  }

  async #openJudge(host: Host, judge: JudgeConfig): Promise<Judge> {
    const { id, config, clock, meter } = this.#settings;
    const { targets, directory, store } = config;
    const { tls, timeout } = judge;
    const [trusted, cert, key] = await Promise.all([
      readTrusted(targets.ca_file),
      readPem('judge.tls.cert_file', tls?.cert_file),
      readPem('judge.tls.key_file', tls?.key_file),
    ]);
    const transport = (this.#transport = new WebhookSender({
      policy: new AddressPolicy(targets.allow_cidrs),
      trusted,
      ...attemptTimes({ timeout }),
      maxResponseBytes: MAX_ANSWER_BYTES,
      clock,
      transport: {
        allowsPlain: true,
        cert: cert?.toString(),
        key: key?.toString(),
        serverName: tls?.server_name_override,
        skipsVerification: tls?.insecure_skip_verify,
      },
    }));
    const spending = await Spending.open(join(directory, `${encodeURIComponent(id)}.json`), clock);
    this.#ends.push(
      meter.gauge(
        'evaluate_cost_today_usd',
        { description: 'Cost of the judge on the current UTC day.', labelNames: ['exporter'] },
        () => spending.today / NANOS,
        { exporter: id },
      ),
    );
    const priceOf = (model: string) => {
      const [source] = host.prices.leadingTo(store);
      return generalRule(source?.rulesOf(model) ?? []);
    };
    return new Judge({ exporter: id, config: judge, transport, spending, priceOf, clock, meter });
  }

  /** @throws ConsumeError retryable: the store, a pipeline or the judge fails; scores that were given are sent */
  async #take({ tenant, items }: EventsBatch, { abort }: ConsumeContext): Promise<Receipt> {
    const evaluations = this.#evaluations;
    if (evaluations === undefined)
      throw new ConsumeError('the exporter was not started', { code: 'internal_error', retryable: true });
    const accepted = items.length;
    for (const { type, body } of [...items]) {
      const subject = (END_TYPES as readonly unknown[]).includes(type) ? subjectOf(type, body) : null;
      if (subject === null) continue;
      const signal = abort ?? new AbortController().signal;
      const { postponed } = await evaluations.evaluate(tenant, subject.id, {}, signal);
      if (postponed !== null) throw postponed;
    }
    return { accepted, refused: [] };
  }
}
