import type { RunBody } from './body.js';
import { LiveRun } from './live-run.js';
import { PROFILES } from './profiles.js';
import { Random } from './random.js';
import { finishRun } from './run.js';

export interface LiveOptions {
  readonly seed: string;
  /** When the traffic begins, in milliseconds since the epoch: part of the ids, so that every session has its own. */
  readonly startMs: number;
  readonly runsPerMinute: number;
}

/** Runs that begin at random moments, so many a minute on average, each reported while it happens. */
export class LiveTraffic {
  readonly #options: LiveOptions;
  readonly #random: Random;
  #open: LiveRun[] = [];
  #nextStartMs: number;
  #started = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#random = new Random(`${options.seed}/live/${options.startMs}`);
    this.#nextStartMs = options.startMs;
  }

  /** Runs that have begun so far. */
  get started(): number {
    return this.#started;
  }

  /** Runs that have begun and not ended. */
  get underWay(): number {
    return this.#open.length;
  }

  /** All that has happened since the last call. */
  news(nowMs: number): RunBody[] {
    while (this.#nextStartMs <= nowMs) this.#begin();
    return this.#report((run) => run.news(nowMs));
  }

  /** Ends all runs that are under way. */
  cancel(nowMs: number): RunBody[] {
    return this.#report((run) => run.cancel(nowMs));
  }

  #begin(): void {
    const { seed, startMs, runsPerMinute } = this.#options;
    const plan = {
      key: `live/${startMs}/${this.#started}`,
      profile: this.#random.weighted(PROFILES, (profile) => profile.weight),
      startMs: this.#nextStartMs,
    };
    this.#open.push(new LiveRun(finishRun(seed, plan)));
    this.#started += 1;
    // Exponential pauses: starts that know nothing of each other.
    const pauseMs = (-Math.log(1 - this.#random.unit()) * 60_000) / runsPerMinute;
    this.#nextStartMs += Math.max(1, Math.round(pauseMs));
  }

  #report(what: (run: LiveRun) => RunBody | undefined): RunBody[] {
    const bodies = this.#open.flatMap((run) => what(run) ?? []);
    this.#open = this.#open.filter((run) => !run.isOver);
    return bodies;
  }
}
