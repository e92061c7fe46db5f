import type { Test } from 'tap';
import type { ConsumeError } from '../../../../src/component/consume-error.js';
import type { Receipt } from '../../../../src/component/consumer.js';
import { sampleProcessor } from '../../../../src/processors/sample/factory.js';
import type { TracesBatch } from '../../../../src/signal/batch.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { metricValues } from '../../../support/engine.js';
import { processorOf, type ProcessorUnderTest } from '../../../support/processors.js';
import { StatusHost } from '../../../support/status-host.js';

const TENANT = '00000000-0000-4000-8000-0000000000aa';

type Answer = (items: readonly TraceRecord[], tenant: string) => Promise<Receipt>;

/** A tail sampler with its own directory, across restarts. */
export class TailUnderTest {
  readonly #config: string;
  readonly #answer: Answer;
  #current: ProcessorUnderTest<'traces'>;
  readonly #taken: TracesBatch[] = [];
  readonly status = new StatusHost();
  /** The last refusal. */
  refusal: ConsumeError | null = null;

  private constructor(config: string, answer: Answer) {
    this.#config = config;
    this.#answer = answer;
    this.#current = this.#made();
  }

  /** @param config in YAML flow style; the directory is added */
  static async open(
    t: Test,
    config: string,
    answer: Answer = async (items) => Promise.resolve({ accepted: items.length, refused: [] }),
    directory = `${t.testdir()}/${Math.random().toString(36).slice(2)}`,
  ): Promise<TailUnderTest> {
    const tail = new TailUnderTest(config.replace(/\}\s*$/, `, directory: '${directory}' }`), answer);
    await tail.#start();
    t.teardown(async () => tail.close());
    return tail;
  }

  get processor(): ProcessorUnderTest<'traces'>['processor'] {
    return this.#current.processor;
  }

  /** @returns false if the batch was refused */
  async send(items: readonly TraceRecord[], tenant = TENANT): Promise<boolean> {
    try {
      const batch: TracesBatch = { tenant, items: [...items] };
      await this.processor.consume(batch, { receivedAt: this.#current.settings.clock.now() });
      return true;
    } catch (error) {
      this.refusal = error as ConsumeError;
      return false;
    }
  }

  /** Advances the clock and lets pending work run. */
  async pass(ms: number): Promise<void> {
    this.#current.settings.clock.advance(ms);
    await settle();
  }

  async restart(): Promise<void> {
    const { clock } = this.#current.settings;
    await this.close();
    this.#current = this.#made();
    this.#current.settings.clock.advance((clock.now() - this.#current.settings.clock.now()) / 1000);
    await this.#start();
    // It responds once it has restored the state before the restart.
    await this.send([]);
  }

  async close(): Promise<void> {
    await this.processor.shutdown?.(new AbortController().signal);
  }

  /** Accepted downstream. */
  get taken(): readonly TraceRecord[] {
    return this.#taken.flatMap(({ items }) => items);
  }

  passedSpans(traceId: string): readonly SpanRecord[] {
    return this.taken.filter(({ trace }) => trace.trace_id === traceId).flatMap(({ spans }) => spans);
  }

  rates(traceId: string): readonly (number | null)[] {
    return this.taken.filter(({ trace }) => trace.trace_id === traceId).map(({ trace }) => trace.sample_rate);
  }

  async metrics(name: string): Promise<Record<string, number>> {
    const values = await metricValues(this.#current.settings.meter, `jackdaw_${name}`);
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== 0));
  }

  /** Value of a gauge. */
  async gauge(name: string): Promise<number> {
    return Object.values(await this.metrics(name)).reduce((sum, value) => sum + value, 0);
  }

  #made(): ProcessorUnderTest<'traces'> {
    return processorOf(sampleProcessor, 'traces', this.#config, async (batch) => {
      // The list belongs to its consumer.
      const items = [...batch.items];
      const receipt = await this.#answer(items, batch.tenant);
      this.#taken.push({ ...batch, items });
      return receipt;
    });
  }

  async #start(): Promise<void> {
    await this.processor.start?.(this.status.host);
    await settle();
  }
}

/** Writing files and forwarding batches takes many small steps. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}
