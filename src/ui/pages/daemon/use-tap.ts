import { useRef, useState } from 'react';
import type { FlowEdge } from '../../graph/flow.js';
import { arrived, letIn, NO_TAIL, withLoss, type Tail } from '../../live/tail.js';
import { useStream } from '../../live/use-stream.js';
import { readTapped, type Tapped } from './tapped.js';

const MOST_SHOWN = 50;

/** Looks at what passes an edge as long as the component is there. @param isReading nothing moves meanwhile */
export function useTap({ pipeline, from, to }: FlowEdge, isReading: boolean) {
  const [tail, setTail] = useState<Tail<Tapped>>(NO_TAIL);
  const came = useRef(0);
  const isLive = useStream(
    `tap ${JSON.stringify([pipeline, from, to])}`,
    () => 'tap',
    ['tap', 'lost'],
    (event, data) => {
      if (event === 'lost') setTail((before) => withLoss(before, data['count'] as number | null));
      else {
        came.current += 1;
        const item = readTapped(data, String(came.current));
        setTail((before) => arrived(before, [item], isReading, MOST_SHOWN));
      }
    },
    { pipeline, from: `${from.kind}:${from.id}`, to: `${to.kind}:${to.id}` },
  );
  return {
    tail,
    isLive,
    letIn: () => {
      setTail(letIn);
    },
  };
}
