import { useEffect, useRef } from 'react';
import type { Schemas } from '../api/client.js';
import { useStream } from './use-stream.js';

export type ToldRun = Schemas['Run'] & Pick<Schemas['ListedRun'], 'agent_id'>;

const TOLD = ['run', 'lost', 'open'];
/** Runs that are gathered at most; of more the list is read again. */
const MOST = 1000;

interface Options {
  /** Takes the runs that came or changed, each once, as it is now. */
  readonly onRuns: (runs: readonly ToldRun[]) => void;
  /** Something may have been missed: it is to be read again. */
  readonly onGap: () => void;
  /** What comes within this time is told together, and a gap at its end. */
  readonly everyMs: number;
}

/** Tells of runs that come and change, gathered. @returns whether they are told */
export function useRunNews({ onRuns, onGap, everyMs }: Options): boolean {
  const gathered = useRef(new Map<string, ToldRun>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isGap = useRef(false);
  const hand = useRef<() => void>(undefined);
  useEffect(() => {
    hand.current = () => {
      const runs = [...gathered.current.values()];
      gathered.current.clear();
      timer.current = undefined;
      const isTooMany = runs.length >= MOST;
      if (runs.length > 0 && !isTooMany) onRuns(runs);
      if (isGap.current || isTooMany) onGap();
      isGap.current = false;
    };
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return useStream(
    'runs',
    () => 'runs',
    TOLD,
    (event, data) => {
      if (event === 'run') {
        const run = data as unknown as ToldRun;
        if (gathered.current.size < MOST) gathered.current.set(run.trace_id, run);
      } else {
        // At the first `open`, too: what came between the answer that is shown and the stream was told to nobody.
        isGap.current = true;
      }
      timer.current ??= setTimeout(() => hand.current?.(), everyMs);
    },
  );
}
