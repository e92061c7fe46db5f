import type { Test } from 'tap';
import { envelope, type EventRecord, type EventType } from '../../../src/signal/event.js';
import type { ControlStore } from '../../../src/storage/contracts/control-store.js';
import type { EventLog, EventPageLimit, EventPosition } from '../../../src/storage/contracts/events.js';
import type { Lease } from '../../../src/storage/contracts/coordination.js';
import { openControlStore } from '../../support/control-store.js';
import { HandClock } from '../../support/hand-clock.js';

/** A control store in a real file whose event log records calls and fails or waits on demand. */
export class WatchedLog {
  readonly clock: HandClock;
  /** Thrown by the next calls of that method, one each, without changes. */
  readonly faults: Record<'open' | 'read' | 'progress' | 'want' | 'take' | 'renew', Error[]> = {
    open: [],
    read: [],
    progress: [],
    want: [],
    take: [],
    renew: [],
  };
  readonly reads: { readonly after: number; readonly limit: EventPageLimit }[] = [];
  readonly notes: number[] = [];
  /** Number of registrations of event types. */
  wants = 0;
  /** Ended before the file is closed. */
  readonly ends: (() => Promise<void> | undefined)[] = [];
  readonly #control: ControlStore;
  #events = 0;
  /** Last requester of a lease. */
  #owner = '';
  #notesHeld: Promise<void> = Promise.resolve();

  private constructor(control: ControlStore, clock: HandClock) {
    this.#control = control;
    this.clock = clock;
  }

  static async open(t: Test): Promise<WatchedLog> {
    const clock = new HandClock();
    let log: WatchedLog | undefined = undefined;
    t.teardown(async () => {
      for (const end of log?.ends ?? []) await end();
    });
    log = new WatchedLog(await openControlStore(t, { clock }), clock);
    return log;
  }

  /** As the receiver sees it. */
  get control(): ControlStore {
    const { events, leases } = this.#control;
    const failing = (method: keyof WatchedLog['faults']): void => {
      const fault = this.faults[method].shift();
      if (fault !== undefined) throw fault;
    };
    const log: Pick<EventLog, 'open' | 'read' | 'progress' | 'want'> = {
      open: async (reader) => {
        failing('open');
        return await events.open(reader);
      },
      read: async (after, limit, wait) => {
        this.reads.push({ after: Number(after), limit });
        failing('read');
        return await events.read(after, limit, wait);
      },
      progress: async (reader, position, lease) => {
        this.notes.push(Number(position));
        failing('progress');
        await this.#notesHeld;
        return await events.progress(reader, position, lease);
      },
      want: async (owner, types, until) => {
        this.wants++;
        failing('want');
        await events.want(owner, types, until);
      },
    };
    return {
      accounts: this.#control.accounts,
      events: log,
      leases: {
        take: async (name: string, owner: string, ms: number) => {
          failing('take');
          this.#owner = owner;
          return await leases.take(name, owner, ms);
        },
        renew: async (lease: Lease, ms: number) => {
          failing('renew');
          return await leases.renew(lease, ms);
        },
        release: async (lease: Lease) => {
          await leases.release(lease);
        },
      },
    } as Partial<ControlStore> as ControlStore;
  }

  /** Appends one event each, with the ids `e1`, `e2` and so on. */
  async commit(
    ...events: readonly { readonly tenant?: string; readonly type?: EventType; readonly at?: number }[]
  ): Promise<readonly EventRecord[]> {
    const facts = events.map(({ tenant = 'a-user', type = 'trace.failed', at = 0 }) => {
      const id = `e${++this.#events}`;
      const event = { id, type, timestamp: at, organization_id: null, endpoint_id: null };
      return { fact: id, tenant, event: { ...event, body: envelope(event, {}) } };
    });
    await this.#control.events.append(facts);
    return facts.map(({ event }) => event);
  }

  /** Position of a reader. */
  async progress(reader: string): Promise<number> {
    return Number(await this.#control.events.open(reader));
  }

  /** Start position of a new reader. */
  async open(reader: string): Promise<EventPosition> {
    return await this.#control.events.open(reader);
  }

  async wanted(): Promise<ReadonlySet<EventType | '*'>> {
    return await this.#control.events.wanted(this.clock.now());
  }

  /** Another process takes a lease as soon as it is free. */
  async takeLease(name: string, ms: number): Promise<Lease | null> {
    return await this.#control.leases.take(name, 'another process', ms);
  }

  /** Another process takes a held lease, as if it had expired. */
  async steal(name: string): Promise<void> {
    const { leases } = this.#control;
    const held = await leases.take(name, this.#owner, 60_000);
    if (held === null) throw new Error('it is not held by the receiver');
    await leases.release(held);
    await this.takeLease(name, 60_000);
  }

  async releaseLease(lease: Lease): Promise<void> {
    await this.#control.leases.release(lease);
  }

  /** Blocks position writes. @returns the release function */
  holdNotes(): () => void {
    let release = (): void => undefined;
    this.#notesHeld = new Promise((resolve) => (release = resolve));
    return release;
  }
}
