import type { Accounts } from '../../src/storage/contracts/accounts.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';

/** A control store that records the calls to accounts and can make them fail. */
export interface FaultyAccounts {
  readonly control: Pick<ControlStore, 'accounts' | 'logins' | 'watch' | 'directory'>;
  /** Thrown by the next call of that method, without changes. */
  readonly faults: Map<keyof Accounts, Error>;
  /** The calls of each method in order. */
  readonly calls: Map<keyof Accounts, readonly (readonly unknown[])[]>;
}

/** @param directory to use instead of its own */
export function faultyAccounts(control: ControlStore, directory = control.directory): FaultyAccounts {
  const faults: FaultyAccounts['faults'] = new Map();
  const calls: FaultyAccounts['calls'] = new Map();
  const accounts = new Proxy(control.accounts, {
    get:
      (target, name: keyof Accounts) =>
      async (...args: unknown[]): Promise<unknown> => {
        calls.set(name, [...(calls.get(name) ?? []), args]);
        const fault = faults.get(name);
        faults.delete(name);
        if (fault) throw fault;
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return await method.apply(target, args);
      },
  });
  return { control: { accounts, logins: control.logins, watch: control.watch, directory }, faults, calls };
}
