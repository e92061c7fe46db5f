import { Handle, MarkerType, Position, type Edge, type Node, type NodeProps } from '@xyflow/react';
import { useMemo } from 'react';
import { formatCount, formatPercentage } from '../../format/number.js';
import { MAP_SHAPE, type LinkedNodes, type Place } from '../../graph/layout.js';
import { failedShare, type Graph, type GraphEdge, type GraphNode } from '../../graph/map-model.js';
import { NotDrawn, Picture, useIsNarrow } from '../../graph/Picture.js';
import { useLayout } from '../../graph/use-layout.js';
import picture from '../../graph/Picture.module.css';
import { cx } from '../../parts/cx.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { TypeIcon } from '../../parts/TypeIcon.js';
import type { SpanType } from '../../trace/span.js';
import type { ChangeMap } from './map-state.js';
import styles from './map.module.css';

interface Shown extends Record<string, unknown> {
  readonly node: GraphNode;
  readonly isSelected: boolean;
  readonly isFaint: boolean;
  readonly select: (id: string) => void;
}
type ShownNode = Node<Shown, 'service'>;

/** Width divided by height. */
const [WIDE, TALL] = [2.3, 0.8];
const TYPES = { service: ServiceNode };
const [THINNEST, THICKEST] = [1.25, 7];

/** The service map as a graph: line width shows calls, the failure colour failures. */
export default function MapGraph({ graph, ...rest }: Props) {
  const laidOut = useLayout(graph, linksOf, useIsNarrow() ? TALL : WIDE, MAP_SHAPE);
  if (laidOut === null) return <NotDrawn />;
  if (laidOut === undefined) return <TableSkeleton />;
  return <Drawn {...rest} graph={laidOut.shown} places={laidOut.places} />;
}

interface Props {
  readonly graph: Graph;
  /** The selected node; empty for none. */
  readonly node: string;
  readonly change: ChangeMap;
}

function linksOf({ nodes, edges }: Graph): LinkedNodes {
  return {
    nodes: nodes.map(({ id }) => ({ id })),
    edges: edges.map(({ source, target }) => ({ source, target })),
  };
}

function Drawn({ graph, places, node, change }: Props & { readonly places: ReadonlyMap<string, Place> }) {
  const neighbours = useMemo(
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
    width: MAP_SHAPE.width,
    height: MAP_SHAPE.height,
    data: {
      node: one,
      isSelected: one.id === node,
      isFaint: isKnown && one.id !== node && !neighbours.has(one.id),
      select: (id) => {
        change({ node: id === node ? '' : id });
      },
    },
  }));
  const most = Math.max(1, ...graph.edges.map(({ weight }) => weight));
  const edges = graph.edges.map((edge) => drawnEdge(edge, most, isKnown ? node : ''));
  return (
    <Picture
      label="Call graph; the table shows the same data"
      places={places}
      nodes={nodes}
      edges={edges}
      nodeTypes={TYPES}
      // If only a part fits, start at the selected node, or at what fails.
      near={isKnown ? node : mostFailing(graph)}
    />
  );
}

/** The node with the most failures; the busiest one if nothing fails. */
function mostFailing({ nodes }: Graph): string | undefined {
  const worse = (a: GraphNode, b: GraphNode): number =>
    (b.error_count ?? 0) - (a.error_count ?? 0) || b.span_count - a.span_count;
  return nodes.toSorted(worse)[0]?.id;
}

function drawnEdge({ source, target, weight, error_count }: GraphEdge, most: number, node: string): Edge {
  const share = failedShare(error_count, weight) ?? 0;
  const isOfNode = node !== '' && (source === node || target === node);
  // A failure rate of 0.1% must be visible, and 50% must look worse than 10%.
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

function ServiceNode({ data: { node, isSelected, isFaint, select } }: NodeProps<ShownNode>) {
  const { id, span_type, node_type, span_count, error_count } = node;
  const share = failedShare(error_count, span_count);
  return (
    <>
      <Handle type="target" position={Position.Left} className={picture['handle'] ?? ''} />
      <button
        type="button"
        className={cx(
          'nopan',
          picture['node'],
          isSelected && picture['selected'],
          isFaint && styles['faint'],
        )}
        aria-pressed={isSelected}
        title={id}
        onClick={() => {
          select(id);
        }}
      >
        <TypeIcon type={span_type as SpanType} />
        <span className={picture['name']}>{id}</span>
        <small>
          {formatCount(span_count)}
          {share !== null && share > 0 && (
            <span className={styles['failing']}> · {formatPercentage(share * 100)} failed</span>
          )}{' '}
          · {node_type}
        </small>
      </button>
      <Handle type="source" position={Position.Right} className={picture['handle'] ?? ''} />
    </>
  );
}
