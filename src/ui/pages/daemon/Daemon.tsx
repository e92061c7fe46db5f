import { formatDuration } from '../../format/duration.js';
import { formatCounted } from '../../format/number.js';
import { edgeKey, flowOf } from '../../graph/flow.js';
import { Choice } from '../../parts/Choice.js';
import { Time } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { onDemand } from '../../parts/on-demand.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useMe } from '../../shell/Session.js';
import { useUrlState } from '../../state/use-url-state.js';
import { Components, isFailing, isTroubled } from './Components.js';
import { ALL_PIPELINES, STATE, type ChangeDaemon, type DaemonState } from './daemon-state.js';
import { EdgePanel } from './EdgePanel.js';
import { EdgeTable } from './EdgeTable.js';
import { useDaemon, type Daemon } from './use-daemon.js';
import styles from './daemon.module.css';
import { useQuery } from '@tanstack/react-query';
import { readText } from '../../api/client.js';
import { CopyButton } from '../../parts/CopyButton.js';

const FlowGraph = onDemand(() => import('./FlowGraph.js'), <TableSkeleton />);

const VIEWS = { pipelines: 'Pipelines', components: 'Components', configuration: 'Configuration' } as const;

/** The pipelines, components and configuration of the daemon, for administrators. */
export default function DaemonPage() {
  if (!useMe().scopes.includes('admin'))
    return (
      <Empty title="Only administrators can see this" isPage>
        <title>Daemon · Jackdaw</title>
        <p>This page requires the admin scope. Log in with such a key, or ask an administrator.</p>
      </Empty>
    );
  return (
    <div className={parts['page']}>
      <title>Daemon · Jackdaw</title>
      <Inside />
    </div>
  );
}

function Inside() {
  const [state, change] = useUrlState(STATE);
  const { data, error, refetch, rates, isLive } = useDaemon();
  if (!data) return error ? <Failure isPage error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <>
      <div className={parts['head']}>
        <h1>Daemon</h1>
        <ZoneNote />
        <span className={parts['faint']}>
          {isLive ? 'Live' : error ? 'Not responding' : 'Updated every few seconds'}
        </span>
        <div role="group" aria-label="View" className={styles['views']}>
          {Object.entries(VIEWS).map(([view, name]) => (
            <button
              key={view}
              type="button"
              className={parts['button']}
              aria-pressed={state.view === view}
              onClick={() => {
                change({ view: view as DaemonState['view'] });
              }}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <Facts daemon={data} change={change} />
      {state.view === 'components' && <Components components={data.components} />}
      {state.view === 'configuration' && <Configuration />}
      {state.view === 'pipelines' && <Pipelines daemon={data} rates={rates} state={state} change={change} />}
    </>
  );
}

function Loading() {
  return (
    <>
      <div className={parts['head']}>
        <h1>Daemon</h1>
      </div>
      <TableSkeleton />
    </>
  );
}

const PHASES: Readonly<Record<Daemon['phase'], string>> = {
  starting: 'Starting',
  running: 'Running',
  stopping: 'Stopping: finishing accepted work',
  stopped: 'Stopped',
};

function Facts({
  daemon: { version, phase, started_at, uptime_s, components },
  change,
}: {
  readonly daemon: Daemon;
  readonly change: ChangeDaemon;
}) {
  const troubled = components.filter(isTroubled);
  return (
    <dl className={parts['figures']}>
      <div>
        <dt>Status</dt>
        <dd>{PHASES[phase]}</dd>
      </div>
      <div>
        <dt>Uptime</dt>
        <dd>
          {formatDuration(uptime_s * 1000)}
          <small>
            since <Time at={started_at} />
          </small>
        </dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>{version}</dd>
      </div>
      <div>
        <dt>Components</dt>
        <dd>
          {troubled.length === 0 ? (
            <>
              Healthy <small>{formatCounted(components.length, 'component')}</small>
            </>
          ) : (
            <button
              type="button"
              className={parts['button']}
              onClick={() => {
                change({ view: 'components' });
              }}
            >
              <span className={cx(troubled.some(isFailing) && parts['bad'])}>
                {formatCounted(troubled.length, 'component')} unhealthy
              </span>
            </button>
          )}
        </dd>
      </div>
    </dl>
  );
}

function Pipelines({
  daemon,
  rates,
  state,
  change,
}: {
  readonly daemon: Daemon;
  readonly rates: ReturnType<typeof useDaemon>['rates'];
  readonly state: DaemonState;
  readonly change: ChangeDaemon;
}) {
  const { pipelines, edges: all, components } = daemon;
  const options = {
    ...Object.fromEntries(pipelines.map(({ name }) => [name, name])),
    [ALL_PIPELINES]: 'All pipelines',
  };
  const pipeline = Object.hasOwn(options, state.pipeline) ? state.pipeline : (pipelines[0]?.name ?? '');
  const flow = flowOf(all, pipeline === ALL_PIPELINES ? '' : pipeline);
  const inThreads = pipelines.some(
    ({ name, threaded_receivers }) =>
      (pipeline === ALL_PIPELINES || name === pipeline) && threaded_receivers.length > 0,
  );
  const selected = flow.edges.find((edge) => edgeKey(edge) === state.edge);
  return (
    <>
      <div className={parts['filters']}>
        <Choice
          label="Pipeline"
          value={pipeline}
          options={options}
          onChange={(name) => {
            change({ pipeline: name, edge: '' });
          }}
        />
        <span className={parts['faint']}>
          {all.every(({ offered }) => offered === 0)
            ? 'No items yet'
            : 'Items per second over the last 10 seconds; an item is a trace, a metric point, a log record or an event'}
        </span>
        {inThreads && <span className={parts['faint']}>Runs in intake threads</span>}
      </div>
      <div className={parts['withPeek']} data-open={selected !== undefined}>
        <FlowGraph flow={flow} components={components} rates={rates} selected={state.edge} change={change} />
        {selected && <EdgePanel edge={selected} rates={rates?.get(state.edge) ?? null} change={change} />}
      </div>
      <h2 className={styles['section']}>Table</h2>
      <EdgeTable edges={flow.edges} rates={rates} state={state} change={change} />
    </>
  );
}

/** The effective configuration, read-only. */
function Configuration() {
  const { data, error, refetch } = useQuery({
    queryKey: ['daemon config'],
    queryFn: ({ signal }) => readText('daemon/config', signal),
    // Constant within one process, but a restarted daemon may have another one.
    refetchOnMount: 'always',
  });
  if (data === undefined)
    return error ? <Failure error={error} retry={() => void refetch()} /> : <TableSkeleton />;
  return (
    <section aria-label="Configuration">
      <div className={parts['filters']}>
        <CopyButton label="Copy" text={() => data} />
        <span className={parts['faint']}>
          The effective configuration with defaults. Values from the environment or a file are shown by name;
          secrets are omitted. To change it, edit the files and restart the daemon.
        </span>
      </div>
      <pre tabIndex={0} aria-label="Configuration as YAML" role="region" className={styles['yaml']}>
        {data}
      </pre>
    </section>
  );
}
