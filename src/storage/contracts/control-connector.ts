import type { MessagePort } from 'node:worker_threads';

/** A control plane that can be given to other threads than the one that runs it. */
export interface ControlConnector {
  /**
   * A port to be handed to another thread, whose `controlOver` makes a control plane of it. Its calls do not pass through this
   * thread. It ends when either side closes the port.
   *
   * @throws ConsumeError `storage_unavailable` while the store is not open
   */
  connect(): Promise<MessagePort>;
}

/** Whether a control plane can be given to other threads. */
export function isControlConnector(candidate: unknown): candidate is ControlConnector {
  return typeof candidate === 'object' && candidate !== null && 'connect' in candidate;
}
