import { useLocation } from 'wouter';
import { neighboursOf } from '../../state/run-list.js';
import { useShortcuts } from '../../state/shortcuts.js';

/** The previous and next run in the list it was opened from. @param id of the run */
export function useNeighbours(id: string) {
  const [, navigate] = useLocation();
  const go = (to: string | undefined) => (): void => {
    if (to !== undefined) navigate(`/traces/${to}`);
  };
  return { ...neighboursOf(id), go };
}

/** `[` and `]`, also while a run is loading. */
export function useNeighbourKeys(id: string, isWanted: boolean): void {
  const { before, after, go } = useNeighbours(id);
  useShortcuts(isWanted ? { '[': go(before), ']': go(after) } : {});
}
