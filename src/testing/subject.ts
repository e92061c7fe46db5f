import type { ConsumeErrorCode } from '../component/consume-error.js';
import type { Batch, Signal } from '../signal/batch.js';
import type { CaptureConsumer } from './capture-consumer.js';
import type { StillClock } from '../telemetry/still-clock.js';
import type { TestHost } from './test-host.js';

/** Dependencies of a component for one check. */
export interface Surroundings {
  /** Its section, as in the configuration file: a map, or YAML. */
  readonly config?: object | string;
  /** Results of `host.extension`, by id. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Called when the check is over. */
  readonly tearDown?: () => Promise<void> | void;
}

/** A running receiver, for senders. */
export interface RunningReceiver {
  /** Its routes can be called, and its announced addresses read. */
  readonly host: TestHost;
  readonly clock: StillClock;
  /** The consumers that it sends to, by signal. */
  readonly outputs: Readonly<Record<Signal, CaptureConsumer<Batch<unknown>>>>;
}

/** Inputs that the checks cannot derive. A check whose input is absent is skipped. */
export interface Subject extends Surroundings {
  /** Instead of the above: made afresh for each check, such as a folder or a server to send to. */
  readonly prepare?: () => Promise<Surroundings> | Surroundings;
  /** Surroundings in which it cannot start. */
  readonly unstartable?: Surroundings & {
    /** The expected error message. */
    readonly error: RegExp;
  };
  /** Batches with single refused items: their positions. */
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
  /** Receivers: sends one batch to the receiver and waits until it was passed on. May reject if the batch was not accepted. */
  readonly send?: (running: RunningReceiver) => Promise<unknown>;
  /** Processors: whether it may drop items that it has taken. */
  readonly drops?: boolean;
  /** Exporters that take other signals with another configuration: what they take with this one. */
  readonly signals?: readonly Signal[];
  /** Exporters: number of items that arrived at the destination since the check began. */
  readonly arrived?: (signal: Signal) => Promise<number> | number;
  /** Maximum memory that a batch of ten items may leave behind, in bytes. Default 4096. */
  readonly bytesPerBatch?: number;
  /** How long anything may take that should take moments, in milliseconds of real time. Default 20 000. */
  readonly patienceMs?: number;
  /** Makes the batches that it is given, in place of `sampleBatch`. */
  readonly sample?: (signal: Signal, count: number) => Batch<unknown>;
}

/** One check: for a test of the same name in any runner. */
export interface ConformanceCheck {
  readonly name: string;
  /** @throws Error, AssertionError if the component breaks the contract */
  readonly run: () => Promise<void>;
}
