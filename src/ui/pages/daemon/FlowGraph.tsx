import {
  BaseEdge,
  EdgeLabelRenderer,
  getBezierPath,
  Handle,
  MarkerType,
  Position,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import { Cog, LogIn, LogOut } from 'lucide-react';
import { formatDuration } from '../../format/duration.js';
import { formatPercentage } from '../../format/number.js';
import {
  edgeKey,
  fillOf,
  labelPlaces,
  nodeKey,
  type flowOf,
  type FlowEdge,
  type FlowNode,
  type Rates,
} from '../../graph/flow.js';
import { FLOW_SHAPE, type LinkedNodes, type Place } from '../../graph/layout.js';
import { NotDrawn, Picture, useIsNarrow } from '../../graph/Picture.js';
import { useLayout } from '../../graph/use-layout.js';
import picture from '../../graph/Picture.module.css';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { isFailing, isTroubled } from './Components.js';
import type { ChangeDaemon } from './daemon-state.js';
import { formatRate } from './figures.js';
import type { Component } from './use-daemon.js';
import styles from './daemon.module.css';

interface ShownComponent extends Record<string, unknown> {
  readonly node: FlowNode;
  readonly health: Component | undefined;
}
type ComponentNode = Node<ShownComponent, 'component'>;

interface ShownFlow extends Record<string, unknown> {
  readonly edge: FlowEdge;
  /** Items per second, offered and not accepted; null if unknown. */
  readonly rates: { readonly offered: number; readonly bad: number } | null;
  /** Label position, from 0 to 1. */
  readonly labelAt: number;
  readonly isSelected: boolean;
  readonly select: () => void;
}
type FlowLine = Edge<ShownFlow, 'flow'>;

const NODE_TYPES = { component: OneComponent };
const EDGE_TYPES = { flow: OneFlow };
const ICONS = { receiver: LogIn, processor: Cog, exporter: LogOut } as const;
/** Width divided by height. */
const [WIDE, TALL] = [1.8, 0.7];
const [THINNEST, THICKEST] = [1.25, 6];

/** The pipeline graph: line width shows throughput, the failure colour refused or failed items. */
export default function FlowGraph({ flow, ...rest }: Props) {
  const laidOut = useLayout(flow, linksOf, useIsNarrow() ? TALL : WIDE, FLOW_SHAPE);
  if (laidOut === null) return <NotDrawn />;
  if (laidOut === undefined) return <TableSkeleton />;
  return <Drawn {...rest} flow={laidOut.shown} places={laidOut.places} />;
}

type Flow = ReturnType<typeof flowOf>;

interface Props {
  readonly flow: Flow;
  readonly components: readonly Component[];
  readonly rates: ReadonlyMap<string, Rates> | null;
  /** Key of the selected edge; empty for none. */
  readonly selected: string;
  readonly change: ChangeDaemon;
}

/** Statistics change every two seconds, the graph does not. */
function linksOf({ nodes, edges }: Flow): LinkedNodes {
  return {
    nodes: nodes.map(({ key }) => ({ id: key })),
    edges: edges.map(({ from, to, pipeline }) => ({
      source: nodeKey(from, pipeline),
      target: nodeKey(to, pipeline),
    })),
  };
}

function Drawn({
  flow,
  components,
  rates,
  selected,
  change,
  places,
}: Props & { readonly places: ReadonlyMap<string, Place> }) {
  const nodes = flow.nodes.map((node): ComponentNode => ({
    id: node.key,
    type: 'component',
    position: places.get(node.key) ?? { x: 0, y: 0 },
    width: FLOW_SHAPE.width,
    height: FLOW_SHAPE.height,
    data: {
      node,
      health: components.find(
        ({ kind, id, pipeline }) => kind === node.kind && id === node.id && pipeline === node.pipeline,
      ),
    },
  }));
  const labels = labelPlaces(flow.edges);
  const most = Math.max(1, ...[...(rates?.values() ?? [])].map(({ offered }) => offered));
  const edges = flow.edges.map((edge): FlowLine => {
    const key = edgeKey(edge);
    const { offered, refused, failed } = rates?.get(key) ?? { offered: 0, refused: 0, failed: 0 };
    const color = refused + failed > 0 ? 'var(--fail-fill)' : 'var(--line-strong)';
    return {
      id: key,
      type: 'flow',
      source: nodeKey(edge.from, edge.pipeline),
      target: nodeKey(edge.to, edge.pipeline),
      style: {
        stroke: color,
        strokeWidth: THINNEST + (THICKEST - THINNEST) * (Math.log1p(offered) / Math.log1p(most)),
      },
      markerEnd: {
        type: MarkerType.ArrowClosed,
        color,
        width: 14,
        height: 14,
        markerUnits: 'userSpaceOnUse',
      },
      data: {
        edge,
        rates: rates && { offered, bad: refused + failed },
        labelAt: labels.get(key) ?? 0.5,
        isSelected: key === selected,
        select: () => {
          change({ edge: key === selected ? '' : key });
        },
      },
    };
  });
  const near = flow.edges.find((edge) => edgeKey(edge) === selected);
  return (
    <Picture
      label="Pipeline graph; the table below shows the same data"
      isTall
      places={places}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      near={near && nodeKey(near.to, near.pipeline)}
    />
  );
}

function OneComponent({ data: { node, health } }: NodeProps<ComponentNode>) {
  const Icon = ICONS[node.kind];
  const isBad = health !== undefined && isFailing(health);
  const isOff = health !== undefined && isTroubled(health);
  const about = node.pipeline ?? node.kind;
  return (
    <>
      <Handle type="target" position={Position.Top} className={picture['handle'] ?? ''} />
      <div className={cx(picture['node'], isBad && picture['troubled'])} title={health?.message ?? node.id}>
        <Icon size={16} aria-hidden="true" />
        <span className={picture['name']}>{node.id}</span>
        <small>{isOff ? health.state : node.kind === 'processor' ? `processor · ${about}` : about}</small>
      </div>
      <Handle type="source" position={Position.Bottom} className={picture['handle'] ?? ''} />
    </>
  );
}

function OneFlow({ id, sourceX, sourceY, targetX, targetY, data, ...line }: EdgeProps<FlowLine>) {
  const ends = { sourceX, sourceY, targetX, targetY };
  const [path] = getBezierPath({ ...ends, sourcePosition: Position.Bottom, targetPosition: Position.Top });
  if (!data) return null;
  const { edge, rates, labelAt, isSelected, select } = data;
  const fill = fillOf(edge.queue);
  // The curve starts and ends vertically.
  const along = labelAt * labelAt * (3 - 2 * labelAt);
  const x = sourceX + (targetX - sourceX) * along;
  const y = sourceY + (targetY - sourceY) * labelAt;
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        {...(line.style && { style: line.style })}
        {...(line.markerEnd && { markerEnd: line.markerEnd })}
      />
      <EdgeLabelRenderer>
        <button
          type="button"
          className={cx('nopan', styles['figures'], isSelected && styles['selected'])}
          style={{ transform: `translate(-50%, -50%) translate(${String(x)}px, ${String(y)}px)` }}
          aria-pressed={isSelected}
          onClick={select}
        >
          <span className={parts['unseen']}>
            {edge.from.id} to {edge.to.id} in {edge.pipeline}:
          </span>
          <b>{rates === null ? '…' : rates.offered === 0 ? 'idle' : formatRate(rates.offered)}</b>
          {edge.p99_ms !== null && <span>p99 {formatDuration(edge.p99_ms)}</span>}
          {rates !== null && rates.bad > 0 && (
            <span className={styles['failing']}>{formatRate(rates.bad)} not accepted</span>
          )}
          {fill !== null && fill > 0 && <span>queue {formatPercentage(fill * 100)}</span>}
        </button>
      </EdgeLabelRenderer>
    </>
  );
}
