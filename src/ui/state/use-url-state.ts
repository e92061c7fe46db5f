import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { rawPath } from './path.js';
import { parseState, printState, type Fields, type StateOf } from './codec.js';

/** Whether going back leads to the state before. */
export type Step = 'push' | 'replace';

/**
 * The state of the page, which is the query of its URL.
 *
 * @param fields the same object at each call
 * @returns the state, and what changes some of it
 */
export function useUrlState<Of extends Fields>(
  fields: Of,
): readonly [StateOf<Of>, (change: Partial<StateOf<Of>>, step?: Step) => void] {
  const query = useSearch();
  const [, navigate] = useLocation();
  const state = useMemo(() => parseState(fields, query), [fields, query]);
  const change = useCallback(
    (some: Partial<StateOf<Of>>, step: Step = 'push') => {
      // What the URL says now: two changes of one moment must not undo each other.
      const current = parseState(fields, location.search);
      const printed = printState(fields, { ...current, ...some });
      const path = rawPath();
      navigate(printed === '' ? path : `${path}?${printed}`, { replace: step === 'replace' });
    },
    [fields, navigate],
  );
  return [state, change];
}
