import { useQueryClient } from '@tanstack/react-query';
import { useRunUpdates } from './use-run-updates.js';

/** Minimum time between reloads of aggregates. */
const EVERY_MS = 4000;

/**
 * Reloads queries when runs arrive or change.
 *
 * @param names first parts of query keys
 * @returns whether the stream is connected
 */
export function useFresh(...names: readonly string[]): boolean {
  const client = useQueryClient();
  const ask = (): void => {
    // Requests in flight are not cancelled.
    for (const name of names) void client.invalidateQueries({ queryKey: [name] }, { cancelRefetch: false });
  };
  return useRunUpdates({ onRuns: ask, onGap: ask, everyMs: EVERY_MS });
}
