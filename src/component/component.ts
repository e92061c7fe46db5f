import type { Host } from './host.js';

/**
 * Anything that the configuration names.
 *
 * Creating a component has no effect outside it. `start` is called once, after everything that it sends to has
 * started; it fails fast, and nothing is started after a failure. `shutdown` is called after everything that sends to
 * it has shut down; it finishes what was taken, under the deadline; it must be safe without a `start`, and twice.
 * After `start` a component never ends the process because of bad input.
 */
export interface Component {
  start?(host: Host): Promise<void>;
  /** @param deadline aborted when the time for shutting down is over: then give up waiting */
  shutdown?(deadline: AbortSignal): Promise<void>;
}
