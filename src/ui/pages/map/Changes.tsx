import { Link } from 'wouter';
import { useMemo } from 'react';
import { formatTime } from '../../format/time.js';
import { AGAINST, hoursBefore, printHours, type Hours } from '../../graph/hours.js';
import { changesOf, failedShare, MIN_CALLS, type MapChange } from '../../graph/map-model.js';
import { Choice } from '../../parts/Choice.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Duration, Percentage } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { useSettings } from '../../state/settings.js';
import { NO_ERRORS, NO_P95, type ChangeMap, type MapState } from './map-state.js';
import { useMap } from './use-map.js';

const LABELS = { failing: 'More failures', slower: 'Slower', new: 'New', gone: 'Gone' } as const;

/** New, removed, slower or more failing edges compared with another period. */
export function Changes({
  hours,
  against,
  change,
}: {
  readonly hours: Hours;
  readonly against: MapState['against'];
  readonly change: ChangeMap;
}) {
  const { zone } = useSettings();
  const earlier = hoursBefore(hours, against);
  const [now, before] = [useMap(hours), useMap(earlier)];
  const changes = useMemo(
    () => (now.data && before.data ? changesOf(now.data, before.data) : undefined),
    [now.data, before.data],
  );
  if (earlier === undefined)
    return (
      <Empty title="No earlier period to compare with">
        <p>Select a shorter period or a single hour.</p>
      </Empty>
    );
  const failed = now.error ?? before.error;
  if (failed && !changes)
    return (
      <Failure
        error={failed}
        retry={() => {
          void now.refetch();
          void before.refetch();
        }}
      />
    );
  const hrefOf = (one: MapChange): string => mapOf(one, hours, earlier);
  const print = (ms: number | undefined): string => formatTime(ms ?? 0, zone);
  return (
    <>
      <div className={parts['filters']}>
        <Choice
          label="Compared with"
          value={against}
          options={AGAINST}
          onChange={(value) => {
            change({ against: value as MapState['against'] });
          }}
        />
        <span className={parts['faint']}>
          {print(hours.start)} to {print(hours.end)}, compared with {print(earlier.start)} to{' '}
          {print(earlier.end)}
        </span>
      </div>
      {changes === undefined ? (
        <TableSkeleton />
      ) : changes.length === 0 ? (
        <Empty title="No changes">
          <p>
            Calls, failure rates and latencies are the same. Edges and nodes with fewer than {MIN_CALLS} calls
            are not compared.
          </p>
        </Empty>
      ) : (
        <DataTable
          label="Changes"
          items={changes}
          columns={columnsOf(hrefOf)}
          keyOf={({ kind, source, target }) => JSON.stringify([kind, source, target])}
          hrefOf={hrefOf}
        />
      )}
    </>
  );
}

/** A link to the map around a change; for removed edges to the earlier period. */
function mapOf({ kind, target }: MapChange, now: Hours, before: Hours): string {
  const { start_time, end_time } = printHours(kind === 'gone' ? before : now);
  const query = new URLSearchParams({ node: target, hops: '1' });
  if (start_time !== undefined && end_time !== undefined) query.set('range', `${start_time}..${end_time}`);
  return `/map?${query.toString()}`;
}

type Side = MapChange['now'];

function pair(header: string, name: string, render: (side: NonNullable<Side>) => React.ReactNode) {
  const of = (side: Side): React.ReactNode => (side === null ? '' : render(side));
  return [
    { name: `${name} before`, header: `${header} before`, isNumber: true, render: (c) => of(c.before) },
    { name: `${name} now`, header: 'now', isNumber: true, render: (c) => of(c.now) },
  ] satisfies Column<MapChange>[];
}

function columnsOf(hrefOf: (change: MapChange) => string): readonly Column<MapChange>[] {
  return [
    {
      name: 'kind',
      header: 'Change',
      render: ({ kind }) => (
        <span className={kind === 'failing' ? parts['bad'] : undefined}>{LABELS[kind]}</span>
      ),
    },
    {
      name: 'where',
      header: 'Location',
      isWide: true,
      render: (one) => (
        <Link href={hrefOf(one)}>
          {one.source === null ? `node ${one.target}` : `${one.source} → ${one.target}`}
        </Link>
      ),
    },
    ...pair('Calls', 'calls', ({ count }) => <Count value={count} missing="" />),
    ...pair('Failed', 'failed', ({ error_count, count }) => {
      const share = failedShare(error_count, count);
      return <Percentage value={share === null ? null : share * 100} missing={NO_ERRORS} />;
    }),
    ...pair('p95', 'p95', ({ p95_ms }) => <Duration value={p95_ms} missing={NO_P95} />),
  ];
}
