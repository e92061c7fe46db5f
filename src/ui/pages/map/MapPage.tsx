import { useMemo, type ReactNode } from 'react';
import { around, busiest, matching, MAX_NODES } from '../../graph/map-model.js';
import { hoursOf } from '../../graph/hours.js';
import { formatCounted } from '../../format/number.js';
import { Choice } from '../../parts/Choice.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { onDemand } from '../../parts/on-demand.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useNow } from '../../state/clock.js';
import { useDebounced } from '../../state/use-debounced.js';
import { useUrlState } from '../../state/use-url-state.js';
import { Changes } from './Changes.js';
import { HourSlider } from './HourSlider.js';
import { MapTables } from './MapTables.js';
import { STATE, type ChangeMap, type MapState } from './map-state.js';
import styles from './map.module.css';
import { NodePanel } from './NodePanel.js';
import { useMap } from './use-map.js';

const MapGraph = onDemand(() => import('./MapGraph.js'), <TableSkeleton />);

const MINUTE = 60_000;
const VIEWS = { graph: 'Graph', table: 'Table', changes: 'Changes' } as const;

/** The service map of a period as graph or tables, and its changes. */
export default function MapPage() {
  const [state, change] = useUrlState(STATE);
  // Rounded, so that the range stays the same for a minute.
  const now = Math.ceil(useNow() / MINUTE) * MINUTE;
  const hours = useMemo(() => hoursOf(state.range, state.at, now), [state.range, state.at, now]);
  return (
    <div className={parts['page']}>
      <title>Map · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Map</h1>
        <ZoneNote />
        <div role="group" aria-label="View" className={styles['views']}>
          {Object.entries(VIEWS).map(([view, name]) => (
            <button
              key={view}
              type="button"
              className={cx(parts['button'])}
              aria-pressed={state.view === view}
              onClick={() => {
                change({ view: view as MapState['view'] });
              }}
            >
              {name}
            </button>
          ))}
        </div>
        <RangeChoice
          label="Period"
          value={state.range}
          onChange={(range) => {
            change({ range, at: '' });
          }}
        />
      </div>
      <HourSlider range={state.range} at={state.at} now={now} change={change} />
      {state.view === 'changes' ? (
        <Changes hours={hours} against={state.against} change={change} />
      ) : (
        <Whole state={state} hours={hours} change={change} />
      )}
    </div>
  );
}

function Whole({
  state,
  hours,
  change,
}: {
  readonly state: MapState;
  readonly hours: ReturnType<typeof hoursOf>;
  readonly change: ChangeMap;
}) {
  const { data, error, refetch } = useMap(hours);
  const { node, hops, q, view } = state;
  const shown = useMemo(() => {
    if (!data) return undefined;
    const found = matching(data, q);
    return busiest(node !== '' && hops > 0 ? around(found, node, hops) : found, MAX_NODES, node);
  }, [data, q, node, hops]);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data || !shown) return <TableSkeleton />;
  if (data.nodes.length === 0)
    return (
      <Empty title="No calls in this period">
        <p>
          Widen the time range, or send traces: the map shows the agents, services and databases that their
          spans name.
        </p>
      </Empty>
    );
  const selected = data.nodes.find(({ id }) => id === node);
  return (
    <>
      <Tools state={state} change={change}>
        {formatCounted(shown.nodes.length, 'node')} and {formatCounted(shown.edges.length, 'edge')}
        {shown.nodes.length < data.nodes.length &&
          ` of ${formatCounted(data.nodes.length, 'node')}${shown.nodes.length === MAX_NODES ? ', the busiest; search to find others' : ''}`}
      </Tools>
      {shown.nodes.length === 0 ? (
        <Empty title="No nodes match">
          <p>Search ignores case.</p>
        </Empty>
      ) : (
        <div className={parts['withPeek']} data-open={selected !== undefined}>
          {view === 'graph' ? (
            <MapGraph graph={shown} node={node} change={change} />
          ) : (
            <MapTables graph={shown} />
          )}
          {selected && <NodePanel node={selected} graph={data} hours={hours} change={change} />}
        </div>
      )}
    </>
  );
}

const HOPS = {
  '0': 'everything',
  '1': '1 hop',
  '2': '2 hops',
  '3': '3 hops',
} as const;

function Tools({
  state: { q, node, hops },
  change,
  children,
}: {
  readonly state: MapState;
  readonly change: ChangeMap;
  /** A summary of the displayed map. */
  readonly children: ReactNode;
}) {
  const [typed, setTyped] = useDebounced(q, (value) => {
    change({ q: value }, 'replace');
  });
  return (
    <div className={parts['filters']}>
      <input
        className={parts['field']}
        type="search"
        aria-label="Search nodes"
        placeholder="Search nodes"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
        }}
      />
      {node !== '' && (
        <Choice
          label={`Around ${node}`}
          value={String(hops)}
          options={HOPS}
          onChange={(value) => {
            change({ hops: Number(value) });
          }}
        />
      )}
      <span className={parts['faint']} aria-live="polite">
        {children}
      </span>
    </div>
  );
}
