import type { Clock, Logger } from '../component/telemetry.js';
import { pause } from '../telemetry/pause.js';
import { SparseLog } from '../telemetry/sparse-log.js';
import type { Lease, Leases } from './leases.js';

/** How long the lease holds, and how often it is renewed, or asked for while somebody else has it. */
const LEASE_MS = 15_000;
const TURN_MS = 5000;

/** What is done while the lease is held. */
interface Work {
  /** Ends it: what is under way is finished, but not beyond the deadline. */
  stop(deadline: AbortSignal): Promise<void>;
}

/** What the log says of some work. */
interface WorkWords {
  /** Behind `who`: `hands on events`. */
  readonly does: string;
  /** `handing on events` */
  readonly doing: string;
  /** A sentence without its end: `Events are not handed on here any more`. */
  readonly lost: string;
}

export interface SoleWorkerTools {
  readonly leases: Leases;
  /** What is done by one alone. */
  readonly name: string;
  /** Names the process, as no other that is or was. */
  readonly owner: string;
  /** Begins the work. @param onLost is to be called where it turns out that somebody took the lease */
  readonly begin: (lease: Lease, onLost: () => void) => Promise<Work>;
  /** Asks the control store, and notes whether it answers. */
  readonly ask: <Answer>(question: () => Promise<Answer>) => Promise<Answer>;
  readonly words: WorkWords;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Works while it has the lease: of several processes with one control store one does it, and another takes over when it ends, or
 * is not heard of for the time of the lease. Who lost it breaks off what is under way, and waits for its turn again.
 */
export class SoleWorker {
  readonly #tools: SoleWorkerTools;
  readonly #log: SparseLog;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #deadline: AbortSignal = AbortSignal.abort();

  constructor(tools: SoleWorkerTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
    this.#running = this.#run();
  }

  /** Ends the work, and gives the lease back. */
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
        const { ask, leases, name, owner } = this.#tools;
        const lease = await ask(() => leases.take(name, owner, LEASE_MS));
        if (lease !== null) await this.#hold(lease);
      } catch (error) {
        this.#log.warn(
          0,
          { err: error },
          `The control store does not say who ${this.#tools.words.does}; it is asked again`,
        );
      }
      await pause(clock, TURN_MS, this.#stop.signal);
    }
  }

  /** Resolves when the lease is lost or given back. */
  async #hold(lease: Lease): Promise<void> {
    const { leases, begin, words, clock, logger } = this.#tools;
    const lost = new AbortController();
    const ended = new AbortController();
    const renewing = this.#renew(lease, lost, ended.signal);
    try {
      const work = await begin(lease, () => {
        lost.abort();
      });
      await pause(clock, null, this.#stop.signal, lost.signal);
      if (lost.signal.aborted)
        logger.warn({ lease: lease.name }, `${words.lost}: the lease of that was lost`);
      await work.stop(lost.signal.aborted ? lost.signal : AbortSignal.any([this.#deadline, lost.signal]));
    } finally {
      ended.abort();
      await renewing;
      // Nobody waits for its end then. Where it cannot be given back it ends by itself.
      if (!lost.signal.aborted) await leases.release(lease).catch(() => undefined);
    }
  }

  /** Until the work has ended or the lease is lost: by its own clock, too, where the store cannot be asked. */
  async #renew(lease: Lease, lost: AbortController, ended: AbortSignal): Promise<void> {
    const { leases, ask, words, clock } = this.#tools;
    const lose = (): void => {
      lost.abort();
    };
    let cancel = clock.after(LEASE_MS, lose);
    for (;;) {
      await pause(clock, TURN_MS, ended, lost.signal);
      if (ended.aborted || lost.signal.aborted) break;
      try {
        const renewedAt = clock.now();
        const isHeld = await ask(() => leases.renew(lease, LEASE_MS));
        cancel();
        if (isHeld) cancel = clock.after(LEASE_MS - (clock.now() - renewedAt) / 1000, lose);
        else lose();
      } catch (error) {
        this.#log.warn(0, { err: error }, `The lease of ${words.doing} was not renewed; it is tried again`);
      }
    }
    cancel();
  }
}
