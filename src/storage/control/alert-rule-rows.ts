import type { Transaction } from 'kysely';
import type { Micros } from '../../signal/time.js';
import type {
  Alert,
  AlertChange,
  AlertEventFilter,
  AlertEventPage,
  AlertFiring,
  AlertRule,
  AlertRules,
  DecidedFiring,
  FiringPage,
  ListedRule,
  Resolution,
  RuleChanges,
  RulesVersion,
  TestFiring,
} from '../contracts/alerts.js';
import { changedColumns, fromIncident, fromNewAlert, toRule } from './alert-columns.js';
import { listEvents } from './alert-event-rows.js';
import {
  endIncident,
  listFirings,
  recordFirings,
  recordResolutions,
  recordTest,
} from './alert-firing-rows.js';
import type { ControlDatabase } from './control-database.js';
import { nextNumbers, type Counter } from './numbers.js';
import type { Tables } from './tables.js';

/**
 * Every change of rules takes numbers first, so that changes are serialized and the rules read in a transaction do not change.
 */
const RULE: Counter = 'rule';
/** The highest number of a removal that was dropped. */
const FORGOTTEN = 'rule_forgotten';

/** Alert rules. */
export class AlertRuleRows implements AlertRules {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async list(userId: string): Promise<readonly ListedRule[]> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('alert_rules')
        .selectAll()
        .where('user_id', '=', userId.toLowerCase())
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute(),
    );
    return rows.map((row) => {
      const { alert, incident } = toRule(row);
      return { alert, incident };
    });
  }

  async create(userId: string, alert: Alert, most: number): Promise<'created' | 'full' | 'unknown'> {
    const user_id = userId.toLowerCase();
    return await this.#database.transaction(async (tx, notify) => {
      const number = await nextNumbers(tx, RULE, 1);
      const user = await tx.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst();
      if (user === undefined) return 'unknown';
      const { count } = await tx
        .selectFrom('alert_rules')
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('user_id', '=', user_id)
        .executeTakeFirstOrThrow();
      if (count >= most) return 'full';
      await tx
        .insertInto('alert_rules')
        .values(fromNewAlert(alert, user_id, number))
        .execute();
      notify('rules');
      return 'created';
    });
  }

  async read(userId: string, id: string): Promise<AlertRule | null> {
    const row = await this.#database.read((db) =>
      db
        .selectFrom('alert_rules')
        .selectAll()
        .where('id', '=', id.toLowerCase())
        .where('user_id', '=', userId.toLowerCase())
        .executeTakeFirst(),
    );
    return row === undefined ? null : toRule(row);
  }

  async update(
    userId: string,
    id: string,
    change: AlertChange,
    now: Micros,
  ): Promise<AlertRule | 'lacks_webhook_url' | null> {
    return await this.#database.transaction(async (tx, notify) => {
      const changed = await nextNumbers(tx, RULE, 1);
      const row = await tx
        .selectFrom('alert_rules')
        .selectAll()
        .where('id', '=', id.toLowerCase())
        .where('user_id', '=', userId.toLowerCase())
        .executeTakeFirst();
      if (row === undefined) return null;
      const isPaused = change.is_active === false;
      const columns = { ...changedColumns(change), ...(isPaused ? fromIncident(null) : {}), changed };
      const next = { ...row, ...columns };
      if (next.channel !== 'email' && next.webhook_url === null) return 'lacks_webhook_url';
      await tx.updateTable('alert_rules').set(columns).where('id', '=', row.id).execute();
      if (isPaused && row.incident_id !== null) await endIncident(tx, row.id, row.incident_id, now);
      notify('rules');
      return toRule(next);
    });
  }

  async delete(userId: string, id: string): Promise<boolean> {
    const alert_id = id.toLowerCase();
    return await this.#database.transaction(async (tx, notify) => {
      const number = await nextNumbers(tx, RULE, 1);
      // Also deletes its firings and their notices.
      const removed = await tx
        .deleteFrom('alert_rules')
        .where('id', '=', alert_id)
        .where('user_id', '=', userId.toLowerCase())
        .executeTakeFirst();
      if (removed.numDeletedRows === 0n) return false;
      await tx.insertInto('alert_removals').values({ number, alert_id }).execute();
      await this.#forgetRemovals(tx, number);
      notify('rules');
      return true;
    });
  }

  async listFirings(
    userId: string,
    id: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<FiringPage | null> {
    if ((await this.read(userId, id)) === null) return null;
    return await this.#database.read((db) => listFirings(db, id.toLowerCase(), page));
  }

  async listEvents(
    userId: string,
    filter: AlertEventFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<AlertEventPage> {
    return await this.#database.read((db) => listEvents(db, userId, filter, page));
  }

  async follow(since: RulesVersion | null): Promise<RuleChanges> {
    const from = since === null ? null : readVersion(since);
    return await this.#database.read(async (db) => {
      const counter = (name: string) =>
        db.selectFrom('counters').select('last').where('name', '=', name).executeTakeFirstOrThrow();
      // Read first: concurrent commits are returned now or by the next call, perhaps by both.
      const version = String((await counter(RULE)).last);
      const changed = async (behind: number) =>
        await db
          .selectFrom('alert_rules')
          .innerJoin('users', 'users.id', 'alert_rules.user_id')
          .selectAll('alert_rules')
          .select('users.disabled')
          .where('changed', '>', behind)
          .orderBy('alert_rules.created_at')
          .orderBy('alert_rules.id')
          .execute();
      if (from !== null) {
        const rows = await changed(from);
        const removals = await db
          .selectFrom('alert_removals')
          .select('alert_id')
          .where('number', '>', from)
          .orderBy('number')
          .execute();
        // Read last: removals may have been dropped in the meantime.
        if ((await counter(FORGOTTEN)).last <= from) {
          const resting = rows.filter((row) => !isWatched(row)).map(({ id }) => id);
          const removed = [...resting, ...removals.map(({ alert_id }) => alert_id)];
          return { isAll: false, put: rows.filter(isWatched).map(toRule), removed, version };
        }
      }
      const put = (await changed(-1)).filter(isWatched).map(toRule);
      return { isAll: true, put, removed: [], version };
    });
  }

  async recordFirings(firings: readonly DecidedFiring[]): Promise<readonly boolean[]> {
    if (firings.length === 0) return [];
    return await this.#database.transaction((tx, notify) => recordFirings(tx, notify, firings));
  }

  async recordTest(userId: string, firing: TestFiring): Promise<AlertFiring | null> {
    return await this.#database.transaction((tx, notify) => recordTest(tx, notify, userId, firing));
  }

  async recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]> {
    if (resolutions.length === 0) return [];
    return await this.#database.transaction((tx, notify) => recordResolutions(tx, notify, resolutions));
  }

  async beat(source: string, now: Micros): Promise<Micros | null> {
    return await this.#database.transaction(async (tx) => {
      const query = tx.selectFrom('alert_beats').select('beat_at').where('source', '=', source);
      const before = await this.#database.dialect.lock(query).executeTakeFirst();
      await tx
        .insertInto('alert_beats')
        .values({ source, beat_at: now })
        .onConflict((conflict) => conflict.column('source').doUpdateSet({ beat_at: now }))
        .execute();
      return before?.beat_at ?? null;
    });
  }

  async removeBefore(time: Micros): Promise<number> {
    return await this.#database.transaction(async (tx) => {
      await nextNumbers(tx, RULE, 1);
      const removed = await tx.deleteFrom('alert_firings').where('fired_at', '<', time).executeTakeFirst();
      return Number(removed.numDeletedRows);
    });
  }

  /** Keeps a limited number of removals; a reader further behind reads all rules. */
  async #forgetRemovals(tx: Transaction<Tables>, number: number): Promise<void> {
    const end = number - KEPT_CHANGES;
    const forgotten = await tx
      .deleteFrom('alert_removals')
      .where('number', '<=', end)
      .returning('number')
      .execute();
    if (forgotten.length > 0)
      await tx.updateTable('counters').set({ last: end }).where('name', '=', FORGOTTEN).execute();
  }
}

const KEPT_CHANGES = 10_000;

/**
 * Marks the rules of a user as changed, so that evaluators drop or resume them. Called in the transaction that disables or enables the
 * user, after its other locks.
 */
export async function touchRulesOf(tx: Transaction<Tables>, userId: string): Promise<void> {
  const changed = await nextNumbers(tx, RULE, 1);
  await tx.updateTable('alert_rules').set({ changed }).where('user_id', '=', userId).execute();
}

function isWatched(row: { readonly is_active: number; readonly disabled: number }): boolean {
  return row.is_active === 1 && row.disabled === 0;
}

function readVersion(version: RulesVersion): number {
  const number = /^\d+$/.test(version) ? Number(version) : NaN;
  if (!Number.isSafeInteger(number)) throw new RangeError('invalid version of the alert rules');
  return number;
}
