import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { rawPath } from './path.js';
import { parseState, printState, type Fields, type StateOf } from './codec.js';

/** Whether going back restores the previous state. */
export type Step = 'push' | 'replace';

/**
 * Page state in the URL query.
 *
 * @param fields a stable object
 * @returns the state, and a function that changes part of it
 */
export function useUrlState<Of extends Fields>(
  fields: Of,
): readonly [StateOf<Of>, (change: Partial<StateOf<Of>>, step?: Step) => void] {
  const query = useSearch();
  const [, navigate] = useLocation();
  const state = useMemo(() => parseState(fields, query), [fields, query]);
  const change = useCallback(
    (some: Partial<StateOf<Of>>, step: Step = 'push') => {
      // Read from the URL, so that two changes in one tick do not undo each other.
      const current = parseState(fields, location.search);
      const set = new URLSearchParams(location.search);
      const printed = printState(
        fields,
        { ...current, ...some },
        (name) => some[name] !== undefined || set.has(name),
      );
      const path = rawPath();
      navigate(printed === '' ? path : `${path}?${printed}`, { replace: step === 'replace' });
    },
    [fields, navigate],
  );
  return [state, change];
}
