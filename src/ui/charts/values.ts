type Value = number | null | undefined;

function isThere(value: Value): value is number {
  return value !== null && value !== undefined;
}

/** @returns the places of values without neighbours, to which no line leads: they are drawn as points */
export function lonely(values: readonly (number | null)[]): number[] {
  return [...values.keys()].filter(
    (at) => isThere(values[at]) && !isThere(values[at - 1]) && !isThere(values[at + 1]),
  );
}

/** From zero, unless something is below it, with room above; never without a height. */
export function valueRange(
  least: number | null,
  most: number | null,
  threshold: number | undefined,
): [number, number] {
  const low = Math.min(0, least ?? 0, threshold ?? 0);
  const high = Math.max(0, most ?? 0, threshold ?? 0);
  const room = (high - low) * 0.08;
  return high === low ? [0, 1] : [low < 0 ? low - room : 0, high > 0 ? high + room : 0];
}
