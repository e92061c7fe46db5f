import type { Accounts, AuditLog, Logins, Organizations, Views } from './accounts.js';
import type { AlertRules, AlertSecrets, Notices } from './alerts.js';
import type { ControlTransfer } from './transfer.js';
import type { DeliveryQueue, Endpoints } from './deliveries.js';
import type { EventLog, FactIntake, FactNews, FactSource } from './events.js';
import type { Leases, NumberedAgents, Terms, Watch, WriteBook } from './coordination.js';
import type { Prompts } from './prompts.js';
import type { MessagePort } from 'node:worker_threads';

/**
 * The control plane: small data that is changed in place and needs transactions. Each part is a contract of its own, with a suite
 * in `test/conformance/`.
 */
export interface ControlPlane {
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
  readonly watch: Watch;
  /**
   * A UUID that the store was given when it was made, and keeps. Whoever stores numbers of this store (tenants, prompts) notes
   * it, so as not to read them as those of another store.
   *
   * @throws ConsumeError `storage_unavailable` (retryable)
   */
  identity(): Promise<string>;
  /**
   * Brings the facts of a source into {@link events}, earlier ones too, each once and in their order, until it is stopped. Whatever
   * fails is tried again, without end. Only one may take a source at a time.
   */
  takeFacts(source: FactSource, news: FactNews): Promise<FactIntake>;
  /**
   * The folder of its files, where a first key and a key of secrets may be made; null where it has none: then both have to be
   * configured.
   */
  readonly directory: string | null;
}

/** Finds a control plane among extensions. */
export function isControlPlane(candidate: unknown): candidate is ControlPlane {
  return typeof candidate === 'object' && candidate !== null && 'accounts' in candidate;
}

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
