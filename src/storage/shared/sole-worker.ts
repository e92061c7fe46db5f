import type { Clock, Logger } from '../../component/telemetry.js';
import { pause } from '../../telemetry/pause.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { HeldLease } from './held-lease.js';
import type { Lease, Leases } from '../contracts/coordination.js';

/** Duration of the lease, and how often a waiting process tries to take it. */
const LEASE_MS = 15_000;
const TURN_MS = 5000;

/** Work that runs while the lease is held. */
interface Work {
  /** Stops the work: work in progress is finished until the deadline. */
  stop(deadline: AbortSignal): Promise<void>;
}

/** Texts for log lines about the work. */
interface WorkWords {
  /** Follows `which process`: `evaluates alerts`. */
  readonly does: string;
  /** `evaluating alerts` */
  readonly doing: string;
  /** A sentence without its end: `This daemon no longer evaluates alerts`. */
  readonly lost: string;
}

export interface SoleWorkerTools {
  readonly leases: Leases;
  /** The name of the lease. */
  readonly name: string;
  /** Identifies the process, unique over time. */
  readonly owner: string;
  /** Starts the work. @param onLost must be called if another process turns out to have taken the lease */
  readonly begin: (lease: Lease, onLost: () => void) => Promise<Work>;
  /** Calls the control store, and records whether it responds. */
  readonly ask: <Answer>(question: () => Promise<Answer>) => Promise<Answer>;
  readonly words: WorkWords;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Runs work in one of the processes that share a control store; another process takes over when it stops, or does not renew its lease. A
 * process that loses the lease aborts the work and waits for the lease again.
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

  /** Stops the work and releases the lease. */
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
      let failed = `Could not determine which process ${words.does}; retrying`;
      try {
        const held = await HeldLease.take(hold, name, owner);
        failed = `Could not start or stop ${words.doing}; retrying`;
        if (held !== null) await this.#work(held);
      } catch (error) {
        this.#log.warn(0, { err: error }, failed);
      }
      await pause(clock, TURN_MS, this.#stop.signal);
    }
  }

  /** Resolves when the lease is lost or released. */
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
