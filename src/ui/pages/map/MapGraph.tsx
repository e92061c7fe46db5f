import '@xyflow/react/dist/base.css';
import {
  Background,
  Controls,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  useReactFlow,
  type Edge,
  type FitViewOptions,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { formatCount, formatPercentage } from '../../format/number.js';
import { NODE_HEIGHT, NODE_WIDTH, placesOf } from '../../graph/layout.js';
import { failedShare, type Graph, type GraphEdge, type GraphNode } from '../../graph/map-model.js';
import { cx } from '../../parts/cx.js';
import { TypeIcon } from '../../parts/TypeIcon.js';
import type { SpanType } from '../../trace/span.js';
import type { ChangeMap } from './map-state.js';
import styles from './map.module.css';

interface Shown extends Record<string, unknown> {
  readonly node: GraphNode;
  readonly isChosen: boolean;
  readonly isFaint: boolean;
  readonly choose: (id: string) => void;
}
type ShownNode = Node<Shown, 'service'>;

const NARROW = '(max-width: 640px)';
/** How many times as wide as high the picture is. */
const [WIDE, TALL] = [2.3, 0.8];
/** Where there is little room one begins with a part, whose names can be read. */
const [READABLE, FARTHEST] = [0.5, 0.1];
const TYPES = { service: ServiceNode };
const [THINNEST, THICKEST] = [1.25, 7];

/** The map as a picture: width says how many calls, the warm colour how many of them fail. */
export default function MapGraph({
  graph,
  node,
  change,
}: {
  readonly graph: Graph;
  /** The node that is looked at; empty for none. */
  readonly node: string;
  readonly change: ChangeMap;
}) {
  const isNarrow = useMedia(NARROW);
  const places = useMemo(() => placesOf(graph, isNarrow ? TALL : WIDE), [graph, isNarrow]);
  const beside = useMemo(
    () =>
      new Set(
        graph.edges.flatMap(({ source, target }) =>
          source === node || target === node ? [source, target] : [],
        ),
      ),
    [graph, node],
  );
  const isKnown = graph.nodes.some(({ id }) => id === node);
  const nodes = graph.nodes.map((one): ShownNode => ({
    id: one.id,
    type: 'service',
    position: places.get(one.id) ?? { x: 0, y: 0 },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    data: {
      node: one,
      isChosen: one.id === node,
      isFaint: isKnown && one.id !== node && !beside.has(one.id),
      choose: (id) => {
        change({ node: id === node ? '' : id });
      },
    },
  }));
  const fit = useMemo(
    () => ({
      padding: 0.06,
      maxZoom: 1,
      minZoom: isNarrow ? READABLE : FARTHEST,
      // Where there is room for a part only, it is the one that is looked at.
      ...(isNarrow && isKnown ? { nodes: [{ id: node }] } : {}),
    }),
    [isNarrow, isKnown, node],
  );
  const most = Math.max(1, ...graph.edges.map(({ weight }) => weight));
  const edges = graph.edges.map((edge) => drawnEdge(edge, most, isKnown ? node : ''));
  return (
    <div
      className={styles['graph']}
      role="region"
      aria-label="Graph of who calls whom; the table has the same"
    >
      <ReactFlow
        key={`${String(isNarrow)} ${[...places.keys()].join('\n')}`}
        nodes={nodes}
        edges={edges}
        nodeTypes={TYPES}
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
        <Refit fit={fit} room={isKnown} />
        <Background gap={24} color="var(--line)" />
        <Controls position="bottom-right" showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

/** Shows all again where the room has changed: a panel opened beside it, or closed. */
function Refit({ fit, room }: { readonly fit: FitViewOptions; readonly room: boolean }) {
  const { fitView } = useReactFlow();
  const current = useRef(fit);
  useEffect(() => {
    current.current = fit;
  });
  useEffect(() => {
    const frame = requestAnimationFrame(() => void fitView(current.current));
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [fitView, room]);
  return null;
}

function drawnEdge({ source, target, weight, error_count }: GraphEdge, most: number, node: string): Edge {
  const share = failedShare(error_count, weight) ?? 0;
  const isOfNode = node !== '' && (source === node || target === node);
  // A thousandth that fails must be seen, and half of all calls look worse than a tenth.
  const warm = share === 0 ? 0 : Math.round(35 + 65 * Math.sqrt(share));
  const color = `color-mix(in oklab, var(--fail-fill) ${String(warm)}%, var(--line-strong))`;
  return {
    id: JSON.stringify([source, target]),
    source,
    target,
    style: {
      stroke: color,
      strokeWidth: THINNEST + (THICKEST - THINNEST) * (Math.log1p(weight) / Math.log1p(most)),
      opacity: node === '' || isOfNode ? 1 : 0.2,
    },
    markerEnd: { type: MarkerType.ArrowClosed, color, width: 16, height: 16, markerUnits: 'userSpaceOnUse' },
  };
}

function ServiceNode({ data: { node, isChosen, isFaint, choose } }: NodeProps<ShownNode>) {
  const { id, span_type, node_type, span_count, error_count } = node;
  const share = failedShare(error_count, span_count);
  return (
    <>
      <Handle type="target" position={Position.Left} className={styles['handle'] ?? ''} />
      <button
        type="button"
        className={cx('nopan', styles['node'], isChosen && styles['chosen'], isFaint && styles['faint'])}
        aria-pressed={isChosen}
        title={id}
        onClick={() => {
          choose(id);
        }}
      >
        <TypeIcon type={span_type as SpanType} />
        <span className={styles['name']}>{id}</span>
        <small>
          {node_type} · {formatCount(span_count)}
          {share !== null && share > 0 && (
            <span className={styles['failing']}> · {formatPercentage(share * 100)} failed</span>
          )}
        </small>
      </button>
      <Handle type="source" position={Position.Right} className={styles['handle'] ?? ''} />
    </>
  );
}

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(query);
      media.addEventListener('change', changed);
      return () => {
        media.removeEventListener('change', changed);
      };
    },
    () => matchMedia(query).matches,
  );
}
