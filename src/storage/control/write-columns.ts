import type { Charge, TouchedTrace } from '../write-book.js';

/** A user with its traces that follow each other. */
type TracesOfUser = [tenant: number, ...traceIds: string[]];
type WrittenCharge = [tenant: number, at: number, items: number, isExact: boolean, limit: number | null];

/** Traces as a text, some 39 bytes each, in their order. */
export function writeTraces(traces: readonly TouchedTrace[]): string {
  const users: TracesOfUser[] = [];
  for (const { tenant, traceId } of traces) {
    const last = users.at(-1);
    if (last?.[0] === tenant) last.push(traceId);
    else users.push([tenant, traceId]);
  }
  return JSON.stringify(users);
}

/** What {@link writeTraces} was given. */
export function readTraces(text: string): readonly TouchedTrace[] {
  const users = JSON.parse(text) as readonly TracesOfUser[];
  return users.flatMap(([tenant, ...traceIds]) => traceIds.map((traceId) => ({ tenant, traceId })));
}

/** Charges as a text. */
export function writeCharges(charges: readonly Charge[]): string {
  return JSON.stringify(
    charges.map(({ tenant, at, items, isExact, limit }): WrittenCharge => [
      tenant,
      at,
      items,
      isExact,
      limit,
    ]),
  );
}

/** What {@link writeCharges} was given. */
export function readCharges(text: string): readonly Charge[] {
  const charges = JSON.parse(text) as readonly WrittenCharge[];
  return charges.map(([tenant, at, items, isExact, limit]) => ({ tenant, at, items, isExact, limit }));
}
