import '@xyflow/react/dist/base.css';
import {
  Background,
  Controls,
  getViewportForBounds,
  ReactFlow,
  useReactFlow,
  useStore,
  type Edge,
  type FitViewOptions,
  type Node,
  type ReactFlowProps,
} from '@xyflow/react';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { cx } from '../parts/cx.js';
import { Empty } from '../parts/states.js';
import type { Place } from './layout.js';
import styles from './Picture.module.css';

const NARROW = '(max-width: 640px)';
/** Below this zoom, labels have less than 10 px: a larger graph starts with a part. */
const [READABLE, FARTHEST] = [0.85, 0.1];
const PADDING = 0.06;
/** Around a graph that does not fit. */
const MARGIN = 24;
const WHOLE: FitViewOptions = { padding: PADDING, maxZoom: 1, minZoom: FARTHEST };

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
  /** Node to centre on if only a part fits; by default the first one. */
  readonly near: string | undefined;
  readonly isTall?: boolean;
} & Pick<ReactFlowProps<Shown, Line>, 'nodes' | 'edges' | 'nodeTypes' | 'edgeTypes'>) {
  const isNarrow = useIsNarrow();
  return (
    <div className={cx(styles['graph'], isTall && styles['tall'])} role="region" aria-label={label}>
      <ReactFlow<Shown, Line>
        key={`${String(isNarrow)} ${[...places.keys()].join('\n')}`}
        {...flow}
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
        <Start near={near} isNarrow={isNarrow} />
        <Background gap={24} color="var(--line)" />
        <Controls position="bottom-right" showInteractive={false} fitViewOptions={WHOLE} />
      </ReactFlow>
    </div>
  );
}

/**
 * Shows the whole graph if it is readable, else the part around a node; again after the container changed its
 * width and, on narrow screens, when another node is selected. A button of the controls shows the whole graph.
 */
function Start({ near, isNarrow }: { readonly near: string | undefined; readonly isNarrow: boolean }) {
  const { fitView, getNodes, getNode, getNodesBounds, setCenter } = useReactFlow();
  const width = useStore((flow) => flow.width);
  const height = useStore((flow) => flow.height);
  const current = useRef(near);
  useEffect(() => {
    current.current = near;
  });
  const selected = isNarrow ? near : undefined;
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const bounds = getNodesBounds(getNodes());
      const { zoom } = getViewportForBounds(bounds, width, height, FARTHEST, 1, PADDING);
      const node = getNode(current.current ?? '') ?? getNodes()[0];
      if (zoom >= READABLE || !node) {
        void fitView(WHOLE);
        return;
      }
      const x = node.position.x + (node.width ?? 0) / 2;
      const y = node.position.y + (node.height ?? 0) / 2;
      void setCenter(
        centre(x, bounds.x - MARGIN, bounds.x + bounds.width + MARGIN, width / READABLE),
        centre(y, bounds.y - MARGIN, bounds.y + bounds.height + MARGIN, height / READABLE),
        { zoom: READABLE },
      );
    });
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [fitView, getNodes, getNode, getNodesBounds, setCenter, width, height, selected]);
  return null;
}

/** The wanted centre of a view of this length, moved so that the view stays between both ends if it fits there. */
function centre(wanted: number, start: number, end: number, length: number): number {
  const [low, high] = [start + length / 2, end - length / 2];
  return low > high ? (start + end) / 2 : Math.min(high, Math.max(low, wanted));
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
