import { HourSums } from '../signal/hour-sums.js';
import { countTrace, hourOf } from '../signal/trace-map.js';
import type { RunState } from './run-state.js';
import { FewSpans } from './spans/few-spans.js';
import { ManySpans } from './spans/many-spans.js';
import type { MapTally } from './spans/map-tally.js';
import type { MapAgent } from './spans/run-sums.js';

/** Sums the contributions of runs to the service map. */
export interface MapSums {
  /** The number of an agent's node. */
  nodeOf(agent: string): number;
  /** @param sign whether the sums are added in that hour, or taken away */
  add(hour: number, sums: HourSums, sign: 1 | -1): void;
}

/** The agent and hour under which a run with many spans counts. */
interface Counting {
  readonly tally: MapTally;
  readonly agent: MapAgent;
  readonly hour: number;
}

/** Changes of a commit to the contributions of stored runs to the service map. */
export class MapContributions {
  /** How runs with many spans counted before the commit. */
  readonly #before = new Map<RunState, Counting>();

  /** Subtracts a run's contribution before the run changes; {@link put} adds the new one. */
  take(state: RunState, map: MapSums): void {
    if (!state.isMapped) return;
    if (state.spans instanceof ManySpans) this.#before.set(state, countingOf(state, state.spans, map));
    else addFew(state, map, -1);
  }

  /** Adds a run's contribution after it changed. */
  put(state: RunState, map: MapSums): void {
    const before = this.#before.get(state);
    // The run has more spans than the limit and no longer counts.
    if (!state.isMapped) {
      if (before !== undefined) takeAway(before, map);
    } else if (state.spans instanceof ManySpans) putMany(before, countingOf(state, state.spans, map), map);
    else addFew(state, map, 1);
  }

  /** Call it after the commit, whether it succeeded or failed. */
  clear(): void {
    this.#before.clear();
  }
}

/** Adds only the difference if hour and agent are unchanged. */
function putMany(before: Counting | undefined, now: Counting, map: MapSums): void {
  if (before !== undefined && isSame(before, now)) map.add(now.hour, now.tally.changes(now.agent), 1);
  else {
    if (before !== undefined) takeAway(before, map);
    map.add(now.hour, now.tally.total(now.agent), 1);
  }
  now.tally.settled();
}

function addFew({ agent, header, spans }: RunState, map: MapSums, sign: 1 | -1): void {
  if (!(spans instanceof FewSpans)) return;
  const sums = new HourSums();
  countTrace(map.nodeOf(agent), spans.all(), sums);
  map.add(hourOf(header.started_at), sums, sign);
}

function takeAway({ tally, agent, hour }: Counting, map: MapSums): void {
  map.add(hour, tally.before(agent), -1);
}

function countingOf({ agent, header }: RunState, { map: tally }: ManySpans, map: MapSums): Counting {
  return {
    tally,
    agent: { node: map.nodeOf(agent), hasSpan: tally.hasAgentSpan },
    hour: hourOf(header.started_at),
  };
}

function isSame(a: Counting, b: Counting): boolean {
  return (
    a.tally === b.tally &&
    a.hour === b.hour &&
    a.agent.node === b.agent.node &&
    a.agent.hasSpan === b.agent.hasSpan
  );
}
