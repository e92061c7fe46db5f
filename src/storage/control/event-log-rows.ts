import type { EventType } from '../../signal/event.js';
import { MICROS_PER_DAY } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import type {
  EventLog,
  EventPageLimit,
  EventPosition,
  Fact,
  LoggedEvents,
  SourceMark,
  StoredEvent,
} from '../contracts/events.js';
import type { Lease } from '../contracts/coordination.js';
import { readWhenThere } from '../shared/read-when-there.js';
import type { ControlDatabase } from './control-database.js';
import { appendFacts } from './event-rows.js';
import { holdsLease } from './lease-rows.js';
import type { Tables } from './tables.js';

/** Requests of dead processes are removed when a request that expires this much later is stored. */
const FORGOTTEN: Micros = MICROS_PER_DAY;

/** Events by number, the positions of their readers, and the requested types. */
export class EventLogRows implements EventLog {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async append(facts: readonly Fact[], mark?: SourceMark): Promise<number> {
    return await this.#database.transaction(async (tx, notify) => {
      if (mark !== undefined)
        await tx
          .insertInto('event_marks')
          .values({ ...mark })
          .onConflict((conflict) => conflict.column('source').doUpdateSet({ mark: mark.mark }))
          .execute();
      const added = await appendFacts(tx, facts);
      if (added > 0) notify('events');
      return added;
    });
  }

  async markOf(source: string): Promise<string | null> {
    const row = await this.#database.read((db) =>
      db.selectFrom('event_marks').select('mark').where('source', '=', source).executeTakeFirst(),
    );
    return row?.mark ?? null;
  }

  async open(reader: string): Promise<EventPosition> {
    // Without a write, so that an existing reader can start on a full disk.
    const known = await this.#database.read((db) =>
      db.selectFrom('event_readers').select('position').where('name', '=', reader).executeTakeFirst(),
    );
    if (known !== undefined) return String(known.position);
    return await this.#database.transaction(async (tx) => {
      await tx
        .insertInto('event_readers')
        .columns(['name', 'position'])
        .expression((from) =>
          from
            .selectFrom('counters')
            .select((row) => [row.val(reader).as('name'), 'last as position'])
            .where('name', '=', 'event'),
        )
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
      const row = tx.selectFrom('event_readers').select('position').where('name', '=', reader);
      return String((await row.executeTakeFirstOrThrow()).position);
    });
  }

  async read(after: EventPosition, limit: EventPageLimit, wait?: AbortSignal): Promise<LoggedEvents> {
    const position = readPosition(after);
    const log = {
      read: () => this.#readPage(position, limit),
      isEmpty: ({ events }: LoggedEvents) => events.length === 0,
      watch: (listener: () => void) => this.#database.watch.watch('events', listener),
    };
    return await readWhenThere(log, wait);
  }

  async #readPage(position: number, limit: EventPageLimit): Promise<LoggedEvents> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('events')
        .selectAll()
        .where('number', '>', position)
        .orderBy('number')
        .limit(limit.events + 1)
        .execute(),
    );
    const taken = rows.slice(0, pageSize(rows, limit));
    return {
      events: taken.map(toEvent),
      next: String(taken.at(-1)?.number ?? position),
      hasMore: taken.length < rows.length,
    };
  }

  async progress(reader: string, position: EventPosition, lease: Lease): Promise<boolean> {
    const reached = readPosition(position);
    return await this.#database.transaction(async (tx) => {
      if (!(await holdsLease(tx, this.#database.dialect, lease))) return false;
      await tx
        .updateTable('event_readers')
        .set({ position: reached })
        .where('name', '=', reader)
        .where('position', '<', reached)
        .execute();
      return true;
    });
  }

  async want(owner: string, types: readonly (EventType | '*')[], until: Micros): Promise<void> {
    const rows = [...new Set(types)].sort().map((type) => ({ owner, type, until }));
    await this.#database.transaction(async (tx, notify) => {
      await tx
        .deleteFrom('event_wants')
        .where((row) => row.or([row('owner', '=', owner), row('until', '<', until - FORGOTTEN)]))
        .execute();
      if (rows.length > 0)
        await tx
          .insertInto('event_wants')
          .values(rows)
          .onConflict((conflict) => conflict.columns(['owner', 'type']).doUpdateSet({ until }))
          .execute();
      // The set of written events changes, as if an endpoint had subscribed.
      notify('endpoints');
    });
  }

  async wanted(now: Micros): Promise<ReadonlySet<EventType | '*'>> {
    const rows = await this.#database.read((db) =>
      db.selectFrom('event_wants').select('type').distinct().where('until', '>', now).execute(),
    );
    return new Set(rows.map(({ type }) => type as EventType | '*'));
  }

  async wantedOf(userId: string, now: Micros): Promise<ReadonlySet<EventType | '*'>> {
    const lists = await this.#database.read((db) =>
      db
        .selectFrom('event_wants')
        .select('type as types')
        .where('until', '>', now)
        .unionAll(
          db
            .selectFrom('webhook_endpoints')
            .innerJoin('members', 'members.organization_id', 'webhook_endpoints.organization_id')
            .select('event_types as types')
            .where('members.user_id', '=', userId.toLowerCase())
            .where('is_active', '=', 1),
        )
        .execute(),
    );
    return new Set(lists.flatMap(({ types }) => types.split(' ') as (EventType | '*')[]));
  }

  async removeBefore(time: Micros): Promise<number> {
    return await this.#database.transaction(async (tx) => {
      const removed = await tx.deleteFrom('events').where('timestamp', '<', time).executeTakeFirst();
      return Number(removed.numDeletedRows);
    });
  }
}

function readPosition(position: EventPosition): number {
  const number = /^\d+$/.test(position) ? Number(position) : NaN;
  if (!Number.isSafeInteger(number)) throw new RangeError('invalid position in the event log');
  return number;
}

/** Number of events in one page, at least one. */
function pageSize(rows: readonly Tables['events'][], limit: EventPageLimit): number {
  let bytes = 0;
  let count = 0;
  for (const { body } of rows.slice(0, limit.events)) {
    if (count > 0) bytes += Buffer.byteLength(body);
    if (bytes > limit.bytes) break;
    count++;
  }
  return count;
}

function toEvent(row: Tables['events']): StoredEvent {
  const { tenant, id, timestamp, organization_id, endpoint_id, body } = row;
  const type = row.type as EventType;
  return { tenant, event: { id, type, timestamp, organization_id, endpoint_id, body } };
}
