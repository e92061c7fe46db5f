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
/** Narrow screens start with a part of the graph at a readable zoom. */
const [READABLE, FARTHEST] = [0.5, 0.1];

/** A graph that fits its container and can be panned and zoomed. Actions are buttons in nodes and edges. */
export function Picture<Shown extends Node, Line extends Edge>({
  label,
  places,
  near,
  isTall = false,
  ...flow
}: {
  /** Accessible name, which also says where the same data is available as text. */
  readonly label: string;
  /** Node positions by id; a new map is laid out as a new graph. */
  readonly places: ReadonlyMap<string, Place>;
  /** Node to centre on if only a part fits. */
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

/** Fits the graph again after the container changed its width, or when a single visible node changes. */
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

/** Shown instead of a graph. */
export function NotDrawn() {
  return (
    <Empty title="The graph could not be drawn">
      <p>The browser could not compute the layout. The table shows the same data.</p>
    </Empty>
  );
}

/** Whether the screen is narrow. */
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
