import type { Accounts } from '../../accounts.js';
import type { AlertRules } from '../../alert-rules.js';
import type { ControlPlane } from '../../control-plane.js';
import type { DeliveryQueue } from '../../delivery-queue.js';
import type { Endpoints } from '../../endpoints.js';
import type { EventLog } from '../../event-log.js';
import type { Leases } from '../../leases.js';
import type { Notices } from '../../notices.js';
import type { Organizations } from '../../organizations.js';
import type { Prompts } from '../../prompts.js';
import type { Terms } from '../../terms.js';
import type { Topic, Watch } from '../../watch.js';
import { callName, CHANGED, METHODS, type Contract } from './contracts.js';
import { RemoteWatch } from './remote-watch.js';

type Call = <Result>(method: string, args: readonly unknown[]) => Promise<Result>;

/** A control plane whose store another thread has. */
export abstract class RemotePlane implements ControlPlane {
  readonly accounts: Accounts;
  readonly organizations: Organizations;
  readonly prompts: Prompts;
  readonly endpoints: Endpoints;
  readonly deliveries: DeliveryQueue;
  readonly events: EventLog;
  readonly leases: Leases;
  readonly terms: Terms;
  readonly alerts: AlertRules;
  readonly notices: Notices;
  abstract readonly directory: string | null;
  readonly #watch = new RemoteWatch();

  constructor() {
    const call: Call = (method, args) => this.call(method, args);
    this.accounts = remote('accounts', call);
    this.organizations = remote('organizations', call);
    this.prompts = remote('prompts', call);
    this.endpoints = remote('endpoints', call);
    this.deliveries = remote('deliveries', call);
    this.events = remote('events', call);
    this.leases = remote('leases', call);
    this.terms = remote('terms', call);
    this.alerts = remote('alerts', call);
    this.notices = remote('notices', call);
  }

  get watch(): Watch {
    return this.#watch;
  }

  async identity(): Promise<string> {
    return await this.call('identity', []);
  }

  /** Calls a method in the thread that has the store. @throws what the method threw, revived */
  protected abstract call<Result>(method: string, args: readonly unknown[]): Promise<Result>;

  /** Has to be called with every notice of the thread. @returns whether it was one for the watchers */
  protected heard(notice: string, value: unknown): boolean {
    if (notice !== CHANGED) return false;
    this.#watch.tell(value as Topic);
    return true;
  }
}

/** A contract whose every method is a call. */
function remote<Name extends Contract>(contract: Name, call: Call): ControlPlane[Name] {
  const methods = Object.keys(METHODS[contract]).map((method) => {
    const name = callName(contract, method);
    return [method, async (...args: readonly unknown[]): Promise<unknown> => await call(name, args)] as const;
  });
  return Object.fromEntries(methods) as unknown as ControlPlane[Name];
}
