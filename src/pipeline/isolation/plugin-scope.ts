import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldCall } from './held-call.js';
import type { PluginFaults } from './plugin-faults.js';

/** The owner of the running code, and the batch it handles. */
interface Scope {
  readonly owner: PluginFaults;
  readonly call: HeldCall | undefined;
}

/** Attributes work that a plugin started (timers, sockets, promises) to the plugin. */
const scope = new AsyncLocalStorage<Scope | undefined>();

/**
 * Runs a plugin's code with its owner.
 *
 * @param call the batch passed with this call
 */
export function runAs<T>(owner: PluginFaults, work: () => T, call?: HeldCall): T {
  return scope.run({ owner, call }, work);
}

/** Runs the program's own code when a plugin calls it: timers and promises that it starts are not attributed to the plugin. */
export function runAsProgram<T>(work: () => T): T {
  return scope.getStore() === undefined ? work() : scope.run(undefined, work);
}

/** The batch passed with the call that started the running plugin code; undefined if missing. */
export function currentCall(): HeldCall | undefined {
  return scope.getStore()?.call;
}

/**
 * For the process's handler of uncaught errors: an error thrown by a plugin's timer, socket or promise is recorded as a fault of
 * the plugin, and the daemon continues.
 *
 * @returns whether the error is a plugin's
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
