import type { CallOptions } from '../../../worker/port-client.js';
import type { Accounts, AuditLog, Logins, Organizations, Views } from '../../contracts/accounts.js';
import type { AlertRules, AlertSecrets, Notices } from '../../contracts/alerts.js';
import type { ControlPlane } from '../../contracts/control-plane.js';
import type { ControlTransfer } from '../../contracts/transfer.js';
import type { DeliveryQueue, Endpoints } from '../../contracts/deliveries.js';
import type { EventLog, FactIntake, FactNews, FactSource } from '../../contracts/events.js';
import { factPort } from '../../shared/fact-port.js';
import type { Leases, NumberedAgents, Terms, Topic, Watch, WriteBook } from '../../contracts/coordination.js';
import type { Prompts } from '../../contracts/prompts.js';
import { reviveError } from '../../contracts/errors.js';
import { TopicListeners } from '../topic-listeners.js';
import { callName, CHANGED, FACT_NEWS, METHODS, type Contract, type IntakeNotice } from './contracts.js';

type Call = <Result>(method: string, args: readonly unknown[], options?: CallOptions) => Promise<Result>;

/** A control plane whose store another thread has. */
export abstract class RemotePlane implements ControlPlane {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly organizations: Organizations;
  readonly prompts: Prompts;
  readonly endpoints: Endpoints;
  readonly deliveries: DeliveryQueue;
  readonly events: EventLog;
  readonly leases: Leases;
  readonly writes: WriteBook;
  readonly agents: NumberedAgents;
  readonly terms: Terms;
  readonly alerts: AlertRules;
  readonly notices: Notices;
  readonly views: Views;
  readonly alertSecrets: AlertSecrets;
  readonly audit: AuditLog;
  readonly transfer: ControlTransfer;
  abstract readonly directory: string | null;
  readonly #watch = new TopicListeners();
  /** By what this side calls an intake. */
  readonly #news = new Map<number, FactNews>();
  #intakes = 0;

  constructor() {
    const call: Call = (method, args, options) => this.call(method, args, options);
    this.accounts = remote('accounts', call);
    this.logins = remote('logins', call);
    this.organizations = remote('organizations', call);
    this.prompts = remote('prompts', call);
    this.endpoints = remote('endpoints', call);
    this.deliveries = remote('deliveries', call);
    this.events = remote('events', call);
    this.leases = remote('leases', call);
    this.writes = remote('writes', call);
    this.agents = remote('agents', call);
    this.terms = remote('terms', call);
    this.alerts = remote('alerts', call);
    this.notices = remote('notices', call);
    this.views = remote('views', call);
    this.alertSecrets = remote('alertSecrets', call);
    this.audit = remote('audit', call);
    this.transfer = remote('transfer', call);
  }

  get watch(): Watch {
    return this.#watch;
  }

  async identity(): Promise<string> {
    return await this.call('identity', []);
  }

  async takeFacts(source: FactSource, news: FactNews): Promise<FactIntake> {
    const intake = ++this.#intakes;
    const port = await factPort(source);
    this.#news.set(intake, news);
    await this.call('takeFacts', [intake, source.name, port], { transfer: [port] });
    return {
      stop: async () => {
        await this.call('stopFacts', [intake]);
        this.#news.delete(intake);
      },
    };
  }

  /** Calls a method in the thread that has the store. @throws what the method threw, revived */
  protected abstract call<Result>(
    method: string,
    args: readonly unknown[],
    options?: CallOptions,
  ): Promise<Result>;

  /** Has to be called with every notice of the thread. @returns whether it was one for the watchers, or about facts */
  protected heard(notice: string, value: unknown): boolean {
    if (notice === CHANGED) {
      // In the step in which the hint arrives, before the answer that follows it.
      for (const listener of this.#watch.of(value as Topic)) listener();
    } else if (notice === FACT_NEWS) this.#heardFacts(value as IntakeNotice);
    else return false;
    return true;
  }

  #heardFacts({ intake, news }: IntakeNotice): void {
    const told = this.#news.get(intake);
    if ('passedOver' in news) told?.passedOver(news.passedOver);
    else told?.failing(news.failing && reviveError(news.failing));
  }
}

/** A contract whose every method is a call. A signal that ends a wait is the last argument and crosses as a signal. */
function remote<Name extends Contract>(contract: Name, call: Call): ControlPlane[Name] {
  const methods = Object.keys(METHODS[contract]).map((method) => {
    const name = callName(contract, method);
    const calling = async (...args: readonly unknown[]): Promise<unknown> => {
      const abort = args.at(-1);
      if (!(abort instanceof AbortSignal)) return await call(name, args);
      const others = args.slice(0, -1);
      // One that has fired already makes nobody wait.
      return await call(name, others, abort.aborted ? {} : { abort });
    };
    return [method, calling] as const;
  });
  return Object.fromEntries(methods) as unknown as ControlPlane[Name];
}
