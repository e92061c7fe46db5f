import type { Clock, Logger } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { HeldLease } from './held-lease.js';
import type { Lease, Leases } from '../contracts/coordination.js';

/** How long the lease holds, and how often it is asked for while somebody else has it. */
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
    const { leases, name, owner, ask, words, clock } = this.#tools;
    const hold = {
      ...{ leases, ms: LEASE_MS, clock, ask },
      failed: (error: unknown) => {
        this.#log.warn(0, { err: error }, `Could not renew the lease of ${words.doing}; retrying`);
      },
    };
    while (!this.#stop.signal.aborted) {
      try {
        const held = await HeldLease.take(hold, name, owner);
        if (held !== null) await this.#work(held);
      } catch (error) {
        this.#log.warn(0, { err: error }, `Could not read who ${words.does}; retrying`);
      }
      await pause(clock, TURN_MS, this.#stop.signal);
    }
  }

  /** Resolves when the lease is lost or given back. */
  async #work(held: HeldLease): Promise<void> {
    const { begin, words, clock, logger } = this.#tools;
    try {
      const work = await begin(held.lease, () => {
        held.lose();
      });
      await pause(clock, null, this.#stop.signal, held.lost);
      if (held.lost.aborted) logger.warn({ lease: held.lease.name }, `${words.lost}: lost the lease`);
      await work.stop(held.lost.aborted ? held.lost : AbortSignal.any([this.#deadline, held.lost]));
    } finally {
      await held.release();
    }
  }
}
