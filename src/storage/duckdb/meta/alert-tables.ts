import type { Micros } from '../../../signal/time.js';
import type { DueNotification, DueRequest, NotificationResult, SkipRequest } from '../../alert-notices.js';
import type {
  Alert,
  AlertChange,
  AlertEvent,
  AlertRule,
  AlertStore,
  CreatedAlert,
  Firing,
  Resolution,
} from '../../alert-store.js';
import type { Row, Value } from '../connection.js';
import { ALERT_BEAT, ALERTS } from './alert-definitions.js';
import { AlertFirings } from './alert-firings.js';
import { AlertNotices } from './alert-notices.js';
import { fromIncident, fromNewAlert, toAlert, toRule } from './alert-rows.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';

/** The part of an {@link AlertStore} that needs nothing but the main file. */
type Tables = Omit<
  AlertStore,
  | 'createAlert'
  | 'updateAlert'
  | 'watchRules'
  | 'watchTelemetry'
  | 'takeTouched'
  | 'observe'
  | 'exampleTraces'
  | 'watchNotifications'
  | 'announceAlerting'
  | 'alertingTerms'
>;

/** What the alerts stand on. */
export interface AlertParts {
  readonly connection: MetaConnection;
  readonly events: MetaEvents;
  /** The number of a user; undefined for an unknown one. */
  readonly tenantOf: (userId: string) => number | undefined;
  /** The name of an agent; undefined where the tenant has none of that id. */
  readonly agentName: (tenant: number, agentId: string) => string | undefined;
}

const IS_WATCHED = 'is_active AND user_id NOT IN (SELECT id FROM users WHERE disabled)';
const THIS_ONE = 'WHERE id = ?::UUID AND user_id = ?::UUID';

/** The alerts in the main file: rules, what became of them, and what is told of that. */
export class AlertTables implements Tables {
  readonly #parts: AlertParts;
  readonly #firings: AlertFirings;
  readonly #notices: AlertNotices;

  constructor(parts: AlertParts) {
    this.#parts = parts;
    this.#notices = new AlertNotices(parts.connection);
    this.#firings = new AlertFirings(parts, this.#notices);
  }

  async load(): Promise<void> {
    await this.#notices.load();
    await this.#firings.load();
  }

  async listAlerts(userId: string): Promise<readonly Alert[]> {
    const rest = 'WHERE user_id = ?::UUID ORDER BY created_at DESC, id DESC';
    return (await this.#parts.connection.read(ALERTS.select(rest), [userId])).map(toAlert);
  }

  /** @returns what became of the alert, and the rule that it is */
  async createAlert(
    userId: string,
    alert: Alert,
    most: number,
  ): Promise<{ readonly outcome: CreatedAlert; readonly rule: AlertRule }> {
    const { connection, tenantOf, agentName } = this.#parts;
    const tenant = tenantOf(userId);
    if (tenant === undefined) throw new Error('an alert belongs to a user that the store does not know');
    const name = alert.agent_id === null ? null : agentName(tenant, alert.agent_id);
    const stored = { ...alert, agent_name: name ?? null };
    const rule: AlertRule = { userId, alert: stored, incident: null, evidence: null };
    if (name === undefined) return { outcome: 'unknown_agent', rule };
    return await connection.shared(async () => {
      const [found] = await connection.rows('SELECT count(*) AS count FROM alerts WHERE user_id = ?::UUID', [
        userId,
      ]);
      if (Number(found?.count) >= most) return { outcome: 'full', rule };
      await connection.run(...ALERTS.insertAll([fromNewAlert(stored, userId, tenant)]));
      return { outcome: 'created', rule };
    });
  }

  async readAlert(userId: string, id: string): Promise<Alert | null> {
    return (await this.readRule(userId, id))?.alert ?? null;
  }

  /** @returns the rule as it is now */
  async updateAlert(
    userId: string,
    id: string,
    change: AlertChange,
    now: Micros,
  ): Promise<AlertRule | 'lacks_webhook_url' | null> {
    const { connection } = this.#parts;
    return await connection.transaction(async () => {
      const [row] = await connection.rows(ALERTS.select(THIS_ONE), [id, userId]);
      if (row === undefined) return null;
      const { incident } = toRule(row);
      const isPaused = change.is_active === false;
      const columns = { ...changedColumns(change), ...(isPaused ? fromIncident(null) : {}) };
      const changed = { ...row, ...columns };
      if (changed.channel !== 'email' && changed.webhook_url === null) return 'lacks_webhook_url';
      if (Object.keys(columns).length > 0)
        await connection.run(...ALERTS.updateAll('id', [{ id, ...columns }]));
      if (isPaused && incident !== null)
        await this.#firings.endIncidents([{ incidentId: incident.id, resolvedAt: now }]);
      return toRule(changed);
    });
  }

  async deleteAlert(userId: string, id: string): Promise<boolean> {
    const { connection } = this.#parts;
    return await connection.transaction(async () => {
      const gone = await connection.rows(`DELETE FROM alerts ${THIS_ONE} RETURNING 1 AS done`, [id, userId]);
      if (gone.length === 0) return false;
      await this.#firings.removeOf(id);
      await this.#notices.removeOf(id);
      return true;
    });
  }

  async listAlertEvents(
    userId: string,
    id: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly AlertEvent[]; readonly count: number } | null> {
    const { connection } = this.#parts;
    // Of one moment.
    return await connection.transaction(async () => {
      const [alert] = await connection.rows(ALERTS.select(THIS_ONE, ['id']), [id, userId]);
      return alert === undefined ? null : await this.#firings.list(id, page);
    });
  }

  async listRules(): Promise<readonly AlertRule[]> {
    const rest = `WHERE ${IS_WATCHED} ORDER BY created_at, id`;
    return (await this.#parts.connection.read(ALERTS.select(rest))).map(toRule);
  }

  /** Those of a user that are active, whether or not the user is disabled. */
  async listRulesOf(userId: string): Promise<readonly AlertRule[]> {
    const rest = 'WHERE is_active AND user_id = ?::UUID ORDER BY created_at, id';
    return (await this.#parts.connection.read(ALERTS.select(rest), [userId])).map(toRule);
  }

  async readRule(userId: string, id: string): Promise<AlertRule | null> {
    const [row] = await this.#parts.connection.read(ALERTS.select(THIS_ONE), [id, userId]);
    return row === undefined ? null : toRule(row);
  }

  async recordFirings(firings: readonly Firing[]): Promise<readonly boolean[]> {
    return await this.#firings.record(firings);
  }

  async recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]> {
    return await this.#firings.resolve(resolutions);
  }

  async beatAlerts(now: Micros): Promise<Micros | null> {
    const { connection } = this.#parts;
    return await connection.transaction(async () => {
      const [last] = await connection.rows(ALERT_BEAT.select());
      await connection.run('DELETE FROM alert_beat');
      await connection.run(...ALERT_BEAT.insert({ beat_at: now }));
      return last === undefined ? null : Number(last.beat_at);
    });
  }

  /** Removes the firings before a time, with what is told of them. */
  async removeBefore(time: Micros): Promise<void> {
    await this.#parts.connection.transaction(async () => {
      await this.#notices.removeBefore(time);
      await this.#firings.removeBefore(time);
    });
  }

  async dueNotifications(
    request: DueRequest,
  ): Promise<{ readonly items: readonly DueNotification[]; readonly nextDueAt: Micros | null }> {
    return await this.#notices.due(request);
  }

  async skipNotifications(request: SkipRequest): Promise<number> {
    return await this.#notices.skip(request);
  }

  async finishNotifications(results: readonly NotificationResult[]): Promise<void> {
    await this.#notices.finish(results);
  }
}

/** What is null is not changed either: an alert can lose nothing but its being active. */
function changedColumns({ threshold, cooldown_minutes, is_active, channel, webhook_url }: AlertChange): Row {
  const columns: [string, Value | undefined][] = [
    ['threshold', threshold],
    ['cooldown_minutes', cooldown_minutes],
    ['is_active', is_active],
    ['channel', channel],
    ['webhook_url', webhook_url],
  ];
  const changed: Row = {};
  for (const [column, value] of columns) if (value !== undefined && value !== null) changed[column] = value;
  return changed;
}
