import type { ConsumeErrorCode } from '../component/consume-error.js';
import type { Batch, Signal } from '../signal/batch.js';
import type { CaptureConsumer } from './capture-consumer.js';
import type { StillClock } from '../telemetry/still-clock.js';
import type { TestHost } from './test-host.js';

/** What a component needs around it for one check. */
export interface Surroundings {
  /** Its section, as in the configuration file: a map, or YAML. */
  readonly config?: object | string;
  /** What `host.extension` finds, by id. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Called when the check is over. */
  readonly tearDown?: () => Promise<void> | void;
}

/** A receiver that runs, for those who send to it. */
export interface RunningReceiver {
  /** Its routes can be called, and its announced addresses read. */
  readonly host: TestHost;
  readonly clock: StillClock;
  /** What it sends to, by signal. */
  readonly outputs: Readonly<Record<Signal, CaptureConsumer<Batch<unknown>>>>;
}

/** What the checks cannot know by themselves. Checks that need something absent are left out. */
export interface Subject extends Surroundings {
  /** Instead of the above: made afresh for each check, such as a folder or a server to send to. */
  readonly prepare?: () => Promise<Surroundings> | Surroundings;
  /** Surroundings in which it cannot start. */
  readonly unstartable?: Surroundings & {
    /** What its error says. */
    readonly error: RegExp;
  };
  /** Batches of which single items are refused: their positions. */
  readonly refusals?: readonly {
    readonly batch: () => Batch<unknown>;
    readonly signal: Signal;
    readonly refused: readonly number[];
  }[];
  /** Batches that it does not take at all. */
  readonly errors?: readonly {
    readonly batch: () => Batch<unknown>;
    readonly signal: Signal;
    readonly code: ConsumeErrorCode;
    readonly retryable: boolean;
  }[];
  /** Receivers: makes it receive one batch, and waits until it has passed it on. May reject where the batch was not taken. */
  readonly send?: (running: RunningReceiver) => Promise<unknown>;
  /** Processors: whether it may drop items that it has taken. */
  readonly drops?: boolean;
  /** Exporters that take other signals with another configuration: what they take with this one. */
  readonly signals?: readonly Signal[];
  /** Exporters: how many items have arrived where it sends to, since the check began. */
  readonly arrived?: (signal: Signal) => Promise<number> | number;
  /** How much memory a batch of ten items may leave behind, in bytes. Default 4096. */
  readonly bytesPerBatch?: number;
  /** How long anything may take that should take moments, in milliseconds of real time. Default 20 000. */
  readonly patienceMs?: number;
  /** Makes the batches that it is given, in place of `sampleBatch`. */
  readonly sample?: (signal: Signal, count: number) => Batch<unknown>;
}

/** One check: for a test of the same name in any runner. */
export interface ConformanceCheck {
  readonly name: string;
  /** @throws Error, AssertionError where the component breaks the contract */
  readonly run: () => Promise<void>;
}
