import type { Test } from 'tap';
import type { AlertTables } from '../../src/storage/duckdb/meta/alert-tables.js';
import type { MetaTables } from '../../src/storage/duckdb/meta/meta-tables.js';
import type { Alert, AlertRule } from '../../src/storage/alert-store.js';
import type { User } from '../../src/storage/meta-store.js';
import { anAlert } from './alert-records.js';
import { aUser } from './meta-records.js';
import { openMetaTables } from './opened-meta-tables.js';

/** The tables of alerts in a new file, with a user who may have some. */
export interface OpenedAlerts {
  readonly tables: MetaTables;
  readonly alerts: AlertTables;
  readonly user: User;
  /** Agents that there are: their names by `TENANT/ID`. */
  readonly agents: Map<string, string>;
  /** A new rule of the user. */
  readonly rule: (changes?: Partial<Alert>) => Promise<AlertRule>;
  /** A rule of the user as it is now. */
  readonly now: (rule: AlertRule) => Promise<AlertRule>;
  /** The same file, read afresh. */
  readonly again: () => Promise<AlertTables>;
}

export async function openAlerts(t: Test): Promise<OpenedAlerts> {
  const agents = new Map<string, string>();
  const { tables, again } = await openMetaTables(t, (tenant, id) => agents.get(`${tenant}/${id}`));
  const { alerts } = tables;
  const user = aUser();
  await tables.createUser(user);
  return {
    tables,
    alerts,
    user,
    agents,
    rule: async (changes) => {
      const { outcome, rule } = await alerts.createAlert(user.id, anAlert(changes), Infinity);
      if (outcome !== 'created') throw new Error(`the alert was not created: ${outcome}`);
      return rule;
    },
    now: async ({ userId, alert }) => {
      const rule = await alerts.readRule(userId, alert.id);
      if (rule === null) throw new Error('the alert is gone');
      return rule;
    },
    again: async () => (await again()).alerts,
  };
}
