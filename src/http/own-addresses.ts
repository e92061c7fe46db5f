import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Clock } from '../component/telemetry.js';
import type { Micros } from '../signal/time.js';
import { plainAddress } from './authority.js';
import { MICROS_PER_SECOND } from '../signal/time-units.js';

/** How often the system is asked at most, because a request can make us ask. */
const MAX_AGE_MICROS = MICROS_PER_SECOND;

/** The addresses of this machine's interfaces, which may come and go. */
export class OwnAddresses {
  readonly #clock: Clock;
  #addresses: ReadonlySet<string> = new Set();
  #readAt: Micros | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param address as {@link plainAddress} gives it */
  has(address: string): boolean {
    // All of 127.0.0.0/8 is this machine, though only one address of it is listed.
    if (isIPv4(address) && address.startsWith('127.')) return true;
    const now = this.#clock.now();
    if (this.#readAt === undefined || Math.abs(now - this.#readAt) >= MAX_AGE_MICROS) {
      this.#readAt = now;
      this.#addresses = new Set(
        Object.values(networkInterfaces()).flatMap((found) =>
          (found ?? []).map((one) => plainAddress(one.address)),
        ),
      );
    }
    return this.#addresses.has(address);
  }
}
