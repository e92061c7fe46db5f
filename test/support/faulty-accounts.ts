import type { Accounts } from '../../src/storage/contracts/accounts.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';

/** A control plane of which the test sees what is asked of the accounts, and makes them fail. */
export interface FaultyAccounts {
  readonly control: Pick<ControlStore, 'accounts' | 'logins' | 'watch' | 'directory'>;
  /** The next call of that method throws it, with nothing done. */
  readonly faults: Map<keyof Accounts, Error>;
  /** The calls of each method, as they came. */
  readonly calls: Map<keyof Accounts, readonly (readonly unknown[])[]>;
}

/** @param directory other than its own */
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
