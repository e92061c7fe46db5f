import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Clock } from '../../src/component/telemetry.js';
import { formatTime, type Micros } from '../../src/signal/time.js';
import type {
  AlertNotification,
  AlertRule,
  NoticeClaim,
  NoticeRequest,
  NoticeResult,
  Notices,
  NotificationChannel,
} from '../../src/storage/contracts/alerts.js';
import type { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import type { Watch } from '../../src/storage/contracts/coordination.js';
import { anAttempt } from '../storage/duckdb/alert-records.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { openControlStore } from './control-store.js';
import { aDecision, addRule } from './kept-rules.js';

/** Notice fields set by a test. */
interface NoticeFields {
  /** Any name. */
  readonly user?: string;
  readonly email?: string;
  readonly webhookUrl?: string;
  /** Earlier attempts. */
  readonly attempts?: number;
  /** Of the event. */
  readonly data?: object;
}

/** The notices of a real control store for test firings: records every call and can make calls fail. */
export class PlacedNotices {
  /** Of each claim. */
  readonly asked: NoticeRequest[] = [];
  /** All recorded results in order. */
  readonly results: NoticeResult[] = [];
  readonly renewed: { readonly claims: readonly NoticeClaim[]; readonly ms: number }[] = [];
  skipped = 0;
  watchers = 0;
  /** Thrown by the next calls. */
  readonly faults: { claim: Error[]; finish: Error[]; renew: Error[] } = { claim: [], finish: [], renew: [] };
  readonly control: SqlControlStore;
  readonly #users = new Map<string, string>();
  readonly #rules: AlertRule[] = [];

  private constructor(control: SqlControlStore) {
    this.control = control;
  }

  static async open(t: Test, clock: Clock): Promise<PlacedNotices> {
    return new PlacedNotices(await openControlStore(t, { clock }));
  }

  get notices(): Notices {
    const { notices } = this.control;
    return {
      claim: async (request) => {
        this.asked.push(request);
        throwNext(this.faults.claim);
        return await notices.claim(request);
      },
      renew: async (claims, ms) => {
        throwNext(this.faults.renew);
        this.renewed.push({ claims, ms });
        return await notices.renew(claims, ms);
      },
      finish: async (results) => {
        throwNext(this.faults.finish);
        const noted = await notices.finish(results);
        this.results.push(...results.filter((_, at) => noted[at]));
        return noted;
      },
      skip: async (request) => {
        const count = await notices.skip(request);
        this.skipped += count;
        return count;
      },
    };
  }

  get watch(): Watch {
    return {
      watch: (topic, listener) => {
        const unwatch = this.control.watch.watch(topic, listener);
        this.watchers++;
        return () => {
          unwatch();
          this.watchers--;
        };
      },
    };
  }

  /** The id of a user by its test name. */
  async userOf(name: string, email = `${randomUUID()}@example.org`): Promise<string> {
    let id = this.#users.get(name);
    if (id === undefined) {
      const user = aUser({ email });
      await this.control.accounts.createUser(user);
      ({ id } = user);
      this.#users.set(name, id);
    }
    return id;
  }

  /** A notice of a firing, due at a time. @returns the id of its event */
  async put(channel: NotificationChannel, dueAt: Micros, fields: NoticeFields = {}): Promise<string> {
    const { user = 'a user', email = 'somebody@example.org', attempts = 0, data } = fields;
    const { webhookUrl: webhook_url = channel === 'webhook' ? 'https://hook.test/' : null } = fields;
    const userId = await this.userOf(user, user === 'a user' ? email : fields.email);
    const rule = await addRule(this.control, userId, { channel, webhook_url });
    this.#rules.push(rule);
    const eventId = `0196f000-0000-7000-8000-${String(this.#rules.length).padStart(12, '0')}`;
    await this.control.alerts.recordFirings([
      aDecision(rule, { firedAt: dueAt, eventId, data: firedData(eventId, data) }),
    ]);
    for (let made = 0; made < attempts; made++) await this.#attempt(channel, dueAt, made + 1);
    return eventId;
  }

  /** The results of all notices. */
  async outcomes(): Promise<readonly AlertNotification[]> {
    const outcomes: AlertNotification[] = [];
    for (const { userId, alert } of this.#rules) {
      const page = await this.control.alerts.listFirings(userId, alert.id, { offset: 0, limit: 1 });
      outcomes.push(...(page?.items ?? []).flatMap(({ notifications }) => notifications));
    }
    return outcomes;
  }

  async #attempt(channel: NotificationChannel, now: Micros, attempt_number: number): Promise<void> {
    const { notices } = this.control;
    const each = { email: 0, webhook: 0, [channel]: 9999 };
    const { items } = await notices.claim({ now, free: each, perUser: each, perHost: 1e6, leaseMs: 60_000 });
    const attempt = anAttempt({ attempt_number });
    const result = { status: 'pending', detail: null, attempt, retryAt: now } as const;
    await notices.finish(items.map(({ number, token }) => ({ number, token, ...result })));
  }
}

function throwNext(faults: Error[]): void {
  const fault = faults.shift();
  if (fault) throw fault;
}

/** The stored envelope of `alert.fired`. @param data instead of a failure rate of 0.52 */
export function firedEnvelope(
  eventId: string,
  data: object = {},
  firedAt = Date.UTC(2026, 0, 15, 12) * 1000,
): string {
  const head = { id: eventId, type: 'alert.fired', timestamp: formatTime(firedAt) };
  return JSON.stringify({ ...head, data: firedData(eventId, data) });
}

function firedData(eventId: string, data: object = {}): object {
  return {
    alert_id: '0196f000-0000-7000-8000-00000000aaaa',
    type: 'failure_rate',
    agent_id: '0196f000-0000-7000-8000-00000000bbbb',
    agent_name: 'planner',
    target_service: null,
    threshold: 0.2,
    value: 0.52,
    unit: 'ratio',
    window: { from: '2026-01-15T11:00:00Z', to: '2026-01-15T12:00:00Z' },
    sample_count: 25,
    fired_at: '2026-01-15T12:00:00Z',
    incident_id: eventId,
    repeat: 0,
    conditions: [{ type: 'failure_rate', source: 'ai', threshold: 0.2, observed: 0.52, met: true }],
    example_trace_ids: ['0196f000-0000-7000-8000-00000000cccc'],
    ...data,
  };
}
