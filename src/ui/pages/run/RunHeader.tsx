import { ChevronLeft, ChevronRight, GitCompareArrows } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { formatDuration } from '../../format/duration.js';
import { formatCounted } from '../../format/number.js';
import { AttributeRows } from '../../json/AttributeRows.js';
import { parseJson, type Json } from '../../json/parse.js';
import { CopyButton } from '../../parts/CopyButton.js';
import { cx } from '../../parts/cx.js';
import { Count, Duration, FullTime, Money } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { Status } from '../../parts/Status.js';
import { Overlay } from '../../shell/Dialogs.js';
import { useNowWhile } from '../../state/clock.js';
import { readText } from '../../api/client.js';
import type { LoadedRun } from './load-run.js';
import { EditOutcome } from './Outcome.js';
import { Rating } from './Rating.js';
import { RunScores } from './Scores.js';
import { useNeighbours } from './use-neighbours.js';
import styles from './run.module.css';

/** Dimensions: the field of the run, its name, and the filter of the list. */
const DIMENSIONS = [
  ['environment', 'Environment', 'env'],
  ['release', 'Release', 'release'],
  ['agent_version', 'Agent version', 'version'],
  ['repository', 'Repository', 'repo'],
] as const;

/** The header of a run, with links to its neighbours in the list. */
export function RunHeader({
  run,
  spanCount,
  isShort,
}: {
  readonly run: LoadedRun['run'];
  readonly spanCount: number;
  /** Only the title, while the panel fills the window. */
  readonly isShort: boolean;
}) {
  const title = run.agent_name === '' ? '(no name)' : run.agent_name;
  return (
    <header className={styles['header']}>
      <title>{`${title} · Jackdaw`}</title>
      <div className={styles['titleLine']}>
        <h1 title={title}>
          <Link href={`/agents/${run.agent_id}`}>{title}</Link>
        </h1>
        <Status status={run.status} />
        <Neighbours id={run.trace_id} />
      </div>
      {!isShort && <Facts run={run} spanCount={spanCount} />}
    </header>
  );
}

function Facts({ run, spanCount }: { readonly run: LoadedRun['run']; readonly spanCount: number }) {
  const now = useNowWhile(run.status === 'running');
  const followed = run.metadata?.['jackdaw.followed_spans'];
  return (
    <>
      <dl className={styles['facts']}>
        <Fact name="Started">
          <FullTime at={run.started_at} />
        </Fact>
        <Fact name="Duration">
          {run.duration_ms === null && run.status === 'running' ? (
            <span>{formatDuration(Math.max(0, now - Date.parse(run.started_at)))} so far</span>
          ) : (
            <Duration value={run.duration_ms} missing="End time unknown" />
          )}
        </Fact>
        <Fact name="Spans">
          <Count value={spanCount} missing="" />
        </Fact>
        <Fact name="Tokens">
          <Count value={run.total_tokens} missing="No span reports tokens" />
        </Fact>
        <Fact name="Cost">
          <Money value={run.total_cost_usd} missing="No span has a cost" />
        </Fact>
        <Fact name="Success">
          {run.success === null ? (
            <NotSet />
          ) : (
            <span className={cx(!run.success && parts['bad'])}>{run.success ? 'Yes' : 'No'}</span>
          )}
          <EditOutcome run={run} />
        </Fact>
        {run.outcome !== null && <Fact name="Outcome">{run.outcome}</Fact>}
        <Fact name="Rating">
          <Rating hasKeys traceId={run.trace_id} spanId={null} scores={run.scores} />
        </Fact>
        {run.scores.length > 0 && (
          <Fact name="Scores">
            <RunScores traceId={run.trace_id} scores={run.scores} />
          </Fact>
        )}
        {run.session_id !== null && (
          <Fact name="Session">
            <Link
              href={`/runs?kind=all&session=${encodeURIComponent(run.session_id)}`}
              title={run.session_id}
            >
              {run.session_id}
            </Link>
          </Fact>
        )}
        {run.user_id !== null && (
          <Fact name="User">
            <Link href={`/runs?kind=all&user=${encodeURIComponent(run.user_id)}`} title={run.user_id}>
              {run.user_id}
            </Link>
          </Fact>
        )}
        {DIMENSIONS.map(
          ([field, name, filter]) =>
            run[field] !== null && (
              <Fact key={field} name={name}>
                <Link href={`/runs?kind=all&${filter}=${encodeURIComponent(run[field])}`} title={run[field]}>
                  {run[field]}
                </Link>
              </Fact>
            ),
        )}
        {run.metadata !== null && <Metadata run={run} metadata={run.metadata} />}
        {run.tags.length > 0 && (
          <Fact name="Tags">
            {run.tags.map((tag) => (
              <Link
                key={tag}
                className={parts['chip']}
                href={`/runs?kind=all&tag=${encodeURIComponent(tag)}`}
              >
                {tag}
              </Link>
            ))}
          </Fact>
        )}
      </dl>
      {run.error_message !== null && <p className={styles['error']}>{run.error_message}</p>}
      {typeof followed === 'number' && (
        <p className={parts['faint']}>
          This run is truncated: its agent and session come from its first {formatCounted(followed, 'span')},
          and it is not on the service map.
        </p>
      )}
    </>
  );
}

/** Longer values are shown in the list of all metadata only. */
const MOST_CHARACTERS = 40;
const MOST_ENTRIES = 4;

/** The first short entries, and all of them on request. */
function Metadata({
  run,
  metadata,
}: {
  readonly run: LoadedRun['run'];
  readonly metadata: Readonly<Record<string, unknown>>;
}) {
  const [isOpen, setOpen] = useState(false);
  // These have facts of their own.
  const shown: readonly unknown[] = [run.session_id, run.user_id, ...DIMENSIONS.map(([field]) => run[field])];
  const entries = Object.entries(metadata).filter(
    ([key, value]) => key !== 'tags' && !key.startsWith('jackdaw.') && !shown.includes(value),
  );
  if (entries.length === 0) return null;
  const short = entries
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .filter(([key, value]) => `${key}${String(value)}`.length <= MOST_CHARACTERS)
    .slice(0, MOST_ENTRIES);
  return (
    <Fact name="Metadata">
      {short.map(([key, value]) => (
        <span key={key} className={parts['chip']}>{`${key}: ${String(value)}`}</span>
      ))}{' '}
      {short.length < entries.length && (
        <button
          type="button"
          className={styles['textButton']}
          onClick={() => {
            setOpen(true);
          }}
        >
          {short.length === 0 ? formatCounted(entries.length, 'value') : `Show all ${String(entries.length)}`}
        </button>
      )}
      {isOpen && (
        <Overlay
          title="Metadata of the run"
          isWide
          onClose={() => {
            setOpen(false);
          }}
        >
          <AttributeRows attributes={entries.map(([key, value]) => ({ key, value: toJson(value) }))} />
        </Overlay>
      )}
    </Fact>
  );
}

function toJson(value: unknown): Json {
  return parseJson(JSON.stringify(value));
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function NotSet() {
  return <span className={parts['faint']}>not set</span>;
}

function Neighbours({ id }: { readonly id: string }) {
  const { before, after, go } = useNeighbours(id);
  const button = cx(parts['button'], parts['iconButton']);
  return (
    <div className={styles['neighbours']}>
      <Link
        className={parts['button']}
        href={`/compare/runs?a=previous&b=${id}`}
        title="Compare with the previous run of this agent"
      >
        <GitCompareArrows size={16} aria-hidden="true" /> Compare
      </Link>
      <CopyButton label="Copy id" text={() => id} />
      <CopyButton
        label="Copy JSON"
        text={() => readText(`dashboard/traces/${id}?include=metadata`, new AbortController().signal)}
      />
      {(before !== undefined || after !== undefined) && (
        <>
          <button
            type="button"
            className={button}
            aria-label="Previous run in the list"
            disabled={before === undefined}
            onClick={go(before)}
          >
            <ChevronLeft size={16} aria-hidden="true" />
          </button>
          <button
            type="button"
            className={button}
            aria-label="Next run in the list"
            disabled={after === undefined}
            onClick={go(after)}
          >
            <ChevronRight size={16} aria-hidden="true" />
          </button>
        </>
      )}
    </div>
  );
}
