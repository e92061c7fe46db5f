import type { Clock } from '../../component/telemetry.js';
import { ALL_EVENTS, type EventType } from '../../signal/event.js';
import type { ControlStore } from '../contracts/control-store.js';
import { InvalidatedCache } from './invalidated-cache.js';
import { TELEMETRY_EVENTS } from '../contracts/events.js';

/** What the store thread has to know of a user: it knows users by their numbers only. */
export interface StoreUserLimits {
  readonly tenant: number;
  /** Events a month that it may store, 0 for any number; null: the daemon's default holds. */
  readonly monthlyLimit: number | null;
  /** Bytes that it may store, likewise. */
  readonly storedLimit: number | null;
  /** The events of its telemetry that somebody wants. */
  readonly wanted: readonly EventType[];
}

/** Users whose terms are remembered: those that were asked for last. */
const REMEMBERED = 10_000;

/** Answers for users by their ids, from memory as far as the control plane has not hinted that something has changed. */
export class KnownUsers extends InvalidatedCache<StoreUserLimits> {
  readonly #control: Pick<ControlStore, 'accounts' | 'events'>;
  readonly #clock: Clock;

  constructor(control: Pick<ControlStore, 'accounts' | 'events' | 'watch'>, clock: Clock) {
    super(REMEMBERED, clock, control.watch, ['keys', 'endpoints']);
    this.#control = control;
    this.#clock = clock;
  }

  /** Asks the control plane unless {@link known} has the answer. @throws Error for a user that there is not */
  async find(userId: string): Promise<StoreUserLimits> {
    const terms = await this.answer(userId, () => this.#ask(userId));
    if (terms === null) throw new Error('a request is for an unknown user');
    return terms;
  }

  /** The tenant numbers of users, as far as there are such users. */
  async tenants(userIds: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const tenants = new Map<string, number>();
    await Promise.all(
      [...new Set(userIds)].map(async (id) => {
        const terms = this.known(id) ?? (await this.answer(id, () => this.#ask(id)));
        if (terms !== null) tenants.set(id, terms.tenant);
      }),
    );
    return tenants;
  }

  async #ask(userId: string): Promise<StoreUserLimits | null> {
    const [user, wanted] = await Promise.all([
      this.#control.accounts.findUser(userId),
      this.#control.events.wantedOf(userId, this.#clock.now()),
    ]);
    if (user === null) return null;
    return {
      tenant: user.tenant,
      monthlyLimit: user.monthly_event_limit,
      storedLimit: user.stored_bytes_limit,
      wanted: wanted.has(ALL_EVENTS) ? TELEMETRY_EVENTS : TELEMETRY_EVENTS.filter((type) => wanted.has(type)),
    };
  }
}
