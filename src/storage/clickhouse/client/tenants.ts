import type { Clock } from '../../../component/telemetry.js';
import type { ControlStore } from '../../contracts/control-store.js';
import { InvalidatedCache } from '../../shared/invalidated-cache.js';

/** Size of the LRU cache of user numbers. */
const REMEMBERED = 10_000;

/** The numbers of users in rows. */
export class Tenants {
  readonly #control: Pick<ControlStore, 'accounts'>;
  readonly #answers: InvalidatedCache<number>;

  constructor(control: Pick<ControlStore, 'accounts' | 'watch'>, clock: Clock) {
    this.#control = control;
    this.#answers = new InvalidatedCache(REMEMBERED, clock, control.watch, ['keys']);
  }

  /** @throws Error for an unknown user; ConsumeError */
  async of(userId: string): Promise<number> {
    const found = await this.#answers.answer(userId, async () => {
      const user = await this.#control.accounts.findUser(userId);
      return user?.tenant ?? null;
    });
    if (found === null) throw new Error('the user of a request does not exist');
    return found;
  }

  close(): void {
    this.#answers.close();
  }
}
