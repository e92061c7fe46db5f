import type { MethodsOf } from '../../worker/contract-over.js';
import type { Accounts, AuditLog, Logins, Organizations, Views } from './accounts.js';
import type { AlertRules, AlertSecrets, Notices } from './alerts.js';
import type { ControlTransfer } from './transfer.js';
import type { DeliveryQueue, Endpoints } from './deliveries.js';
import type { EventLog, FactIntake, FactNews, OutboxSource } from './events.js';
import type { Leases, InternedAgents, SettingsBoard, Watch, WriteIntentLog } from './coordination.js';
import type { Prompts } from './prompts.js';
import type { MessagePort } from 'node:worker_threads';

/**
 * The control plane: small data that is changed in place and needs transactions. Each part is a contract of its own, with a suite
 * in `test/conformance/`.
 */
export interface ControlStore {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly organizations: Organizations;
  readonly prompts: Prompts;
  readonly endpoints: Endpoints;
  readonly deliveries: DeliveryQueue;
  readonly events: EventLog;
  readonly leases: Leases;
  readonly writes: WriteIntentLog;
  readonly agents: InternedAgents;
  readonly terms: SettingsBoard;
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
  takeFacts(source: OutboxSource, news: FactNews): Promise<FactIntake>;
  /**
   * The folder of its files, where a first key and a key of secrets may be made; null where it has none: then both have to be
   * configured.
   */
  readonly directory: string | null;
}

/** The contracts whose methods can cross a port as calls. */
export type ControlContract = Exclude<keyof ControlStore, 'watch' | 'identity' | 'directory' | 'takeFacts'>;
export type ControlContracts = Pick<ControlStore, ControlContract>;

/** Every method of every contract: clients and servers of other threads are made from this list. */
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
    numbersOf: true,
  },
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
    ticket: true,
    firstTickets: true,
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
  terms: { publish: true, withdraw: true, all: true },
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
    recordResolutions: true,
    beat: true,
    removeBefore: true,
  },
  notices: { claim: true, renew: true, finish: true, skip: true },
  transfer: { export: true, holds: true, reserve: true, exportBase: true, importBase: true, import: true },
};

/** Finds a control plane among extensions. */
export function isControlStore(candidate: unknown): candidate is ControlStore {
  return typeof candidate === 'object' && candidate !== null && 'accounts' in candidate;
}

/** A control plane that can be given to other threads than the one that runs it. */
export interface ControlConnector {
  /**
   * A port to be handed to another thread, whose `connectControl` makes a control plane of it. Its calls do not pass through this
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
