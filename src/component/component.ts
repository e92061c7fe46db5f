import type { Host } from './host.js';
import type { Original, Outcome, RequestInThread } from './intake.js';
import type { SmtpSettings } from './smtp.js';

/** What may change while the configuration of a component stays the same. */
export interface Reload {
  /** The mail server. */
  readonly smtp: SmtpSettings | null;
}

/**
 * Anything that the configuration names.
 *
 * Creating a component has no side effects. `start` is called once, after everything that the component sends to has started; it fails
 * fast, and nothing is started after a failure. `shutdown` is called after everything that sends to it has shut down; it finishes
 * accepted work within the deadline, and must be safe without a `start`, and twice. After `start` a component never ends the process
 * because of bad input.
 */
export interface Component {
  start?(host: Host): Promise<void>;
  /**
   * On a reload that keeps the component, because its configuration is the same: reads certificates again. With another configuration
   * a new component replaces it.
   *
   * @returns whether anything has changed
   * @throws Error why the old ones stay
   */
  reload?(now: Reload): Promise<boolean>;
  /** @param deadline aborted when the time for shutting down is over: then give up waiting */
  shutdown?(deadline: AbortSignal): Promise<void>;
  /** For placement `any`: called in an intake thread instead of `start`. A copy is ended without `shutdown`. */
  startCopy?(original: Original): void;
  /** On the main thread: answers a call of a copy. The answer is cloned. */
  answerCopy?(message: object): unknown;
  /** On the main thread: what a new copy has to know, for its `onMessage`. */
  stateForCopy?(): object | undefined;
  /** In an intake thread: receives a message of the component on the main thread. */
  onMessage?(message: object): void;
  /** In an intake thread, for receivers: processes a request. The answer is cloned. @throws HttpProblem, ConsumeError */
  work?(message: object, request: RequestInThread): Promise<unknown>;
  /** On the main thread, for receivers: the answer of `work`, if its thread ended after it had passed on everything. */
  respondFor?(draft: object, outcome: Outcome): unknown;
}
