import type { AgentProfile } from './profile.js';
import { PROFILES } from './profiles.js';
import { Random } from './random.js';
import { momentOfDay, runsOfDay } from './rhythm.js';
import { finishRun, type FinishedRun, type PlannedRun } from './run.js';
import { MS_PER_DAY } from '../../signal/time-units.js';

export interface HistoryOptions {
  readonly seed: string;
  /** The moment up to which runs have ended, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** UTC days, the last one (which `untilMs` cuts short) included. */
  readonly days: number;
  /** On an average day. */
  readonly runsPerDay: number;
  readonly profiles?: readonly AgentProfile[];
}

/**
 * The runs of some days, in the order of their start. Run number n of a day depends on the seed, the day and n alone: the same
 * history asked for again, later, for more days or with more runs a day holds the same runs with the same ids.
 */
export function* history(options: HistoryOptions): Generator<FinishedRun> {
  const today = Math.floor(options.untilMs / MS_PER_DAY);
  for (let day = today - options.days + 1; day <= today; day += 1) {
    for (const plan of planDay(options, day)) {
      if (plan.startMs >= options.untilMs) break;
      const run = finishRun(options.seed, plan);
      if (run.endMs <= options.untilMs) yield run;
    }
  }
}

/** How many runs {@link history} plans for, those that a day cut short leaves out included. */
export function plannedRuns(options: HistoryOptions): number {
  const today = Math.floor(options.untilMs / MS_PER_DAY);
  let runs = 0;
  for (let day = today - options.days + 1; day <= today; day += 1) {
    runs += runsOfDay(day * MS_PER_DAY, options.runsPerDay);
  }
  return runs;
}

function planDay(options: HistoryOptions, day: number): PlannedRun[] {
  const count = runsOfDay(day * MS_PER_DAY, options.runsPerDay);
  const plans = Array.from({ length: count }, (_, number): PlannedRun => {
    const key = `${day}/${number}`;
    const random = new Random(`${options.seed}/plan/${key}`);
    const profile = random.weighted(options.profiles ?? PROFILES, (candidate) => candidate.weight);
    return { key, profile, startMs: day * MS_PER_DAY + momentOfDay(random, profile.rhythm) };
  });
  return plans.sort((a, b) => a.startMs - b.startMs);
}
