import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldCall } from './held-call.js';
import type { PluginFaults } from './plugin-faults.js';

/** Whose code runs, and over which batch. */
interface Scope {
  readonly owner: PluginFaults;
  readonly call: HeldCall | undefined;
}

/** What a plugin began (timers, sockets, promises) goes on in its name. */
const scope = new AsyncLocalStorage<Scope | undefined>();

/** Runs a plugin's code in its name. @param call the batch that it is given with this call */
export function runAs<T>(owner: PluginFaults, work: () => T, call?: HeldCall): T {
  return scope.run({ owner, call }, work);
}

/** Runs the program's own code that a plugin called: what it begins is not the plugin's. */
export function runAsProgram<T>(work: () => T): T {
  return scope.getStore() === undefined ? work() : scope.run(undefined, work);
}

/** The batch over which the plugin's code runs that calls; undefined where it was begun by none. */
export function currentCall(): HeldCall | undefined {
  return scope.getStore()?.call;
}

/**
 * For errors that nobody caught, in the handler of the process: where a plugin's timer, socket or promise threw it, it is noted as
 * the plugin's, and the daemon goes on.
 *
 * @returns whether it was a plugin's
 */
export function blamePlugin(error: unknown): boolean {
  const running = scope.getStore();
  if (running === undefined) return false;
  scope.run(undefined, () => {
    running.owner.note('uncaught', 'threw an uncaught error (in a timer, a socket or a promise)', {
      error,
    });
  });
  return true;
}
