interface Signals {
  readonly success_count: number;
  readonly failure_count: number;
}

/** Runs with `success` true among those that have a success signal, 0 to 1; null where none has one. */
export function successRate({ success_count, failure_count }: Signals): number | null {
  const signals = success_count + failure_count;
  return signals === 0 ? null : success_count / signals;
}

/** The same on a scale of 0 to 100 with one decimal. */
export function successPercentage(signals: Signals): number | null {
  const rate = successRate(signals);
  return rate === null ? null : Math.round(rate * 1000) / 10;
}
