import type { MessagePort } from 'node:worker_threads';

/** A control plane that other threads can be given, beside the thread that has it. */
export interface ControlConnector {
  /**
   * A port that is handed to another thread, whose `controlOver` makes a control plane of it. What that is asked does not pass through
   * this thread. It ends when the port is closed on either side.
   *
   * @throws ConsumeError `storage_unavailable`, while the store is not open
   */
  connect(): Promise<MessagePort>;
}

/** Whether a control plane can be handed to other threads. */
export function isControlConnector(candidate: unknown): candidate is ControlConnector {
  return typeof candidate === 'object' && candidate !== null && 'connect' in candidate;
}
