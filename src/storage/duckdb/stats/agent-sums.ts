import { doubleAt, itemAt } from '../../../signal/checked.js';
import { sumToNumber } from '../../../signal/money.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import { NewestStarts } from './newest-starts.js';
import { COST_UNITS, type StoredSums } from '../segments/cold-sums.js';
import type { AgentTotals, CountedRun } from './counted-run.js';

const [STATUSES, COLUMNS] = [1, 1 + RUN_STATUSES.length];
/** The places within an agent's sums: all runs, those of each status, and so on. */
const SUCCESSES = COLUMNS;
const FAILURES = COLUMNS + 1;
const PRICED = COLUMNS + 2;
/** Costs are kept in two parts, because a single sum could exceed the exact integers. */
const WHOLE = COLUMNS + 3;
const REST = COLUMNS + 4;
const ACTIVE_AT = COLUMNS + 5;
const FLAGS = COLUMNS + 6;
const STARTS = COLUMNS + 7;
/** The start of a running run may still change, so keeping only the newest start would soon leave it unknown. */
const KEPT_STARTS = 8;
const PLACES = STARTS + NewestStarts.placesFor(KEPT_STARTS);

const IN_USE = 1;
const KNOWS_ACTIVITY = 2;

const UNITS = BigInt(COST_UNITS);

/** The sums of every agent, by its number, 200 bytes each. */
export class AgentSums {
  #numbers = new Float64Array(0);

  /** Adds a run to the sums, except its start. @param sign -1 to subtract it */
  count(run: CountedRun, sign: 1 | -1): void {
    const at = this.#at(run.agentNo);
    this.#add(at, sign);
    this.#add(at + STATUSES + run.status, sign);
    if (run.success === true) this.#add(at + SUCCESSES, sign);
    else if (run.success === false) this.#add(at + FAILURES, sign);
    if (run.cost !== null) {
      const whole = Math.floor(run.cost / COST_UNITS);
      this.#add(at + PRICED, sign);
      this.#addCost(at, sign * whole, sign * (run.cost - whole * COST_UNITS));
    }
  }

  /** Replaces the sums of an agent with the stored ones. Its newest start is then unknown. */
  load(agentNo: number, sums: StoredSums): void {
    const at = this.#at(agentNo);
    for (let i = 0; i < WHOLE; i++) this.#numbers[at + i] = itemAt(sums, i);
    this.#numbers[at + WHOLE] = 0;
    this.#numbers[at + REST] = 0;
    this.#addCost(at, itemAt(sums, WHOLE), itemAt(sums, REST));
    this.#starts(at).clear(sums[0] === 0 ? -Infinity : Infinity);
  }

  /** Copies the activity of agents from other sums. */
  takeActivity(before: AgentSums): void {
    const places = before.#numbers;
    for (let at = 0; at < places.length; at += PLACES) {
      if ((doubleAt(places, at + FLAGS) & IN_USE) === 0) continue;
      const to = this.#at(at / PLACES);
      this.#numbers[to + ACTIVE_AT] = doubleAt(places, at + ACTIVE_AT);
      this.#numbers[to + FLAGS] = doubleAt(places, at + FLAGS);
    }
  }

  /** Sets the newest start of an agent's stored runs. */
  loadNewest(agentNo: number, newest: Micros): void {
    const starts = this.#starts(this.#at(agentNo));
    starts.clear(-Infinity);
    starts.add(newest);
    // Other stored runs may have the same start.
    starts.floorAt(newest);
  }

  changeStarts({ agentNo, startedAt }: CountedRun, sign: 1 | -1): void {
    const starts = this.#starts(this.#at(agentNo));
    if (sign > 0) starts.add(startedAt);
    else starts.remove(startedAt);
  }

  noteActivity(agentNo: number, activeAt: Micros): void {
    const at = this.#at(agentNo) + ACTIVE_AT;
    this.#numbers[at] = Math.max(doubleAt(this.#numbers, at), activeAt);
  }

  /** Marks {@link activeAt} of this agent as including the time before the process started. */
  knowsActivity(agentNo: number): void {
    const at = this.#at(agentNo) + FLAGS;
    this.#numbers[at] = doubleAt(this.#numbers, at) | KNOWS_ACTIVITY;
  }

  hasActivity(agentNo: number): boolean {
    return (this.#flags(agentNo) & KNOWS_ACTIVITY) !== 0;
  }

  activeAt(agentNo: number): Micros | null {
    const at = this.#numbers[agentNo * PLACES + ACTIVE_AT] ?? -Infinity;
    return this.#isInUse(agentNo) && at > -Infinity ? at : null;
  }

  totals(agentNo: number): AgentTotals | undefined {
    if (!this.#isInUse(agentNo)) return undefined;
    const at = agentNo * PLACES;
    const number = (place: number): number => doubleAt(this.#numbers, at + place);
    return {
      runs: number(0),
      byStatus: RUN_STATUSES.map((_, status) => number(STATUSES + status)),
      successes: number(SUCCESSES),
      failures: number(FAILURES),
      pricedRuns: number(PRICED),
      cost: number(PRICED) === 0 ? null : sumToNumber(BigInt(number(WHOLE)) * UNITS + BigInt(number(REST))),
      newestStart: this.#starts(at).get(1),
    };
  }

  #isInUse(agentNo: number): boolean {
    return (this.#flags(agentNo) & IN_USE) !== 0;
  }

  /** 0 for an agent without sums. */
  #flags(agentNo: number): number {
    return this.#numbers[agentNo * PLACES + FLAGS] ?? 0;
  }

  #starts(at: number): NewestStarts {
    return new NewestStarts(this.#numbers.subarray(at + STARTS, at + PLACES));
  }

  #add(at: number, value: number): void {
    this.#numbers[at] = doubleAt(this.#numbers, at) + value;
  }

  #addCost(at: number, whole: number, rest: number): void {
    const sum = doubleAt(this.#numbers, at + REST) + rest;
    const carried = Math.floor(sum / COST_UNITS);
    this.#numbers[at + REST] = sum - carried * COST_UNITS;
    this.#add(at + WHOLE, whole + carried);
  }

  /** The offset of an agent's numbers; added if missing. */
  #at(agentNo: number): number {
    const at = agentNo * PLACES;
    if (at + PLACES > this.#numbers.length) {
      const grown = new Float64Array(Math.ceil(((agentNo + 16) * 5) / 4) * PLACES);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    if (!this.#isInUse(agentNo)) {
      this.#numbers[at + FLAGS] = IN_USE;
      this.#numbers[at + ACTIVE_AT] = -Infinity;
      this.#starts(at).clear(-Infinity);
    }
    return at;
  }
}
