import type { Micros } from '../../src/signal/time.js';
import type {
  DueNotification,
  DueRequest,
  HeldNotification,
  NotificationChannel,
  NotificationResult,
  SkipRequest,
} from '../../src/storage/alert-notices.js';
import type { AlertStore } from '../../src/storage/alert-store.js';

type Notices = Pick<
  AlertStore,
  'dueNotifications' | 'skipNotifications' | 'finishNotifications' | 'watchNotifications'
>;

/** The notices of a store, in memory: a test sees every call, and says when calls fail. */
export class MemoryNotices implements Notices {
  /** Of each question. */
  readonly asked: DueRequest[] = [];
  /** All that were told, in order. */
  readonly results: NotificationResult[] = [];
  /** What the next calls throw. */
  readonly faults: { due: Error[]; finish: Error[] } = { due: [], finish: [] };
  readonly #waiting = new Map<number, DueNotification & { readonly dueAt: Micros }>();
  readonly #listeners = new Set<() => void>();

  /** Adds a notice that is due at a time, and tells nobody. */
  put(channel: NotificationChannel, dueAt: Micros, fields: Partial<DueNotification> = {}): void {
    const number = this.#waiting.size + this.results.length + 1;
    const eventId = `0196f000-0000-7000-8000-${String(number).padStart(12, '0')}`;
    const notice = {
      number,
      channel,
      alertId: '0196f000-0000-7000-8000-00000000aaaa',
      eventId,
      userId: 'a user',
      email: 'somebody@example.org',
      webhookUrl: channel === 'webhook' ? 'https://hook.test/' : null,
      body: firedEnvelope(eventId),
      attempts: 0,
      ...fields,
    };
    this.#waiting.set(notice.number, { ...notice, dueAt });
  }

  /** Tells those who watch. */
  call(): void {
    for (const listener of this.#listeners) listener();
  }

  get watchers(): number {
    return this.#listeners.size;
  }

  async dueNotifications(request: DueRequest): ReturnType<Notices['dueNotifications']> {
    this.asked.push(request);
    throwNext(this.faults.due);
    const { now, held, places } = request;
    const taken: HeldNotification[] = [...held];
    const items: DueNotification[] = [];
    let nextDueAt: Micros | null = null;
    for (const notice of this.#free(held)) {
      const { channel, userId, dueAt } = notice;
      const ofChannel = taken.filter((other) => other.channel === channel);
      const ofUser = ofChannel.filter((other) => other.userId === userId);
      if (ofChannel.length >= places[channel].all || ofUser.length >= places[channel].perUser) continue;
      if (dueAt > now) {
        nextDueAt = dueAt;
        break;
      }
      items.push(notice);
      taken.push(notice);
    }
    return { items, nextDueAt };
  }

  async skipNotifications({ now, channel, detail, userIds, held, most }: SkipRequest): Promise<number> {
    const skipped = this.#free(held)
      .filter((notice) => notice.channel === channel && notice.dueAt <= now)
      .filter(({ userId, attempts }) => userIds === null || (attempts === 0 && userIds.includes(userId)))
      .slice(0, most);
    const settled = { status: 'skipped', detail, attempt: null, retryAt: null } as const;
    await this.finishNotifications(skipped.map(({ number }) => ({ number, ...settled })));
    return skipped.length;
  }

  /** In the order in which they are due. */
  #free(held: SkipRequest['held']) {
    const numbers = new Set(held.map(({ number }) => number));
    return [...this.#waiting.values()]
      .filter(({ number }) => !numbers.has(number))
      .sort((a, b) => a.dueAt - b.dueAt || a.number - b.number);
  }

  async finishNotifications(results: readonly NotificationResult[]): Promise<void> {
    throwNext(this.faults.finish);
    for (const result of results) {
      this.results.push(result);
      const notice = this.#waiting.get(result.number);
      this.#waiting.delete(result.number);
      if (notice && result.retryAt !== null)
        this.#waiting.set(result.number, { ...notice, attempts: notice.attempts + 1, dueAt: result.retryAt });
    }
  }

  watchNotifications(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function throwNext(faults: Error[]): void {
  const fault = faults.shift();
  if (fault) throw fault;
}

/** The envelope of `alert.fired` as the store has it. @param data instead of that of a failure rate of 0.52 */
export function firedEnvelope(eventId: string, data: object = {}): string {
  return JSON.stringify({
    id: eventId,
    type: 'alert.fired',
    timestamp: '2026-01-15T12:00:00Z',
    data: {
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
    },
  });
}
