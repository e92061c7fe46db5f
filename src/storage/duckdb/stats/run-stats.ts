import { RUN_KINDS } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import { AgentSums } from './agent-sums.js';
import type { StoredSums } from '../segments/cold-sums.js';
import type { AgentsOf, AgentTotals, CountedRun, RunChange, RunChanges, RunList } from './counted-run.js';
import type { Connection } from '../files/connection.js';
import { LruCache } from '../../shared/lru-cache.js';
import { MOST_STARTS, NewestStarts } from './newest-starts.js';
import { lastActivity, newestStarts, someNewestStarts } from './stored-runs.js';
import type { Read } from '../segments/read.js';
import type { Capture } from '../segments/segment.js';

/** Maximum number of cached lists, at some 4 KB each. */
const MOST_LISTS = 2000;

/**
 * Sums over the runs of every agent, kept in memory and updated with every commit, so that lists of agents and counts of runs
 * need no table reads. At the start they are loaded from sums stored next to the rows (`cold-sums.ts`). The newest starts, which
 * only some routes need, are read from the tables at their first use and follow the commits from then on.
 */
export class RunStats implements RunChanges {
  #sums = new AgentSums();
  /** The newest starts of lists, by {@link listKey}. */
  readonly #starts = new LruCache<number, NewestStarts>(MOST_LISTS);
  /** For each running load, the changes since it began, which the loaded data does not include. */
  readonly #meanwhile = new Set<RunChange[]>();
  /** Incremented when runs are removed, which makes earlier loads outdated. */
  #age = 0;

  change(before: CountedRun | null, after: CountedRun, activeAt: Micros): void {
    const change = { before, after };
    for (const changes of this.#meanwhile) changes.push(change);
    if (before !== null) this.#sums.count(before, -1);
    this.#sums.count(after, 1);
    this.#sums.noteActivity(after.agentNo, activeAt);
    this.#changeStarts(change, (run, sign) => {
      this.#sums.changeStarts(run, sign);
      for (const key of listKeys(run)) changeList(this.#starts.peek(key), run, sign);
    });
  }

  /**
   * Replaces the sums with the stored ones: at the start, and after runs were removed. The activity of agents is kept.
   *
   * @param stored as of the moment of the call; later changes are applied on top
   */
  async load(stored: Promise<ReadonlyMap<number, StoredSums>>): Promise<void> {
    const meanwhile: RunChange[] = [];
    this.#meanwhile.add(meanwhile);
    try {
      const sums = new AgentSums();
      for (const [agentNo, one] of await stored) sums.load(agentNo, one);
      for (const change of meanwhile) {
        if (change.before !== null) sums.count(change.before, -1);
        sums.count(change.after, 1);
        this.#changeStarts(change, (run, sign) => {
          sums.changeStarts(run, sign);
        });
      }
      sums.takeActivity(this.#sums);
      this.#sums = sums;
      this.#age++;
      this.#starts.clear();
    } finally {
      this.#meanwhile.delete(meanwhile);
    }
  }

  totals(agentNo: number): AgentTotals | undefined {
    return this.#sums.totals(agentNo);
  }

  /**
   * Adds the newest starts to the totals of these agents.
   *
   * @returns the starts that were read, because changes during the read may leave the totals without one
   */
  async loadNewest(read: Read, { tenant, numbers }: AgentsOf): Promise<ReadonlyMap<number, Micros>> {
    const unknown = numbers.filter((no) => {
      const totals = this.totals(no);
      return totals !== undefined && totals.runs > 0 && totals.newestStart === null;
    });
    if (unknown.length === 0) return NO_STARTS;
    const wanted = new Set(unknown);
    return await this.#load(
      read,
      (connection, capture) => newestStarts(connection, capture, { tenant, numbers: unknown }),
      (found, meanwhile) => {
        for (const [agentNo, newest] of found) this.#sums.loadNewest(agentNo, newest);
        for (const change of meanwhile) {
          this.#changeStarts(change, (run, sign) => {
            if (wanted.has(run.agentNo)) this.#sums.changeStarts(run, sign);
          });
        }
      },
    );
  }

  /**
   * The last time of any of the agent's runs; null if unknown. It never decreases: times from superseded versions of a run, from
   * another agent's name, and from runs that retention removed count until the next start. Whether an agent is silent does not
   * depend on whether its runs are kept.
   */
  activeAt(agentNo: number): Micros | null {
    return this.#sums.activeAt(agentNo);
  }

  /** Makes {@link activeAt} of these agents include the time before the start of the process. */
  async loadActivity(read: Read, agentNos: readonly number[]): Promise<void> {
    const unknown = agentNos.filter((no) => !this.#sums.hasActivity(no));
    if (unknown.length === 0) return;
    const found = await read((connection, capture) => lastActivity(connection, capture, unknown));
    for (const no of unknown) this.#sums.knowsActivity(no);
    for (const [no, at] of found) this.#sums.noteActivity(no, at);
  }

  /** The start of the `n`th newest run of a list; null if unknown. */
  nthNewest(list: RunList, n: number): Micros | null {
    return this.#starts.get(listKey(list))?.get(n) ?? null;
  }

  /** Loads a list's starts for {@link nthNewest}; does nothing if `n` is above `MOST_STARTS`. */
  async loadStarts(read: Read, list: RunList, n: number): Promise<void> {
    const key = listKey(list);
    if (n > MOST_STARTS || this.#starts.has(key)) return;
    await this.#load(
      read,
      (connection, capture) => someNewestStarts(connection, capture, list, MOST_STARTS),
      (found, meanwhile) => {
        const starts = NewestStarts.make();
        for (const start of found) starts.add(start);
        // The list is full, so others may have been left out, also with the same time as its last.
        if (found.length >= MOST_STARTS) starts.floorAt(Math.min(...found));
        for (const change of meanwhile) {
          this.#changeStarts(change, (run, sign) => {
            if (listKeys(run).includes(key)) changeList(starts, run, sign);
          });
        }
        this.#starts.put(key, starts);
      },
    );
  }

  /** Runs a query on one capture, and applies later changes on top. */
  async #load<Found>(
    read: Read,
    query: (connection: Connection, capture: Capture) => Promise<Found>,
    take: (found: Found, meanwhile: readonly RunChange[]) => void,
  ): Promise<Found> {
    return await read(async (connection, capture) => {
      // In the step in which the capture was taken.
      const meanwhile: RunChange[] = [];
      this.#meanwhile.add(meanwhile);
      const age = this.#age;
      try {
        const found = await query(connection, capture);
        if (age === this.#age) take(found, meanwhile);
        return found;
      } finally {
        this.#meanwhile.delete(meanwhile);
      }
    });
  }

  /** Reports the removed and the added start, if the change affects them. */
  #changeStarts({ before, after }: RunChange, apply: (run: CountedRun, sign: 1 | -1) => void): void {
    if (before?.agentNo === after.agentNo && before.startedAt === after.startedAt) return;
    if (before !== null) apply(before, -1);
    apply(after, 1);
  }
}

const NO_STARTS: ReadonlyMap<number, Micros> = new Map();

/** Numbers of agents are unique over all users. */
function listKey({ tenant, kind, agentNo }: RunList): number {
  if (agentNo !== undefined) return agentNo;
  return -(tenant * (RUN_KINDS.length + 1) + 1 + (kind ?? RUN_KINDS.length));
}

/** The lists that a run is in. */
function listKeys({ tenant, kind, agentNo }: CountedRun): readonly number[] {
  return [listKey({ tenant }), listKey({ tenant, kind }), agentNo];
}

function changeList(starts: NewestStarts | undefined, { startedAt }: CountedRun, sign: 1 | -1): void {
  if (sign > 0) starts?.add(startedAt);
  else starts?.remove(startedAt);
}
