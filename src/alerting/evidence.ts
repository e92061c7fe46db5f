import type { Usd } from '../signal/money.js';
import type { Micros } from '../signal/time.js';
import type { Evidence } from '../storage/contracts/alerts.js';

/** What was spent on a day, given by its first moment. */
export interface EvidenceOfCost {
  readonly day: Micros;
  readonly cost: Usd;
}

/**
 * What conditions looked at when their alert fired, one entry for each; null for silence. It tells what is new from what is
 * known.
 */
export type Known = readonly (Evidence | EvidenceOfCost | null)[];

/** What a rule fired for by each store's telemetry, the last firing first. */
type KnownByStore = readonly (readonly [store: string, known: Known])[];

/** Few daemons share rules and have telemetry of their own; stores that are gone are forgotten in time. */
const MOST_STORES = 8;

/**
 * What a rule last fired for by a store's telemetry; null for nothing, since evidence of another store says nothing about this
 * one.
 */
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

/** Evidence of another version that this one cannot read counts as none. */
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
 * The evidence of a rule whose store of telemetry was moved to another one.
 *
 * @param seen evidence of the other one, of all that it holds: what the rule fired for is among that
 */
export function movedEvidence(evidence: string, from: string, to: string, seen: Evidence): string {
  const moved = read(evidence).map(([store, known]) =>
    store === from ? [to, known.map((one) => (typeof one === 'string' ? seen : one))] : [store, known],
  );
  return JSON.stringify(moved);
}
