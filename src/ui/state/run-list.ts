import { useEffect } from 'react';

const KEY = 'jackdaw.runs';

/** Remembers, for this tab, the list that runs are opened from. @param ids of the runs, in the order of the list */
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

/** The runs before and after one in the list that was looked at last; none where it is not in it. */
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
