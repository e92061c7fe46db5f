import type { Component } from '../component/component.js';
import type { Consumer } from '../component/consumer.js';
import type { Exporter, Factory, Outputs } from '../component/factory.js';
import { SIGNALS, type Batch, type Batches, type Signal } from '../signal/batch.js';
import { CaptureConsumer } from './capture-consumer.js';
import { within } from './patience.js';
import { sampleBatch } from './samples.js';
import { sectionOf } from './section-of.js';
import type { Subject, Surroundings } from './subject.js';
import { StillClock } from '../telemetry/still-clock.js';
import { TestHost } from './test-host.js';
import { TestLogger } from './test-logger.js';
import { TestMeter } from './test-meter.js';

/** A component and everything around it, for one check. */
export class Scene {
  readonly clock = new StillClock();
  readonly patienceMs: number | undefined;
  readonly logger = new TestLogger();
  readonly meter = new TestMeter();
  readonly host: TestHost;
  /** The next consumers of the component, by signal. */
  readonly behind: Readonly<Record<Signal, CaptureConsumer<Batch<unknown>>>>;
  readonly component: Component;
  /** The ways into it. */
  readonly inputs: ReadonlyMap<Signal, Consumer<Batch<unknown>>>;
  readonly #subject: Subject;
  readonly #surroundings: Surroundings;

  private constructor(factory: Factory, subject: Subject, surroundings: Surroundings, signal?: Signal) {
    this.#subject = subject;
    this.patienceMs = subject.patienceMs;
    this.#surroundings = surroundings;
    this.host = new TestHost({ extensions: surroundings.extensions ?? {} });
    this.behind = {
      traces: new CaptureConsumer(),
      metrics: new CaptureConsumer(),
      logs: new CaptureConsumer(),
      events: new CaptureConsumer(),
    };
    const { component, inputs } = this.#create(factory, sectionOf(factory, surroundings.config), signal);
    this.component = component;
    this.inputs = inputs;
  }

  /**
   * @param signal of a processor
   * @param surroundings override those of the subject
   */
  static async of(
    factory: Factory,
    subject: Subject,
    signal?: Signal,
    surroundings?: Surroundings,
  ): Promise<Scene> {
    const around = surroundings ?? (await subject.prepare?.()) ?? subject;
    return new Scene(factory, subject, around, signal);
  }

  async start(): Promise<void> {
    await within(this, 'its start', (async () => this.component.start?.(this.host))());
  }

  /** @param deadline by default a new one that never aborts */
  async stop(deadline: AbortSignal = new AbortController().signal): Promise<void> {
    await within(this, 'its shutdown', (async () => this.component.shutdown?.(deadline))());
  }

  /** Gives it a batch. */
  async consume(signal: Signal, batch: Batch<unknown>) {
    const input = this.inputs.get(signal);
    if (input === undefined) throw new Error(`it says that it takes ${signal}, and has no input for it`);
    return within(
      this,
      `consume of ${signal}`,
      (async () => input.consume(batch, { receivedAt: this.clock.now(), keyId: null }))(),
    );
  }

  sample(signal: Signal, count: number): Batch<unknown> {
    return this.#subject.sample?.(signal, count) ?? sampleBatch(signal, count);
  }

  async end(): Promise<void> {
    await this.#surroundings.tearDown?.();
  }

  #create(factory: Factory, config: Record<string, unknown>, signal: Signal | undefined) {
    const { clock, logger, meter } = this;
    const settings = { id: factory.type, config, logger, meter, clock };
    const none = new Map<Signal, Consumer<Batch<unknown>>>();
    switch (factory.kind) {
      case 'receiver': {
        const outputs = Object.fromEntries(
          factory.signals.map((one) => [one, this.behind[one]]),
        ) as unknown as Outputs;
        return { component: factory.create({ ...settings, outputs }), inputs: none };
      }
      case 'processor': {
        const wanted = signal ?? SIGNALS.find((one) => factory.create[one] !== undefined) ?? 'traces';
        const create = factory.create[wanted];
        if (create === undefined) throw new Error(`it is not for ${wanted}`);
        const next = this.behind[wanted] as unknown as Consumer<Batches[Signal]> as never;
        const component = create({ ...settings, next });
        return { component, inputs: new Map([[wanted, component]]) };
      }
      case 'exporter': {
        const component: Exporter = factory.create({
          ...settings,
          ...(factory.pipelines && {
            passOn: async (_signal, { items }, { refused }) => ({
              accepted: items.length - refused.length,
              refused,
            }),
          }),
        });
        const inputs = SIGNALS.flatMap((one) => {
          const input = component.inputs[one];
          return input === undefined ? [] : [[one, input] as const];
        });
        return { component, inputs: new Map(inputs) };
      }
      case 'extension':
        return { component: factory.create(settings), inputs: none };
    }
  }
}
