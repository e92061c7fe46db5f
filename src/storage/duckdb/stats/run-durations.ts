import type { DurationHistogram } from './duration-histogram.js';
import { type Quantile } from './duration-histogram.js';
import { LoadedFigures } from '../../shared/loaded-figures.js';
import type { RunChange } from './counted-run.js';
import type { SortedDurations } from './sorted-durations.js';

/** How many agents have a histogram of their durations in memory, at up to 20 KB each. */
const MOST_HISTOGRAMS = 1000;
/** How many agents have the durations around a percentile in memory, 8 bytes each: at most 512 KB an agent. */
const MOST_NEAR = 32;
const MOST_DURATIONS = 65_536;

/** What percentiles of the durations of agents' runs follow from, for the agents that were asked for last, by their numbers. */
export class RunDurations {
  readonly #histograms = new LoadedFigures<number, DurationHistogram>(MOST_HISTOGRAMS);
  readonly #near = new LoadedFigures<number, SortedDurations>(MOST_NEAR);

  change(change: RunChange): void {
    const { before, after } = change;
    this.#changeOf(after.agentNo, change);
    if (before !== null && before.agentNo !== after.agentNo) this.#changeOf(before.agentNo, change);
  }

  /** Where the 95th percentile lies; null where no run has a duration, undefined where it is not known. */
  p95(agentNo: number): Quantile | null | undefined {
    return this.#histograms.get(agentNo)?.find(0.95);
  }

  /** The two values between which a quantile lies (equal ones where it is a value); undefined where they are not known. */
  around(
    agentNo: number,
    { from, to, skip, values }: Quantile,
  ): readonly [lower: number, upper: number] | undefined {
    const near = this.#near.get(agentNo);
    if (near?.covers({ from, to }) !== true) return undefined;
    const [lower, upper] = [near.at(from, skip), near.at(from, skip + values - 1)];
    return lower === undefined || upper === undefined ? undefined : [lower, upper];
  }

  /** The agents whose {@link p95} is not known. */
  unknown(agentNos: readonly number[]): number[] {
    return agentNos.filter((no) => !this.#histograms.has(no));
  }

  /** Where {@link p95} lies, if the values there are not known yet and few enough to be kept. */
  unknownAround(agentNo: number): Quantile | null {
    const place = this.p95(agentNo);
    if (!place || place.count > MOST_DURATIONS || this.around(agentNo, place) !== undefined) return null;
    return place;
  }

  /** @param meanwhile what has changed since the tables were read */
  put(agentNo: number, histogram: DurationHistogram, meanwhile: readonly RunChange[]): void {
    for (const change of meanwhile) changeDurations(histogram, change, agentNo);
    this.#histograms.put(agentNo, histogram);
  }

  /** Likewise for the values around a percentile. */
  putAround(agentNo: number, near: SortedDurations, meanwhile: readonly RunChange[]): void {
    for (const change of meanwhile) changeDurations(near, change, agentNo);
    this.#near.put(agentNo, near);
  }

  clear(): void {
    this.#histograms.clear();
    this.#near.clear();
  }

  #changeOf(agentNo: number, change: RunChange): void {
    const histogram = this.#histograms.peek(agentNo);
    if (histogram !== undefined) changeDurations(histogram, change, agentNo);
    const near = this.#near.peek(agentNo);
    if (near === undefined) return;
    changeDurations(near, change, agentNo);
    if (near.length > MOST_DURATIONS) this.#near.delete(agentNo);
  }
}

function changeDurations(
  durations: DurationHistogram | SortedDurations,
  { before, after }: RunChange,
  agentNo: number,
): void {
  if (before?.agentNo === agentNo && before.durationMs !== null) durations.add(before.durationMs, -1);
  if (after.agentNo === agentNo && after.durationMs !== null) durations.add(after.durationMs, 1);
}
