import { HourSums } from '../signal/hour-sums.js';
import { countTrace, hourOf } from '../signal/trace-map.js';
import type { RunState } from './run-state.js';
import { FollowedSpans } from './spans/followed-spans.js';

/** What a run adds to the service map, and in which hour. Null if it does not count there. */
export function mapContribution(
  { agent, header, isMapped, spans }: RunState,
  /** The number of an agent's node. */
  nodeOf: (agent: string) => number,
): { readonly hour: number; readonly sums: HourSums } | null {
  if (!isMapped || !(spans instanceof FollowedSpans)) return null;
  const sums = new HourSums();
  countTrace(nodeOf(agent), spans.all(), sums);
  return { hour: hourOf(header.started_at), sums };
}
