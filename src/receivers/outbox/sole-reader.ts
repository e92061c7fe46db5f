import type { Clock, Logger } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import type { Lease, Leases } from '../../storage/leases.js';
import type { StoreHealth } from './store-health.js';

/** How long the lease holds, and how often it is renewed, or asked for while somebody else has it. */
const LEASE_MS = 15_000;
const TURN_MS = 5000;

/** What reads while the lease is held. */
interface Reading {
  /** Ends it: what is under way is finished, but not beyond the deadline. */
  stop(deadline: AbortSignal): Promise<void>;
}

export interface SoleReaderTools {
  readonly leases: Leases;
  /** What is read by one alone. */
  readonly name: string;
  /** Names the process, as no other that is or was. */
  readonly owner: string;
  /** Begins to read. @param onLost is called where the log says that somebody took the lease */
  readonly begin: (lease: Lease, onLost: () => void) => Promise<Reading>;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Reads while it has the lease: of several processes with one control store one hands events on, and another takes over when it ends, or
 * is not heard of for the time of the lease. Who lost it breaks off what is under way, and waits for its turn again.
 */
export class SoleReader {
  readonly #tools: SoleReaderTools;
  readonly #log: SparseLog;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #deadline: AbortSignal = AbortSignal.abort();

  constructor(tools: SoleReaderTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
    this.#running = this.#run();
  }

  /** Ends the reading, and gives the lease back. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#deadline = deadline;
    this.#stop.abort();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock } = this.#tools;
    while (!this.#stop.signal.aborted) {
      try {
        const { health, leases, name, owner } = this.#tools;
        const lease = await health.ask('leasing', () => leases.take(name, owner, LEASE_MS));
        if (lease !== null) await this.#hold(lease);
      } catch (error) {
        this.#log.warn(
          0,
          { err: error },
          'The control store does not say who hands on events; it is asked again',
        );
      }
      await pause(clock, TURN_MS, this.#stop.signal);
    }
  }

  /** Resolves when the lease is lost or given back. */
  async #hold(lease: Lease): Promise<void> {
    const { leases, begin, clock, logger } = this.#tools;
    const lost = new AbortController();
    const ended = new AbortController();
    const renewing = this.#renew(lease, lost, ended.signal);
    try {
      const reading = await begin(lease, () => {
        lost.abort();
      });
      await pause(clock, null, this.#stop.signal, lost.signal);
      if (lost.signal.aborted)
        logger.warn(
          { lease: lease.name },
          'Events are not handed on here any more: the lease of that was lost',
        );
      await reading.stop(lost.signal.aborted ? lost.signal : AbortSignal.any([this.#deadline, lost.signal]));
    } finally {
      ended.abort();
      await renewing;
      // Nobody waits for its end then. Where it cannot be given back it ends by itself.
      if (!lost.signal.aborted) await leases.release(lease).catch(() => undefined);
    }
  }

  /** Until the reading has ended or the lease is lost: by its own clock, too, where the store cannot be asked. */
  async #renew(lease: Lease, lost: AbortController, ended: AbortSignal): Promise<void> {
    const { leases, health, clock } = this.#tools;
    const lose = (): void => {
      lost.abort();
    };
    let cancel = clock.after(LEASE_MS, lose);
    for (;;) {
      await pause(clock, TURN_MS, ended, lost.signal);
      if (ended.aborted || lost.signal.aborted) break;
      try {
        const renewedAt = clock.now();
        const isHeld = await health.ask('leasing', () => leases.renew(lease, LEASE_MS));
        cancel();
        if (isHeld) cancel = clock.after(LEASE_MS - (clock.now() - renewedAt) / 1000, lose);
        else lose();
      } catch (error) {
        this.#log.warn(
          0,
          { err: error },
          'The lease of handing on events was not renewed; it is tried again',
        );
      }
    }
    cancel();
  }
}
