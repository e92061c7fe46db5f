import { useLocation } from 'wouter';
import { neighboursOf } from '../../state/run-list.js';
import { useShortcuts } from '../../state/shortcuts.js';

/** The runs beside one in the list that it was opened from. @param id of the run */
export function useNeighbours(id: string) {
  const [, navigate] = useLocation();
  const go = (to: string | undefined) => (): void => {
    if (to !== undefined) navigate(`/traces/${to}`);
  };
  return { ...neighboursOf(id), go };
}

/** `[` and `]`, which work while a run is still loading as well. */
export function useNeighbourKeys(id: string): void {
  const { before, after, go } = useNeighbours(id);
  useShortcuts({ '[': go(before), ']': go(after) });
}
