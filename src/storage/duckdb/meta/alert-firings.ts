import { envelope } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import type { AlertEvent, AlertRule, Firing, Resolution } from '../../alert-store.js';
import type { Row } from '../connection.js';
import { ALERT_EVENTS, ALERTS } from './alert-definitions.js';
import type { AlertNotices } from './alert-notices.js';
import { fromIncident, toRule } from './alert-rows.js';
import { numberOrNull } from './delivery-rows.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';
import { lastNumber } from './unusable-definition.js';

/** An alert that fires or resolves, as the transaction under way finds it. */
interface Found {
  readonly rule: AlertRule;
  readonly owner: { readonly tenant: number; readonly userId: string };
}

/** Writes what becomes of alerts. What comes at once is one transaction: a thousand alerts may fire in one evaluation. */
export class AlertFirings {
  readonly #connection: MetaConnection;
  readonly #events: MetaEvents;
  readonly #notices: AlertNotices;
  #nextNumber = 1;

  constructor(
    { connection, events }: { readonly connection: MetaConnection; readonly events: MetaEvents },
    notices: AlertNotices,
  ) {
    this.#connection = connection;
    this.#events = events;
    this.#notices = notices;
  }

  /** Numbers go on behind those that are there. */
  async load(): Promise<void> {
    const [row] = await this.#connection.read(`SELECT ${lastNumber(ALERT_EVENTS)} AS last`);
    this.#nextNumber = Number(row?.last) + 1;
  }

  /** @returns for each whether it was written */
  async record(firings: readonly Firing[]): Promise<readonly boolean[]> {
    if (firings.length === 0) return [];
    return await this.#connection.shared(async () => {
      const found = await this.#find(firings);
      const written = firings.map((firing) => {
        const known = found.get(firing.alertId);
        if (known === undefined || !mayFire(known.rule, firing)) return null;
        // The second firing of an alert among these was not decided in knowledge of the first.
        found.delete(firing.alertId);
        return { ...known, firing, number: this.#nextNumber++, body: bodyOf(firing) };
      });
      const all = written.filter((one) => one !== null);
      if (all.length === 0) return written.map(() => false);
      await this.#connection.run(...ALERT_EVENTS.insertAll(all.map(toEventRow)));
      await this.#connection.run(...ALERTS.updateAll('id', all.map(toFiredRow)));
      await this.#notices.add(all.map(({ rule, firing, number }) => ({ rule, event: number, firing })));
      await this.#events.addAll(
        all.map(({ owner, firing: { eventId: id, firedAt: now, data } }) => ({
          id,
          type: 'alert.fired',
          owner,
          now,
          data,
        })),
      );
      return written.map((one) => one !== null);
    });
  }

  /** @returns for each whether it was written */
  async resolve(resolutions: readonly Resolution[]): Promise<readonly boolean[]> {
    if (resolutions.length === 0) return [];
    return await this.#connection.shared(async () => {
      const found = await this.#find(resolutions);
      const written = resolutions.map((resolution) => {
        const known = found.get(resolution.alertId);
        if (known?.rule.incident?.id !== resolution.incidentId) return null;
        found.delete(resolution.alertId);
        return { ...known, resolution };
      });
      const all = written.filter((one) => one !== null);
      if (all.length === 0) return written.map(() => false);
      await this.#connection.run(
        ...ALERTS.updateAll(
          'id',
          all.map(({ rule }) => ({ id: rule.alert.id, ...fromIncident(null) })),
        ),
      );
      await this.endIncidents(all.map(({ resolution }) => resolution));
      await this.#events.addAll(
        all.map(({ owner, resolution: { resolvedAt: now, data } }) => ({
          type: 'alert.resolved',
          owner,
          now,
          data,
        })),
      );
      return written.map((one) => one !== null);
    });
  }

  /** In the transaction under way: the firings of incidents are told to be over. */
  async endIncidents(ended: readonly Pick<Resolution, 'incidentId' | 'resolvedAt'>[]): Promise<void> {
    await this.#connection.run(
      ...ALERT_EVENTS.updateAll(
        'incident_id',
        ended.map(({ incidentId, resolvedAt }) => ({ incident_id: incidentId, resolved_at: resolvedAt })),
      ),
    );
  }

  /** In the transaction under way: a page of an alert's firings, the newest first. */
  async list(
    alertId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly AlertEvent[]; readonly count: number }> {
    const ofAlert = 'WHERE alert_id = ?::UUID';
    const [all] = await this.#connection.rows(`SELECT count(*) AS count FROM alert_events ${ofAlert}`, [
      alertId,
    ]);
    const columns = ['number', 'id', 'fired_at', 'value', 'threshold', 'resolved_at'];
    const rows = await this.#connection.rows(
      ALERT_EVENTS.select(`${ofAlert} ORDER BY number DESC LIMIT ? OFFSET ?`, columns),
      [alertId, page.limit, page.offset],
    );
    const notices = await this.#notices.of(rows.map(({ number }) => Number(number)));
    const items = rows.map((row) => ({
      id: String(row.id),
      fired_at: Number(row.fired_at),
      value: numberOrNull(row.value),
      threshold: Number(row.threshold),
      resolved_at: numberOrNull(row.resolved_at),
      notifications: notices.get(Number(row.number)) ?? [],
    }));
    return { items, count: Number(all?.count) };
  }

  /** In the transaction that deletes an alert. */
  async removeOf(alertId: string): Promise<void> {
    await this.#connection.run('DELETE FROM alert_events WHERE alert_id = ?::UUID', [alertId]);
  }

  /** In the transaction that removes old firings, behind their notices. */
  async removeBefore(time: Micros): Promise<void> {
    await this.#connection.run('DELETE FROM alert_events WHERE fired_at < make_timestamp(?::BIGINT)', [time]);
  }

  async #find(of: readonly { readonly alertId: string }[]): Promise<Map<string, Found>> {
    const rows = await this.#connection.rows(
      ALERTS.select(`WHERE id IN (${of.map(() => '?::UUID').join(', ')})`),
      of.map(({ alertId }) => alertId),
    );
    return new Map(
      rows.map((row) => {
        const rule = toRule(row);
        return [rule.alert.id, { rule, owner: { tenant: Number(row.tenant), userId: rule.userId } }];
      }),
    );
  }
}

/** Whether the alert is still as it was when the firing was decided. */
function mayFire({ alert }: AlertRule, { lastFiredAt }: Firing): boolean {
  return alert.is_active && alert.last_fired_at === lastFiredAt;
}

/** The text that the event of the same id has, too. */
function bodyOf({ eventId, firedAt, data }: Firing): string {
  return envelope({ id: eventId, type: 'alert.fired', timestamp: firedAt }, data);
}

function toEventRow({
  firing,
  number,
  body,
}: {
  readonly firing: Firing;
  readonly number: number;
  readonly body: string;
}): Row {
  return {
    number,
    id: firing.eventId,
    alert_id: firing.alertId,
    fired_at: firing.firedAt,
    value: firing.value,
    threshold: firing.threshold,
    incident_id: firing.incident.id,
    resolved_at: null,
    body,
  };
}

function toFiredRow({ firing }: { readonly firing: Firing }): Row {
  return {
    id: firing.alertId,
    last_fired_at: firing.firedAt,
    evidence: JSON.stringify(firing.evidence),
    ...fromIncident(firing.incident),
  };
}
