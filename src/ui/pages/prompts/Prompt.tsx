import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { api, ApiError, bodyOf } from '../../api/client.js';
import { TextDiff } from '../../messages/TextDiff.js';
import { Choice } from '../../parts/Choice.js';
import { ConfirmButton } from '../../parts/ConfirmButton.js';
import type { Column } from '../../parts/DataTable.js';
import { Count, Duration, Money, Percentage, Time } from '../../parts/figures.js';
import { ActionProblem } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { Table } from '../../parts/Table.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useMe } from '../../shell/Session.js';
import { integer } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { EditPrompt, Variables } from './EditPrompt.js';
import { Labels } from './Labels.js';
import { mayChange, textOf, usePrompt, usePromptUpdates, type PromptVersion } from './load.js';
import { VersionFigures } from './VersionFigures.js';
import styles from './Prompt.module.css';
import { useMemo, useState } from 'react';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { useSeries } from '../../state/use-series.js';

const RANGE = '30d';
/** More lines are hard to distinguish. */
const MAX_LINES = 6;

/** Runs by prompt version over time. Renders nothing without runs. */
function PromptSeries({ name }: { readonly name: string }) {
  const { data } = useSeries(RANGE, { group_by: 'prompt_version', prompt_name: name, interval: '1d' });
  const drawn = useMemo(() => {
    if (!data) return undefined;
    const times = bucketTimes(data);
    const versions = data.groups
      .filter(({ key }) => key !== null)
      .sort((a, b) => Number(b.key) - Number(a.key))
      .slice(0, MAX_LINES);
    return {
      times,
      lines: versions.map(({ key, buckets }) => ({
        name: `v${key ?? ''}`,
        values: valuesAt(times, buckets, ({ runs }) => runs, 0),
      })),
    };
  }, [data]);
  if (!data || !drawn || drawn.lines.length === 0) return null;
  return (
    <div className={cx(charts['charts'], styles['series'])}>
      <TimeChart
        title="Agent runs by version and UTC day"
        note={`${formatCounted(data.total.runs, 'run')} in 30 days`}
        {...drawn}
        range={[Date.parse(data.start_time), Date.parse(data.end_time)]}
        format={formatCount}
        missing="No runs in this interval"
      />
    </div>
  );
}

/** -1 stands for the latest version and the one before it. */
const STATE = { a: integer(-1, 0), b: integer(-1, 0) };

/** The versions of a prompt with run statistics, and a diff of two of them. */
export default function Prompt({ name }: { readonly name: string }) {
  const [{ a, b }, change] = useUrlState(STATE);
  const { data, error, refetch } = usePrompt(name);
  usePromptUpdates();
  const isAllowed = mayChange(useMe().scopes);
  const [isEdited, setEdited] = useState(false);
  if (error instanceof ApiError && [404, 422].includes(error.status))
    return (
      <Empty title="Prompt not found" isPage>
        <title>No such prompt · Jackdaw</title>
        <p>
          It may belong to another user. <Link href="/prompts">All prompts</Link>
        </p>
      </Empty>
    );
  if (error && !data) return <Failure isPage error={error} retry={() => void refetch()} />;
  const versions = data ?? [];
  const after = versions.find(({ version }) => version === b) ?? versions[0];
  const before =
    versions.find(({ version }) => version === a) ?? versions[after ? versions.indexOf(after) + 1 : 0];
  return (
    <div className={parts['page']}>
      <title>{`${name} · Jackdaw`}</title>
      <div className={parts['head']}>
        <h1>{name}</h1>
        <ZoneNote />
        <Link href={`/runs?prompt=${encodeURIComponent(name)}&kind=all`}>Runs with this prompt</Link>
        {isAllowed && after && !isEdited && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              setEdited(true);
            }}
          >
            {`New version from v${String(after.version)}`}
          </button>
        )}
      </div>
      {isEdited && after && (
        <EditPrompt
          base={after}
          newest={versions[0]?.version ?? after.version}
          onDone={() => {
            setEdited(false);
          }}
        />
      )}
      {data === undefined || !after ? (
        <TableSkeleton />
      ) : (
        <>
          <Versions name={name} versions={versions} />
          <Deletion name={name} version={after.version} isOnly={versions.length === 1} />
          <Labels name={name} versions={versions.map(({ version }) => version)} />
          <PromptSeries name={name} />
          <section className={styles['compare']} aria-label="Compare versions">
            <div className={parts['head']}>
              <h2>{before ? `Compare v${String(before.version)} → v${String(after.version)}` : 'Text'}</h2>
              {versions.length > 1 && before && (
                <>
                  <Choice
                    label="From"
                    value={String(before.version)}
                    options={namesOf(versions)}
                    onChange={(version) => {
                      change({ a: Number(version), b: after.version });
                    }}
                  />
                  <Choice
                    label="To"
                    value={String(after.version)}
                    options={namesOf(versions)}
                    onChange={(version) => {
                      change({ a: before.version, b: Number(version) });
                    }}
                  />
                </>
              )}
            </div>
            {before && <VersionFigures before={before} after={after} />}
            <Variables names={after.variables} />
            {before && textOf(before) === textOf(after) && (
              <p className={parts['faint']}>The text is identical in both versions.</p>
            )}
            <TextDiff before={textOf(before ?? after)} after={textOf(after)} label="Prompt text" />
          </section>
        </>
      )}
    </div>
  );
}

/** Delete buttons for the selected version and for the prompt. */
function Deletion({
  name,
  version,
  isOnly,
}: {
  readonly name: string;
  readonly version: number;
  readonly isOnly: boolean;
}) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const { scopes } = useMe();
  const onSuccess = () => {
    for (const key of ['prompts', 'prompt']) void client.invalidateQueries({ queryKey: [key] });
  };
  const removeVersion = useMutation({
    mutationFn: () =>
      bodyOf(
        api.DELETE('/api/v1/dashboard/prompts/{name}/versions/{version}', {
          params: { path: { name, version } },
        }),
      ),
    onSuccess,
  });
  const removeAll = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/api/v1/dashboard/prompts/{name}', { params: { path: { name } } })),
    onSuccess: () => {
      onSuccess();
      navigate('/prompts');
    },
  });
  if (!mayChange(scopes)) return null;
  return (
    <div className={cx(parts['head'], styles['deletion'])}>
      {!isOnly && (
        <ConfirmButton
          key={version}
          label={`Delete v${String(version)}`}
          question={`Delete version ${String(version)} and its links to runs?`}
          confirm="Delete"
          isBusy={removeVersion.isPending}
          onConfirm={() => {
            removeVersion.mutate();
          }}
        />
      )}
      <ConfirmButton
        label="Delete prompt"
        question="Delete all versions of this prompt and their links to runs?"
        confirm="Delete all"
        isBusy={removeAll.isPending}
        onConfirm={() => {
          removeAll.mutate();
        }}
      />
      <ActionProblem error={removeVersion.error ?? removeAll.error} />
    </div>
  );
}

function namesOf(versions: readonly PromptVersion[]): Readonly<Record<string, string>> {
  return Object.fromEntries(versions.map(({ version }) => [String(version), `v${String(version)}`]));
}

function Versions({
  name,
  versions,
}: {
  readonly name: string;
  readonly versions: readonly PromptVersion[];
}) {
  const runsOf = (version: number): string =>
    `/runs?prompt=${encodeURIComponent(name)}&pv=${String(version)}&kind=all`;
  const columns: readonly Column<PromptVersion>[] = [
    {
      name: 'version',
      header: 'Version',
      render: ({ version }) => <Link href={runsOf(version)}>v{version}</Link>,
    },
    { name: 'labels', header: 'Labels', render: ({ labels }) => labels.join(', ') },
    { name: 'description', header: 'Description', isWide: true, render: ({ description }) => description },
    ...FIGURES,
  ];
  return (
    <Table label="Versions" items={versions} columns={columns} keyOf={({ version }) => String(version)} />
  );
}

const FIGURES: readonly Column<PromptVersion>[] = [
  {
    name: 'runs',
    header: 'Runs',
    isNumber: true,
    render: ({ figures }) => <Count value={figures.total_traces} missing="" />,
  },
  {
    name: 'success',
    header: 'Success',
    hint: 'Share of the runs that report success or failure',
    isNumber: true,
    render: ({ figures: { success_rate: rate } }) => (
      <Percentage value={rate === null ? null : 100 * rate} missing="No run reports success or failure" />
    ),
  },
  {
    name: 'cost',
    header: 'Cost per run',
    hint: 'Average over runs with a cost',
    isNumber: true,
    render: ({ figures }) => <Money value={figures.avg_cost_usd} missing="No run has a cost" />,
  },
  {
    name: 'mean',
    header: 'Mean duration',
    isNumber: true,
    render: ({ figures }) => <Duration value={figures.avg_latency_ms} missing="No run has ended" />,
  },
  {
    name: 'p95',
    header: 'p95',
    hint: '95th percentile over ended runs of this version',
    isNumber: true,
    render: ({ figures }) => <Duration value={figures.p95_latency_ms} missing="No run has ended" />,
  },
  {
    name: 'created',
    header: 'Created',
    isNumber: true,
    render: ({ created_at }) => <Time at={created_at} relative />,
  },
];
