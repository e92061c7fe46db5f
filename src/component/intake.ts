import type { Signal, TelemetrySignal } from '../signal/batch.js';
import type { Receipt, Trail } from './consumer.js';
import type { Rejections } from './rejections.js';

/** `any`: every intake thread may run a copy of the component. `main`: it runs on the main thread alone. */
export type Placement = 'any' | 'main';

/** What a placement may depend on. */
export interface PlacementContext {
  readonly signal: Signal;
  /** The signals that an extension takes as columns encoded in a thread; none for an unknown one. */
  readonly encodedSignals: (extensionId: string) => readonly Signal[];
}

/** For a copy in an intake thread: the component on the main thread. */
export interface Original {
  /**
   * Calls `answerCopy` of the component on the main thread. Messages are cloned.
   *
   * @param transfer buffers in the message that are moved instead
   * @param trail of the batch in the message. The answer is then a receipt, from which the main thread responds if the thread ends.
   *   A component of placement `any` passes a batch on before it waits for anything: all calls of a request are sent at once.
   * @throws ConsumeError as thrown there; other errors lose their class
   */
  call<T>(message: object, transfer?: readonly ArrayBuffer[], trail?: Trail): Promise<T>;
  /** As `Host.rejections`. */
  readonly rejections: Pick<Rejections, 'note'>;
}

/** In an intake thread, for a receiver: the request that it processes. */
export interface RequestInThread {
  readonly trail: Trail;
  /** Sets what `respondFor` needs, in the step that passes on the last batch of the request. */
  draft(draft: object): void;
  /** Runs a later step of the work. A thread that ends during a step blames the request. */
  resume<T>(step: () => Promise<T>): Promise<T>;
}

/** The joint receipt of all exporters. */
export type Outcome = Pick<Receipt, 'refused' | 'usage'>;

/** For a component on the main thread: its copies in the intake threads. */
export interface Copies {
  /** Calls `onMessage` of each copy. Copies in later threads get what `stateForCopy` returns. */
  send(message: object): void;
  /** Whether a reload exchanges the copies: later requests go to others than those that process earlier ones. */
  readonly areExchanged: boolean;
}

/** A request for an intake thread. */
export interface IntakeTask {
  readonly signal: Signal;
  /** The sender: users take turns. */
  readonly userId: string;
  readonly keyId: string | null;
  /** Size of the body, by which users take turns. */
  readonly bytes: number;
  /** Aborted when the client disconnects: the task is then dropped, unless a thread has it. */
  readonly abort: AbortSignal;
  /** Called when a thread gets the task. Throws to refuse it. */
  readonly begin: () => void;
  /** Whether all such tasks of a user go to the same thread, because copies remember something of earlier ones. */
  readonly isPinned?: boolean;
  /** For `work` of the copy. Cloned, except for the buffers to transfer. */
  readonly message: object;
  readonly transfer: readonly ArrayBuffer[];
}

/** For a receiver on the main thread: the threads that can decode and process its requests. */
export interface IntakeThreads {
  /** Whether requests of a signal are processed in threads now; otherwise the receiver processes them itself. */
  takes(signal: Signal): boolean;
  /**
   * Calls `work` of a copy of the receiver.
   *
   * @throws HttpProblem and ConsumeError of the copy; HttpProblem 422 `too_expensive` if the task took too much time or memory;
   *   ConsumeError `overloaded` if another task of its thread did; `shutting_down`
   */
  run<T>(task: IntakeTask): Promise<T>;
}

/** A receiver that also takes the daemon's own telemetry, without a socket. */
export interface OwnTelemetryIntake {
  /** Whether a pipeline takes the signal from this receiver. */
  takesOwn(signal: TelemetrySignal): boolean;
  /**
   * Takes an OTLP request in protobuf.
   *
   * @param userId the user whose data it is
   * @returns the number of rejected items
   * @throws HttpProblem, ConsumeError
   */
  takeOwn(signal: TelemetrySignal, body: Uint8Array, userId: string): Promise<number>;
}

/** Whether a component takes the daemon's own telemetry. */
export function takesOwnTelemetry(component: object): component is OwnTelemetryIntake {
  return 'takeOwn' in component;
}
