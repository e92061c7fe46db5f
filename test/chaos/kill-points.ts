import type { Factory } from '../../src/component/factory.js';
import type { Host } from '../../src/component/host.js';
import type { ControlConnector } from '../../src/storage/contracts/control-store.js';
import type { FactConnector } from '../../src/storage/shared/outbox-port.js';
import { watchedPort, type PortWatch } from './watched-port.js';

/** Where a process dies: before or after a store method call. */
interface KillPoint {
  readonly when: 'before' | 'after';
  readonly method: string;
  /** The contract of the method in either store; absent if the call crosses a port. */
  readonly part?: string;
  /** The port of the call: from the sender thread (`ControlConnector`), or from the control thread to the store (`FactConnector`). */
  readonly port?: 'sender' | 'facts';
  /** Counts only matching calls. */
  readonly counts?: (argument: unknown, result: unknown) => boolean;
}

/** A component whose start a test may replace. */
interface Startable {
  start?: (host: Host) => Promise<void>;
}

/** The kill points between a fact and the record that its webhook arrived. */
const WEBHOOK_POINTS = {
  'the fact is committed': { when: 'after', part: 'writer', method: 'traces' },
  'the fact is on its way to the log': {
    when: 'after',
    method: 'readFacts',
    port: 'facts',
    counts: (_, page) => hasSome(page, 'facts'),
  },
  'events are read': {
    when: 'after',
    part: 'events',
    method: 'read',
    counts: (_, page) => hasSome(page, 'events'),
  },
  'deliveries are queued': { when: 'after', part: 'deliveries', method: 'enqueue' },
  'progress is to be noted': { when: 'before', part: 'events', method: 'progress' },
  'progress is noted': { when: 'after', part: 'events', method: 'progress' },
  'deliveries are claimed': {
    when: 'after',
    method: 'deliveries.claim',
    port: 'sender',
    counts: (_, result) => hasSome(result, 'claims'),
  },
  'the answer is there': { when: 'before', method: 'deliveries.finish', port: 'sender' },
  'the answer is recorded': { when: 'after', method: 'deliveries.finish', port: 'sender' },
} as const satisfies Readonly<Record<string, KillPoint>>;

/** The kill points between the evidence and the record that the alert notice arrived. */
const ALERT_POINTS = {
  'the evidence is committed': { when: 'after', part: 'writer', method: 'traces' },
  'the evidence is looked at': {
    when: 'after',
    part: 'stats',
    method: 'observe',
    counts: (_, seen) => hasSome(seen, 'targets'),
  },
  'a firing is to be written': { when: 'before', part: 'alerts', method: 'recordFirings' },
  'a firing is written': { when: 'after', part: 'alerts', method: 'recordFirings' },
  'notices are taken': {
    when: 'after',
    part: 'notices',
    method: 'claim',
    counts: (_, claimed) => hasSome(claimed, 'items'),
  },
  'a notice has gone out': { when: 'before', part: 'notices', method: 'finish' },
  'a notice is recorded': { when: 'after', part: 'notices', method: 'finish' },
} as const satisfies Readonly<Record<string, KillPoint>>;

const KILL_POINTS = { ...WEBHOOK_POINTS, ...ALERT_POINTS };
export type KillPointName = keyof typeof KILL_POINTS;

export const KILL_POINT_NAMES = Object.keys(KILL_POINTS) as readonly KillPointName[];
export const WEBHOOK_POINT_NAMES = Object.keys(WEBHOOK_POINTS) as readonly KillPointName[];
export const ALERT_POINT_NAMES = Object.keys(ALERT_POINTS) as readonly KillPointName[];

/** The same factories; the process dies at the `countdown`th time a component reaches the kill point. */
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
  const watched = (store: object): object => {
    if (point.port === undefined) return callsWatched(store, point, pass);
    return point.port === 'sender' ? senderWatched(store, point, pass) : factsWatched(store, point, pass);
  };
  const hostOf = (host: Host): Host =>
    boundProxy(
      host,
      'extension',
      (method) =>
        (...args: unknown[]) =>
          watched(method(...args) as object),
    );
  return factories.map((factory) => {
    if (factory.kind === 'processor' || (factory.kind === 'extension' && factory.type !== 'duckdb'))
      return factory;
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

/** The store with watched calls by components. */
function callsWatched(store: object, { when, part, method: name }: KillPoint, pass: Pass): object {
  const watched = (target: object): object =>
    boundProxy(target, name, (method) => async (...args: unknown[]): Promise<unknown> => {
      if (when === 'before') pass(args[0], undefined);
      const result: unknown = await method(...args);
      if (when === 'after') pass(args[0], result);
      return result;
    });
  if (part === undefined) return watched(store);
  if (!(part in store)) return store;
  return new Proxy(store, {
    get(object, property) {
      const value: unknown = Reflect.get(object, property, object);
      if (property === part) return watched(value as object);
      return typeof value === 'function' ? (value.bind(object) as unknown) : value;
    },
  });
}

/** The control store with watched calls by the sender thread, on the request or on the response. */
function senderWatched(store: object, point: KillPoint, pass: Pass): object {
  return boundProxy(store, 'connect', (method) => async (...args: unknown[]): Promise<unknown> => {
    const connect = method as (...args: unknown[]) => ReturnType<ControlConnector['connect']>;
    return watchedPort(await connect(...args), portWatch(point, pass));
  });
}

/** The control store with watched requests to a fact source. */
function factsWatched(store: object, point: KillPoint, pass: Pass): object {
  return boundProxy(store, 'takeFacts', (method) => async (source: unknown, ...args: unknown[]) => {
    const watched = boundProxy(source as FactConnector, 'connectFacts', (connect) => async () => {
      const port = await (connect as FactConnector['connectFacts'])();
      return watchedPort(port, portWatch(point, pass));
    });
    return await method(watched, ...args);
  });
}

function portWatch({ when, method: name }: KillPoint, pass: Pass): PortWatch {
  return {
    called: (called) => {
      if (when === 'before' && called === name) pass(undefined, undefined);
    },
    answered: (answered, value) => {
      if (when === 'after' && answered === name) pass(undefined, value);
    },
    noticed: () => undefined,
  };
}

/** The object with one method replaced. Its other methods keep access to private fields. */
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
