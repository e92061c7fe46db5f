import { useEffect } from 'react';

const KEY = 'jackdaw.runs';

/** Remembers, per tab, the list that runs are opened from. @param ids of the runs in list order */
export function useRunList(ids: readonly string[]): void {
  const list = ids.join(' ');
  useEffect(() => {
    try {
      sessionStorage.setItem(KEY, list);
    } catch {
      // Without storage a run has no neighbours.
    }
  }, [list]);
}

/** The previous and next run in the last list; none if the run is not in it. */
export function neighboursOf(id: string): {
  readonly before: string | undefined;
  readonly after: string | undefined;
} {
  let ids: readonly string[] = [];
  try {
    ids = (sessionStorage.getItem(KEY) ?? '').split(' ');
  } catch {
    // See above.
  }
  const at = ids.indexOf(id);
  return { before: at < 0 ? undefined : ids[at - 1], after: at < 0 ? undefined : ids[at + 1] };
}
