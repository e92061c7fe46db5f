import { useQueryClient } from '@tanstack/react-query';
import { useRunNews } from './use-run-news.js';

/** Figures over many runs are asked for again at most so often. */
const EVERY_MS = 4000;

/** Asks again for what is shown when runs come or change. @param names first parts of the keys of queries @returns whether that is told */
export function useFresh(...names: readonly string[]): boolean {
  const client = useQueryClient();
  const ask = (): void => {
    // An answer that is on its way is let arrive.
    for (const name of names) void client.invalidateQueries({ queryKey: [name] }, { cancelRefetch: false });
  };
  return useRunNews({ onRuns: ask, onGap: ask, everyMs: EVERY_MS });
}
