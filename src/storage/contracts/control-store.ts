import type { MethodsOf } from '../../worker/contract-over.js';
import type { Accounts, AuditLog, Logins, Organizations, Views } from './accounts.js';
import type { AlertRules, AlertSecrets, Notices } from './alerts.js';
import type { ControlTransfer } from './transfer.js';
import type { DeliveryQueue, Endpoints } from './deliveries.js';
import type { EventLog, FactIntake, IntakeListener, OutboxSource } from './events.js';
import type { Leases, InternedAgents, SettingsBoard, Watch, WriteIntentLog } from './coordination.js';
import type { PromptLabels } from './prompt-labels.js';
import type { Prompts } from './prompts.js';
import type { MessagePort } from 'node:worker_threads';

/**
 * The control store: small data that is updated in place and needs transactions. Each member is a separate contract, with a suite in
 * `test/conformance/`.
 */
export interface ControlStore {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly organizations: Organizations;
  readonly prompts: Prompts;
  readonly promptLabels: PromptLabels;
  readonly endpoints: Endpoints;
  readonly deliveries: DeliveryQueue;
  readonly events: EventLog;
  readonly leases: Leases;
  readonly writes: WriteIntentLog;
  readonly agents: InternedAgents;
  readonly settings: SettingsBoard;
  readonly alerts: AlertRules;
  readonly notices: Notices;
  readonly views: Views;
  readonly alertSecrets: AlertSecrets;
  readonly audit: AuditLog;
  readonly transfer: ControlTransfer;
  readonly watch: Watch;
  /**
   * A UUID assigned when the store was created. Stores that keep numbers from this store (tenants, prompts) save it to detect a
   * different store.
   *
   * @throws ConsumeError `storage_unavailable` (retryable)
   */
  identity(): Promise<string>;
  /**
   * Copies the facts of a source into {@link events}, including earlier ones, each once and in order, until stopped. Failures are
   * retried indefinitely. A source may have only one relay at a time.
   */
  takeFacts(source: OutboxSource, listener: IntakeListener): Promise<FactIntake>;
  /**
   * The directory of its files, where a first key and a key of secrets can be created; null if absent: then both must be
   * configured.
   */
  readonly directory: string | null;
}

/** The contracts whose methods can be called through a port. */
export type ControlContract = Exclude<keyof ControlStore, 'watch' | 'identity' | 'directory' | 'takeFacts'>;
export type ControlContracts = Pick<ControlStore, ControlContract>;

/** Every method of every contract: clients and servers in other threads are created from this list. */
export const CONTROL_METHODS: { readonly [Name in ControlContract]: MethodsOf<ControlStore[Name]> } = {
  accounts: {
    findUser: true,
    findTenants: true,
    storedBytes: true,
    listUsers: true,
    createUser: true,
    updateUser: true,
    findKey: true,
    listKeys: true,
    followKeys: true,
    createKey: true,
    revokeKey: true,
    touchKeys: true,
    bootstrap: true,
  },
  logins: {
    create: true,
    follow: true,
    list: true,
    end: true,
    extend: true,
    createLink: true,
    findLink: true,
    redeemLink: true,
  },
  organizations: {
    list: true,
    create: true,
    putMember: true,
    listMembers: true,
    removeMember: true,
    membershipsOf: true,
  },
  prompts: {
    create: true,
    remove: true,
    list: true,
    findNames: true,
    listVersions: true,
    findNumber: true,
    findNumbers: true,
    findDeleted: true,
    withNumbers: true,
    numbersOf: true,
  },
  promptLabels: { move: true, list: true, ofPrompt: true, history: true, find: true, follow: true },
  endpoints: {
    create: true,
    list: true,
    update: true,
    delete: true,
    rotateSecret: true,
    test: true,
    find: true,
    listAll: true,
  },
  deliveries: {
    enqueue: true,
    claim: true,
    renew: true,
    finish: true,
    retry: true,
    retrySome: true,
    list: true,
    follow: true,
    changes: true,
    read: true,
    readAttempts: true,
    removeBefore: true,
    stats: true,
  },
  events: {
    append: true,
    markOf: true,
    open: true,
    read: true,
    progress: true,
    want: true,
    wanted: true,
    wantedOf: true,
    removeBefore: true,
  },
  views: { list: true, put: true, remove: true },
  alertSecrets: { find: true, keep: true, rotate: true },
  audit: { append: true, list: true },
  leases: { take: true, renew: true, release: true },
  writes: {
    begin: true,
    renew: true,
    fence: true,
    firstFences: true,
    openWrites: true,
    finish: true,
    takeOver: true,
    forgetEnded: true,
    forgetBatches: true,
    months: true,
    days: true,
    firstDay: true,
  },
  agents: { number: true, ofTenant: true },
  settings: { publish: true, withdraw: true, all: true },
  alerts: {
    list: true,
    create: true,
    read: true,
    update: true,
    delete: true,
    listFirings: true,
    listEvents: true,
    follow: true,
    recordFirings: true,
    recordTest: true,
    recordResolutions: true,
    beat: true,
    removeBefore: true,
  },
  notices: { claim: true, renew: true, finish: true, skip: true },
  transfer: {
    export: true,
    copy: true,
    holds: true,
    reserve: true,
    exportBase: true,
    importBase: true,
    import: true,
  },
};

/** Whether an extension is a control store. */
export function isControlStore(candidate: unknown): candidate is ControlStore {
  return typeof candidate === 'object' && candidate !== null && 'accounts' in candidate;
}

/** A control store that other threads can connect to. */
export interface ControlConnector {
  /**
   * A port for another thread, whose `connectControl` creates a control client from it. Calls do not pass through this thread. The
   * connection ends when either side closes the port.
   *
   * @throws ConsumeError `storage_unavailable` while the store is not open
   */
  connect(): Promise<MessagePort>;
}

/** Whether other threads can connect to a control store. */
export function isControlConnector(candidate: unknown): candidate is ControlConnector {
  return typeof candidate === 'object' && candidate !== null && 'connect' in candidate;
}
