import { useEffect, useRef } from 'react';
import type { Schemas } from '../api/client.js';
import { useStream } from './use-stream.js';

export type RunEvent = Schemas['Run'] & Pick<Schemas['ListedRun'], 'agent_id'>;

const EVENTS = ['run', 'lost', 'open'];
/** Limit of collected runs; beyond it the list is reloaded. */
const LIMIT = 1000;

interface Options {
  /** Called with new and changed runs, each once in its latest state. */
  readonly onRuns: (runs: readonly RunEvent[]) => void;
  /** Called if events may be missing and a reload is needed. */
  readonly onGap: () => void;
  /** Events within this time are delivered together, followed by a gap if there was one. */
  readonly everyMs: number;
}

/** Collects new and changed runs from the stream. @returns whether the stream is connected */
export function useRunUpdates({ onRuns, onGap, everyMs }: Options): boolean {
  const collected = useRef(new Map<string, RunEvent>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isGap = useRef(false);
  const hand = useRef<() => void>(undefined);
  useEffect(() => {
    hand.current = () => {
      const runs = [...collected.current.values()];
      collected.current.clear();
      timer.current = undefined;
      const isTooMany = runs.length >= LIMIT;
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
    EVENTS,
    (event, data) => {
      if (event === 'run') {
        const run = data as unknown as RunEvent;
        if (collected.current.size < LIMIT) collected.current.set(run.trace_id, run);
      } else {
        // Also on the first `open`: events between the response and the stream were not delivered.
        isGap.current = true;
      }
      timer.current ??= setTimeout(() => hand.current?.(), everyMs);
    },
  );
}
