import type { Clock } from '../../component/telemetry.js';
import { ALL_EVENTS, type EventType } from '../../signal/event.js';
import type { ControlStore } from '../contracts/control-store.js';
import { InvalidatedCache } from './invalidated-cache.js';
import { TELEMETRY_EVENTS } from '../contracts/events.js';

/** The settings of a user that the store thread needs; it identifies users by number. */
export interface StoreUserLimits {
  readonly tenant: number;
  /** Monthly event limit, 0 for none; null: the daemon's default. */
  readonly monthlyLimit: number | null;
  /** Storage limit in bytes, 0 for none; null: the daemon's default. */
  readonly storedLimit: number | null;
  /** The subscribed event types of its telemetry. */
  readonly wanted: readonly EventType[];
}

/** Maximum number of cached users. */
const REMEMBERED = 10_000;

/** Settings of users by id, cached until a hint from the control store. */
export class KnownUsers extends InvalidatedCache<StoreUserLimits> {
  readonly #control: Pick<ControlStore, 'accounts' | 'events'>;
  readonly #clock: Clock;

  constructor(control: Pick<ControlStore, 'accounts' | 'events' | 'watch'>, clock: Clock) {
    super(REMEMBERED, clock, control.watch, ['keys', 'endpoints']);
    this.#control = control;
    this.#clock = clock;
  }

  /** Calls the control store unless {@link known} has the answer. @throws Error if the user does not exist */
  async find(userId: string): Promise<StoreUserLimits> {
    const limits = await this.answer(userId, () => this.#ask(userId));
    if (limits === null) throw new Error('the user of a request does not exist');
    return limits;
  }

  /** The tenant numbers of users; unknown ids are left out. */
  async tenants(userIds: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const tenants = new Map<string, number>();
    await Promise.all(
      [...new Set(userIds)].map(async (id) => {
        const limits = this.known(id) ?? (await this.answer(id, () => this.#ask(id)));
        if (limits !== null) tenants.set(id, limits.tenant);
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
