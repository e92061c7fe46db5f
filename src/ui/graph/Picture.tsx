import '@xyflow/react/dist/base.css';
import {
  Background,
  Controls,
  ReactFlow,
  useReactFlow,
  useStore,
  type Edge,
  type FitViewOptions,
  type Node,
  type ReactFlowProps,
} from '@xyflow/react';
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { cx } from '../parts/cx.js';
import { Empty } from '../parts/states.js';
import type { Place } from './layout.js';
import styles from './Picture.module.css';

const NARROW = '(max-width: 640px)';
/** Where there is little room one begins with a part, whose names can be read. */
const [READABLE, FARTHEST] = [0.5, 0.1];

/** A graph as a picture, which fits into its room and can be moved. What can be done in it is done with buttons in nodes and edges. */
export function Picture<Shown extends Node, Line extends Edge>({
  label,
  places,
  near,
  isTall = false,
  ...flow
}: {
  /** What it shows, and where else that can be read. */
  readonly label: string;
  /** Where nodes lie, by their ids: other places are another picture. */
  readonly places: ReadonlyMap<string, Place>;
  /** A node that is looked at: where there is room for a part only, it is the one around it. */
  readonly near: string | undefined;
  readonly isTall?: boolean;
} & Pick<ReactFlowProps<Shown, Line>, 'nodes' | 'edges' | 'nodeTypes' | 'edgeTypes'>) {
  const isNarrow = useIsNarrow();
  const fit = useMemo(
    () => ({
      padding: 0.06,
      maxZoom: 1,
      minZoom: isNarrow ? READABLE : FARTHEST,
      ...(isNarrow && near !== undefined ? { nodes: [{ id: near }] } : {}),
    }),
    [isNarrow, near],
  );
  return (
    <div className={cx(styles['graph'], isTall && styles['tall'])} role="region" aria-label={label}>
      <ReactFlow<Shown, Line>
        key={`${String(isNarrow)} ${[...places.keys()].join('\n')}`}
        {...flow}
        fitView
        fitViewOptions={fit}
        minZoom={FARTHEST}
        maxZoom={2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
      >
        <Refit fit={fit} near={isNarrow ? near : undefined} />
        <Background gap={24} color="var(--line)" />
        <Controls position="bottom-right" showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

/** Fits anew where the room has another width, since a panel opened beside it or was closed, and where it has room for one node only, and that is another. */
function Refit({ fit, near }: { readonly fit: FitViewOptions; readonly near: string | undefined }) {
  const { fitView } = useReactFlow();
  const width = useStore((flow) => flow.width);
  const current = useRef(fit);
  useEffect(() => {
    current.current = fit;
  });
  useEffect(() => {
    const frame = requestAnimationFrame(() => void fitView(current.current));
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [fitView, width, near]);
  return null;
}

/** In place of a picture. */
export function NotDrawn() {
  return (
    <Empty title="The graph could not be drawn">
      <p>The browser could not compute the layout. The table shows the same data.</p>
    </Empty>
  );
}

/** Whether there is little room for a picture. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(NARROW);
      media.addEventListener('change', changed);
      return () => {
        media.removeEventListener('change', changed);
      };
    },
    () => matchMedia(NARROW).matches,
  );
}
