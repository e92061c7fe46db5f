import { Link } from 'wouter';
import { edgeKey, type FlowEdge, type Rates } from '../../graph/flow.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Duration } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { printState } from '../../state/codec.js';
import { NO_P99, STATE, type ChangeDaemon, type DaemonState } from './daemon-state.js';
import { Fill, Rate } from './figures.js';

/** The edges of the pipelines as a table. */
export function EdgeTable({
  edges,
  rates,
  state,
  change,
}: {
  readonly edges: readonly FlowEdge[];
  readonly rates: ReadonlyMap<string, Rates> | null;
  readonly state: DaemonState;
  readonly change: ChangeDaemon;
}) {
  const hrefOf = (edge: FlowEdge): string =>
    `/daemon?${printState(STATE, { ...state, edge: edgeKey(edge) })}`;
  const count = (
    name: 'accepted' | 'refused' | 'failed',
    header: string,
    hint: string,
  ): Column<FlowEdge> => ({
    name,
    header,
    hint,
    isNumber: true,
    render: (edge) => (
      <span className={cx(name !== 'accepted' && edge[name] > 0 && parts['bad'])}>
        <Count value={edge[name]} missing="" />
      </span>
    ),
  });
  const columns: readonly Column<FlowEdge>[] = [
    {
      name: 'way',
      header: 'Edge',
      isWide: true,
      render: (edge) => (
        <Link href={hrefOf(edge)}>
          {edge.from.id} → {edge.to.id}
        </Link>
      ),
    },
    { name: 'pipeline', header: 'Pipeline', render: ({ pipeline }) => pipeline },
    {
      name: 'rate',
      header: 'Rate',
      hint: 'Items offered per second over the last 10 seconds',
      isNumber: true,
      render: (edge) => <Rate value={rates?.get(edgeKey(edge))?.offered ?? null} />,
    },
    count('accepted', 'Accepted', 'Items accepted by the target and everything downstream, since start'),
    count('refused', 'Refused', 'Items refused individually because of their content, since start'),
    count('failed', 'Failed', 'Items in batches that failed as a whole, since start'),
    {
      name: 'p99',
      header: 'p99',
      hint: '99th percentile of batch latency in the last 1–2 minutes, including everything downstream; accurate to 10%',
      isNumber: true,
      render: ({ p99_ms }) => <Duration value={p99_ms} missing={NO_P99} />,
    },
    {
      name: 'queue',
      header: 'Queue',
      hint: 'Fill level of the queue in front of an exporter',
      isNumber: true,
      render: ({ queue }) => <Fill queue={queue} />,
    },
  ];
  return (
    <DataTable
      label="Edges"
      items={edges}
      columns={columns}
      keyOf={edgeKey}
      hrefOf={hrefOf}
      onPreview={(edge) => {
        change({ edge: edgeKey(edge) === state.edge ? '' : edgeKey(edge) });
      }}
    />
  );
}
