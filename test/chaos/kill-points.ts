import type { Factory } from '../../src/component/factory.js';
import type { Host } from '../../src/component/host.js';
import type { DeliveryStore } from '../../src/storage/delivery-store.js';
import { watchedPort } from './watched-port.js';

/** Where a process ends: before or after a call of the store is done, by the name of the method. */
interface KillPoint {
  readonly when: 'before' | 'after';
  readonly method: string;
  /** Whether the thread that sends calls it, over the port of `openSender`. */
  readonly isOfSender?: true;
  /** What the store gives unasked in place of the method's answers. */
  readonly notice?: string;
  /** Only calls of which this is true count. */
  readonly counts?: (argument: unknown, result: unknown) => boolean;
}

/** A component, whose start a test may change. */
interface Startable {
  start?: (host: Host) => Promise<void>;
}

/** The moments that matter between a fact and the note that its webhook arrived. */
const WEBHOOK_POINTS = {
  'the fact is committed': { when: 'after', method: 'writeTraces' },
  'events are read': { when: 'after', method: 'readEvents', counts: (_, page) => hasSome(page, 'events') },
  'deliveries are queued': { when: 'after', method: 'addDeliveries' },
  'progress is to be noted': { when: 'before', method: 'saveEventProgress' },
  'progress is noted': { when: 'after', method: 'saveEventProgress' },
  'deliveries are claimed': {
    when: 'after',
    method: 'claimDeliveries',
    notice: 'claims',
    isOfSender: true,
    counts: (_, result) => hasSome(result, 'claims'),
  },
  'the answer is there': { when: 'before', method: 'finishDeliveries', isOfSender: true },
  'the answer is recorded': { when: 'after', method: 'finishDeliveries', isOfSender: true },
} as const satisfies Readonly<Record<string, KillPoint>>;

/** Those between the evidence and the note that what an alert says arrived. */
const ALERT_POINTS = {
  'the evidence is committed': { when: 'after', method: 'writeTraces' },
  'the evidence is looked at': {
    when: 'after',
    method: 'observe',
    counts: (_, seen) => hasSome(seen, 'targets'),
  },
  'a firing is to be written': { when: 'before', method: 'recordFirings' },
  'a firing is written': { when: 'after', method: 'recordFirings' },
  'notices are taken': {
    when: 'after',
    method: 'dueNotifications',
    counts: (_, due) => hasSome(due, 'items'),
  },
  'a notice has gone out': { when: 'before', method: 'finishNotifications' },
  'a notice is recorded': { when: 'after', method: 'finishNotifications' },
} as const satisfies Readonly<Record<string, KillPoint>>;

const KILL_POINTS = { ...WEBHOOK_POINTS, ...ALERT_POINTS };
export type KillPointName = keyof typeof KILL_POINTS;

export const KILL_POINT_NAMES = Object.keys(KILL_POINTS) as readonly KillPointName[];
export const WEBHOOK_POINT_NAMES = Object.keys(WEBHOOK_POINTS) as readonly KillPointName[];
export const ALERT_POINT_NAMES = Object.keys(ALERT_POINTS) as readonly KillPointName[];

/** The same factories; the process ends at the `countdown`th time that one of their components comes to the point. */
export function dyingAt(
  factories: readonly Factory[],
  name: KillPointName,
  countdown: number,
): readonly Factory[] {
  const point: KillPoint = KILL_POINTS[name];
  let left = countdown;
  const pass = (argument: unknown, result: unknown): void => {
    if (point.counts?.(argument, result) === false) return;
    if (--left <= 0) process.kill(process.pid, 'SIGKILL');
  };
  const watched = (store: object): object =>
    point.isOfSender === true ? senderWatched(store, point, pass) : callsWatched(store, point, pass);
  const hostOf = (host: Host): Host =>
    boundProxy(
      host,
      'extension',
      (method) =>
        (...args: unknown[]) =>
          watched(method(...args) as object),
    );
  return factories.map((factory) => {
    if (factory.kind !== 'receiver' && factory.kind !== 'exporter') return factory;
    const original: { create: (settings: never) => Startable } = factory;
    return {
      ...factory,
      create: (settings: never) => {
        const component = original.create(settings);
        const start = component.start?.bind(component);
        if (start) component.start = (host) => start(hostOf(host));
        return component;
      },
    } as Factory;
  });
}

type Pass = (argument: unknown, result: unknown) => void;

/** The store, whose calls by components pass. */
function callsWatched(store: object, { when, method: name }: KillPoint, pass: Pass): object {
  return boundProxy(store, name, (method) => async (...args: unknown[]): Promise<unknown> => {
    if (when === 'before') pass(args[0], undefined);
    const result: unknown = await method(...args);
    if (when === 'after') pass(args[0], result);
    return result;
  });
}

/** The store, whose calls by the thread that sends pass: on their way there, or the answer on its way back. */
function senderWatched(store: object, { when, method: name, notice }: KillPoint, pass: Pass): object {
  return boundProxy(store, 'openSender', (method) => async (...args: unknown[]): Promise<unknown> => {
    const open = method as (...args: unknown[]) => ReturnType<DeliveryStore['openSender']>;
    return watchedPort(await open(...args), {
      called: (called) => {
        if (when === 'before' && called === name) pass(undefined, undefined);
      },
      answered: (answered, value) => {
        if (when === 'after' && answered === name) pass(undefined, value);
      },
      noticed: (noticed, value) => {
        if (noticed === notice) pass(undefined, value);
      },
    });
  });
}

/** The object, with one of its methods replaced. Its other methods find their private fields. */
function boundProxy<Target extends object>(
  target: Target,
  name: string,
  replace: (method: (...args: unknown[]) => unknown) => unknown,
): Target {
  return new Proxy(target, {
    get(object, property) {
      const value: unknown = Reflect.get(object, property, object);
      if (typeof value !== 'function') return value;
      const method = value.bind(object) as (...args: unknown[]) => unknown;
      return property === name ? replace(method) : method;
    },
  });
}

function hasSome(page: unknown, list: string): boolean {
  return (
    typeof page === 'object' && page !== null && ((page as Record<string, unknown[]>)[list]?.length ?? 0) > 0
  );
}
