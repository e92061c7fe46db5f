import { itemAt, invariant } from '../../signal/checked.js';
import {
  type BatchStanding,
  type BegunWrite,
  type Charge,
  type Charged,
  type ChargedItems,
  MOST_CHARGES,
  MOST_TRACES,
  type NamedBatch,
  type NewWrite,
  type OpenWrite,
  type AppliedItems,
  type TakenWrite,
  type TouchedTrace,
  type WriteIntentLog,
} from '../contracts/coordination.js';
import type { ControlDatabase } from './control-database.js';
import { fromNow } from './dialect.js';
import { bindBatch, claimBatch, forgetNames, markWritten } from './named-batch-rows.js';
import { nextNumbers } from './numbers.js';
import {
  addToDays,
  addToMonths,
  monthKey,
  readDays,
  readFirstDay,
  readMonths,
  type Gain,
  type Standing,
} from './usage-rows.js';

/** Each takes a parameter; SQLite allows 32,766. */
const NUMBERS_A_QUERY = 10_000;
/** Number of writes removed per transaction. */
const FORGOTTEN_AT_ONCE = 1000;

/**
 * One row per write, and one per month and day of a user. Locking order: write, name of its batch, months, days, counter. The counter of
 * fences is locked before the row of its write, and no transaction that holds such a row waits for that counter.
 */
export class WriteIntentRows implements WriteIntentLog {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async begin(write: NewWrite): Promise<BegunWrite> {
    const { store, owner, leaseMs, traces, charges, batch } = write;
    checkSize(write);
    checkItems(charges);
    const written = writeTraces(traces);
    try {
      return await this.#database.transaction(async (tx) => {
        const standing =
          batch === undefined ? null : await claimBatch(tx, this.#database.dialect, store, batch);
        if (standing?.as === 'written' || standing?.as === 'under_way')
          return { write: null, batch: standing, charged: [] };
        const gains = charges.map(({ tenant, at, items }) => ({ tenant, at, settled: 0, charged: items }));
        // Charged before it is judged, so that one statement locks rows, adds missing ones, and returns their usage.
        const charged = judgeCharges(charges, without(gains, await addToMonths(tx, store, gains)));
        const isTaken = (_: unknown, i: number) => itemAt(charged, i).as === 'taken';
        const taken = charges.filter(isTaken);
        if (taken.length === 0 && charges.length > 0) throw new NothingTaken(standing, charged);
        const refused = gains.filter((gain, i) => !isTaken(gain, i));
        if (refused.length > 0) await addToMonths(tx, store, refused.map(givenBack));
        const number = await nextNumbers(tx, 'write', 1);
        await tx
          .insertInto('writes')
          .values({
            ...{ number, store, owner, token: 1, expires_at: fromNow(this.#database.dialect, leaseMs) },
            ...{ first_ticket: null, ended_at: null, traces: written, charges: writeCharges(taken) },
          })
          .execute();
        if (batch !== undefined) await bindBatch(tx, store, batch, number);
        return { write: { number, owner, token: 1 }, batch: standing, charged };
      });
    } catch (error) {
      if (error instanceof NothingTaken) return { write: null, batch: error.batch, charged: error.charged };
      throw error;
    }
  }

  async renew(write: OpenWrite, leaseMs: number): Promise<boolean> {
    return await this.#database.transaction(async (tx) => {
      const renewed = await tx
        .updateTable('writes')
        .set({ expires_at: fromNow(this.#database.dialect, leaseMs) })
        .where('number', '=', write.number)
        .where('token', '=', write.token)
        .where('ended_at', 'is', null)
        .executeTakeFirst();
      return renewed.numUpdatedRows > 0n;
    });
  }

  async fence(write: OpenWrite): Promise<number | null> {
    return await this.#database.transaction(async (tx) => {
      // No other transaction gets a fence until the commit, so writes with greater fences see this one.
      const fence = await nextNumbers(tx, 'ticket', 1);
      const noted = await tx
        .updateTable('writes')
        .set((row) => ({ first_ticket: row.fn.coalesce('first_ticket', row.val(fence)) }))
        .where('number', '=', write.number)
        .where('token', '=', write.token)
        .where('ended_at', 'is', null)
        .executeTakeFirst();
      return noted.numUpdatedRows > 0n ? fence : null;
    });
  }

  async openWrites(store: string): Promise<readonly number[]> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('writes')
        .select('number')
        .where('store', '=', store)
        .where('ended_at', 'is', null)
        .execute(),
    );
    return rows.map(({ number }) => number);
  }

  async firstFences(store: string, numbers: readonly number[]): Promise<ReadonlyMap<number, number | null>> {
    const found = new Map<number, number | null>();
    for (let start = 0; start < numbers.length; start += NUMBERS_A_QUERY) {
      const some = numbers.slice(start, start + NUMBERS_A_QUERY);
      const rows = await this.#database.read((db) =>
        db
          .selectFrom('writes')
          .select(['number', 'first_ticket'])
          .where('number', 'in', some)
          .where('store', '=', store)
          .execute(),
      );
      for (const { number, first_ticket } of rows) found.set(number, first_ticket);
    }
    return found;
  }

  async finish(
    write: OpenWrite,
    items: readonly AppliedItems[],
    batch?: NamedBatch & Pick<BatchStanding, 'refused'>,
  ): Promise<readonly number[] | null> {
    checkItems(items);
    const { dialect } = this.#database;
    try {
      return await this.#database.transaction(async (tx) => {
        const ended = await tx
          .updateTable('writes')
          .set({ ended_at: dialect.now(), traces: writeTraces([]) })
          .where('number', '=', write.number)
          .where('token', '=', write.token)
          .where('ended_at', 'is', null)
          .returning(['store', 'charges'])
          .executeTakeFirst();
        if (ended === undefined) return null;
        if (batch !== undefined && !(await markWritten(tx, dialect, batch, write))) throw new OthersBatch();
        const charges = readCharges(ended.charges);
        const back = charges.map((charge) => givenBack({ ...charge, settled: 0, charged: charge.items }));
        const gains = items.map(({ tenant, at, items: settled }) => ({ tenant, at, settled, charged: 0 }));
        const standings = await addToMonths(tx, ended.store, [...back, ...gains]);
        await addToDays(tx, ended.store, gains);
        return charges.map((charge) => invariant(standings.get(monthKey(charge)), 'row of a month').settled);
      });
    } catch (error) {
      if (error instanceof OthersBatch) return null;
      throw error;
    }
  }

  async takeOver(
    store: string,
    owner: string,
    leaseMs: number,
    most: number,
  ): Promise<readonly TakenWrite[]> {
    const { dialect } = this.#database;
    return await this.#database.transaction(async (tx) => {
      const abandoned = tx
        .selectFrom('writes')
        .select(['number', 'token', 'traces', 'charges'])
        .where('store', '=', store)
        .where('ended_at', 'is', null)
        .where('expires_at', '<=', dialect.now())
        .orderBy('number')
        .limit(most);
      // Skips writes that another process is taking over, renewing or finishing.
      const rows = await dialect.lockSkipping(abandoned).execute();
      for (let start = 0; start < rows.length; start += NUMBERS_A_QUERY)
        await tx
          .updateTable('writes')
          .set((row) => ({ owner, token: row('token', '+', 1), expires_at: fromNow(dialect, leaseMs) }))
          .where(
            'number',
            'in',
            rows.slice(start, start + NUMBERS_A_QUERY).map(({ number }) => number),
          )
          .execute();
      return rows.map(({ number, token, traces, charges }) => ({
        write: { number, owner, token: token + 1 },
        traces: readTraces(traces),
        charges: readCharges(charges),
      }));
    });
  }

  async forgetEnded(store: string, ageMs: number): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const some = await this.#forgetSome(store, ageMs);
      forgotten += some;
      if (some < FORGOTTEN_AT_ONCE) return forgotten;
    }
  }

  async forgetBatches(store: string, ageMs: number, mostOfUser: number): Promise<number> {
    const before = fromNow(this.#database.dialect, -ageMs);
    return await this.#database.transaction(async (tx) => await forgetNames(tx, store, before, mostOfUser));
  }

  async months(store: string, tenant: number, months: readonly number[]): Promise<readonly ChargedItems[]> {
    return months.length === 0
      ? []
      : await this.#database.read((db) => readMonths(db, store, tenant, months));
  }

  async days(store: string, tenant: number, from: number, to: number): Promise<readonly ChargedItems[]> {
    return await this.#database.read((db) => readDays(db, store, tenant, { from, to }));
  }

  async firstDay(store: string): Promise<number | null> {
    return await this.#database.read((db) => readFirstDay(db, store));
  }

  async #forgetSome(store: string, ageMs: number): Promise<number> {
    const { dialect } = this.#database;
    return await this.#database.transaction(async (tx) => {
      const old = tx
        .selectFrom('writes')
        .select('number')
        .where('store', '=', store)
        .where('ended_at', '<=', fromNow(dialect, -ageMs))
        // In the same statement: writes it sees as ended have smaller fences than those it does not see yet.
        .where((row) =>
          row.not(
            row.exists(
              row
                .selectFrom('writes as open')
                .select('open.number')
                .where('open.store', '=', store)
                .where('open.ended_at', 'is', null)
                .whereRef('open.first_ticket', '<', 'writes.first_ticket'),
            ),
          ),
        )
        .orderBy('ended_at')
        .limit(FORGOTTEN_AT_ONCE);
      const rows = await dialect.lockSkipping(old).execute();
      if (rows.length === 0) return 0;
      const numbers = rows.map(({ number }) => number);
      await tx.deleteFrom('writes').where('number', 'in', numbers).execute();
      return numbers.length;
    });
  }
}

/** Rolls back the end of a write whose batch was taken over by another write. */
class OthersBatch extends Error {}

/** Rolls back a write that is not recorded. */
class NothingTaken extends Error {
  readonly batch: BegunWrite['batch'];
  readonly charged: BegunWrite['charged'];

  constructor(batch: BegunWrite['batch'], charged: BegunWrite['charged']) {
    super('no charge was taken');
    this.batch = batch;
    this.charged = charged;
  }
}

function givenBack(gain: Gain): Gain {
  return { ...gain, charged: -gain.charged };
}

/** The usage of months before the changes. */
function without(
  gains: readonly Gain[],
  standings: ReadonlyMap<string, Standing>,
): ReadonlyMap<string, Standing> {
  const before = new Map(standings);
  for (const gain of gains) {
    const key = monthKey(gain);
    const { settled, charged } = invariant(before.get(key), 'row of a month');
    before.set(key, { settled, charged: charged - gain.charged });
  }
  return before;
}

/**
 * Judges charges in order: accepted ones count for later ones, refused ones do not.
 *
 * @param standings usage of their months without any of them, by `monthKey`
 */
function judgeCharges(
  charges: readonly Charge[],
  standings: ReadonlyMap<string, Standing>,
): BegunWrite['charged'] {
  const open = new Map<string, number>();
  return charges.map((charge) => {
    const key = monthKey(charge);
    const { settled, charged } = invariant(standings.get(key), 'row of a month');
    const before = open.get(key) ?? charged;
    const as = judge(charge, settled, before);
    open.set(key, as === 'taken' ? before + charge.items : before);
    return { as, used: settled };
  });
}

function judge({ items, isExact, limit }: Charge, settled: number, charged: number): Charged {
  if (items === 0 || limit === null || settled + charged + items <= limit) return 'taken';
  if (!isExact) return 'inexact';
  return settled + items > limit ? 'exceeds' : 'waits';
}

/** A user with consecutive traces. */
type TracesOfUser = [tenant: number, ...traceIds: string[]];
type WrittenCharge = [tenant: number, at: number, items: number, isExact: boolean, limit: number | null];

/** Serializes traces in order, about 39 bytes each. */
function writeTraces(traces: readonly TouchedTrace[]): string {
  const users: TracesOfUser[] = [];
  for (const { tenant, traceId } of traces) {
    const last = users.at(-1);
    if (last?.[0] === tenant) last.push(traceId);
    else users.push([tenant, traceId]);
  }
  return JSON.stringify(users);
}

/** Reverses {@link writeTraces}. */
function readTraces(text: string): readonly TouchedTrace[] {
  const users = JSON.parse(text) as readonly TracesOfUser[];
  return users.flatMap(([tenant, ...traceIds]) => traceIds.map((traceId) => ({ tenant, traceId })));
}

/** Serializes charges. */
function writeCharges(charges: readonly Charge[]): string {
  return JSON.stringify(
    charges.map(({ tenant, at, items, isExact, limit }): WrittenCharge => [
      tenant,
      at,
      items,
      isExact,
      limit,
    ]),
  );
}

/** Reverses {@link writeCharges}. */
function readCharges(text: string): readonly Charge[] {
  const charges = JSON.parse(text) as readonly WrittenCharge[];
  return charges.map(([tenant, at, items, isExact, limit]) => ({ tenant, at, items, isExact, limit }));
}

/** @throws RangeError */
function checkSize({ traces, charges }: NewWrite): void {
  if (traces.length > MOST_TRACES)
    throw new RangeError(`A write touches at most ${MOST_TRACES} traces, not ${traces.length}.`);
  if (charges.length > MOST_CHARGES)
    throw new RangeError(`A write has at most ${MOST_CHARGES} charges, not ${charges.length}.`);
}

/** @throws RangeError */
function checkItems(all: readonly { readonly items: number }[]): void {
  for (const { items } of all)
    if (!Number.isSafeInteger(items) || items < 0)
      throw new RangeError(`Items are counted by whole numbers from 0, not by ${items}.`);
}
