import type { SpelledError } from '../../../worker/thread-protocol.js';
import type { ControlPlane } from '../../contracts/control-plane.js';

/** The parts of a control plane whose methods cross as calls. */
export type Contract = Exclude<keyof ControlPlane, 'watch' | 'identity' | 'directory' | 'takeFacts'>;

/** The methods of a contract. All of them return a promise: no other could cross a port. */
type MethodsOf<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: never[]) => Promise<unknown> ? true : never;
};

/** Every method of every contract. A missing method, or one that is in no contract, does not compile. */
export const METHODS: { readonly [Name in Contract]: MethodsOf<ControlPlane[Name]> } = {
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
    figures: true,
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

/** The name under which a method of a contract is called. */
export function callName(contract: string, method: string): string {
  return `${contract}.${method}`;
}

/** The notice that something of a topic has changed; its value is the topic. */
export const CHANGED = 'changed';

/** The notice that a source of facts has news; its value is an {@link IntakeNotice}. */
export const FACT_NEWS = 'fact news';

/** What `FactNews` is told. */
export interface IntakeNotice {
  /** What the asker calls it. */
  readonly intake: number;
  readonly news: { readonly failing: SpelledError | null } | { readonly passedOver: number };
}
