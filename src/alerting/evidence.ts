import type { Usd } from '../signal/money.js';
import type { Micros } from '../signal/time.js';
import type { Evidence } from '../storage/contracts/alerts.js';

/** The cost of a day, identified by its first moment. */
export interface EvidenceOfCost {
  readonly day: Micros;
  readonly cost: Usd;
}

/** Evidence of each condition at the time of a firing; null for silence. Distinguishes new data from data already alerted on. */
export type Known = readonly (Evidence | EvidenceOfCost | null)[];

/** Evidence of a rule for each telemetry store, the latest firing first. */
type KnownByStore = readonly (readonly [store: string, known: Known])[];

/** Limit of stores per rule: few daemons share rules, and removed stores drop out in time. */
const MOST_STORES = 8;

/** Evidence of a rule's last firing for a telemetry store, or null. Evidence of another store does not apply to this one. */
export function knownBy(evidence: string | null, store: string): Known | null {
  return read(evidence).find(([of]) => of === store)?.[1] ?? null;
}

/** Whether a rule's last firing came from a store's telemetry. */
export function firedBy(evidence: string | null, store: string): boolean {
  return read(evidence)[0]?.[0] === store;
}

/** The evidence of a rule that fires. @param evidence its evidence until now */
export function withFiring(evidence: string | null, store: string, known: Known): string {
  const others = read(evidence).filter(([of]) => of !== store);
  const all: KnownByStore = [[store, known], ...others.slice(0, MOST_STORES - 1)];
  return JSON.stringify(all);
}

/** Evidence in an unreadable version counts as missing. */
function read(evidence: string | null): KnownByStore {
  if (evidence === null) return [];
  try {
    const all: unknown = JSON.parse(evidence);
    return Array.isArray(all) ? (all as KnownByStore) : [];
  } catch {
    return [];
  }
}

/**
 * Moves the evidence of a rule from one telemetry store to another.
 *
 * @param seen evidence of the new store that covers all its data, including the data that the rule fired for
 */
export function movedEvidence(evidence: string, from: string, to: string, seen: Evidence): string {
  const moved = read(evidence).map(([store, known]) =>
    store === from ? [to, known.map((one) => (typeof one === 'string' ? seen : one))] : [store, known],
  );
  return JSON.stringify(moved);
}
