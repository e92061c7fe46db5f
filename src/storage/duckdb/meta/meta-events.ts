import { envelope, type EventRecord, type EventType } from '../../../signal/event.js';
import { uuidV7InOrder } from '../../../signal/ids.js';
import type { Micros } from '../../../signal/time.js';
import type { EventPageLimit } from '../../event-store.js';
import type { Row, Value } from '../connection.js';
import type { EventInterests } from '../events/interests.js';
import { pageSize } from '../events/page-size.js';
import { ENTRIES } from './event-definitions.js';
import type { MetaConnection } from './meta-connection.js';
import { lastNumber } from './unusable-definition.js';

/** So many ids of one millisecond are in the order of their events. */
const IDS_A_MILLISECOND = 4096;

/** A fact of the main file. */
export interface MetaEvent {
  /** Where the fact has a UUIDv7 already; absent: one is made. */
  readonly id?: string;
  readonly type: EventType;
  readonly owner: { readonly tenant: number; readonly userId: string } | { readonly organizationId: string };
  /** The only endpoint that is to have it; absent: all that subscribe. */
  readonly endpointId?: string;
  readonly now: Micros;
  readonly data: object;
}

/** An event of the main file, and whose it is: a user's, or an organization's. */
export interface MetaEntry {
  readonly entry: number;
  readonly tenant: string;
  readonly event: EventRecord;
}

/** Events that are facts of the main file: each is written in the transaction that makes it true, and has a number. */
export class MetaEvents {
  readonly #connection: MetaConnection;
  readonly #interests: EventInterests;
  readonly #written: () => void;
  #nextNumber = 1;

  /** @param written is called after every commit that wrote events */
  constructor(connection: MetaConnection, interests: EventInterests, written: () => void) {
    this.#connection = connection;
    this.#interests = interests;
    this.#written = written;
  }

  /** Numbers go on behind those that were given, even where the events are gone that had them. */
  async load(): Promise<void> {
    const [row] = await this.#connection.read(
      `SELECT greatest(${lastNumber(ENTRIES)}, (SELECT coalesce(max(entry), 0) FROM event_readers)) AS last`,
    );
    this.#nextNumber = Number(row?.last) + 1;
  }

  /** No event that is committed has a greater one, and every later event will. To be asked within a transaction. */
  get lastNumber(): number {
    return this.#nextNumber - 1;
  }

  /**
   * Writes an event in the transaction under way, where somebody wants it, or it is for one endpoint.
   *
   * @returns the event as readers will get it; null where it was not written
   */
  async add(event: MetaEvent): Promise<EventRecord | null> {
    if (!this.#isWanted(event)) return null;
    const row = this.#row(event);
    await this.#connection.run(...ENTRIES.insert(row));
    this.#connection.afterCommit(this.#written);
    return toEntry(row).event;
  }

  /** Likewise many events, in their order: a statement for each would take a quarter of a millisecond each. */
  async addAll(events: readonly MetaEvent[]): Promise<void> {
    const wanted = events.filter((event) => this.#isWanted(event));
    if (wanted.length === 0) return;
    await this.#connection.run(...ENTRIES.insertAll(wanted.map((event) => this.#row(event))));
    this.#connection.afterCommit(this.#written);
  }

  /** Those that follow a number, in their order. */
  async read(
    after: number,
    limit: EventPageLimit,
  ): Promise<{ readonly events: readonly MetaEntry[]; readonly hasMore: boolean }> {
    // A cursor has passed committed ones only: then there is nothing, and no turn is waited for.
    if (after >= this.lastNumber) return { events: [], hasMore: false };
    const rows = await this.#connection.read(
      ENTRIES.select(`WHERE number > ${after} ORDER BY number LIMIT ${limit.events + 1}`),
    );
    const entries = rows.map(toEntry);
    const bytes = entries.map(({ event }) => Buffer.byteLength(event.body));
    const events = entries.slice(0, pageSize(bytes, limit));
    return { events, hasMore: events.length < entries.length };
  }

  /** Removes the events before a time, whoever has read them. */
  async removeBefore(time: Micros): Promise<void> {
    await this.#connection.transaction(() =>
      this.#connection.run('DELETE FROM events WHERE timestamp < make_timestamp(?::BIGINT)', [time]),
    );
  }

  #isWanted({ type, owner, endpointId }: MetaEvent): boolean {
    if (endpointId !== undefined) return true;
    return 'tenant' in owner
      ? this.#interests.wants(owner.tenant, type)
      : this.#interests.organizationWants(owner.organizationId, type);
  }

  /** The number of a transaction that fails is left out. */
  #row({ id, type, owner, endpointId, now, data }: MetaEvent): Row {
    const number = this.#nextNumber++;
    const event = {
      id: id ?? uuidV7InOrder(now / 1000, number % IDS_A_MILLISECOND),
      type,
      timestamp: now,
    };
    return {
      ...event,
      number,
      user_id: 'userId' in owner ? owner.userId : null,
      organization_id: 'organizationId' in owner ? owner.organizationId : null,
      endpoint_id: endpointId ?? null,
      body: envelope(event, data),
    };
  }
}

function toEntry(row: Row): MetaEntry {
  const organizationId = readId(row.organization_id);
  return {
    entry: Number(row.number),
    tenant: readId(row.user_id) ?? organizationId ?? '',
    event: {
      id: String(row.id),
      type: String(row.type) as EventType,
      timestamp: Number(row.timestamp),
      organization_id: organizationId,
      endpoint_id: readId(row.endpoint_id),
      body: String(row.body),
    },
  };
}

function readId(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
