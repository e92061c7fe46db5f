import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { Count, Duration, FullTime, Money } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { SidePanel } from '../../parts/SidePanel.js';
import { Status } from '../../parts/Status.js';
import { sessionPath } from '../../state/path.js';

/** A preview of a run next to the list. */
export function RunPreview({
  run,
  onClose,
}: {
  readonly run: Schemas['ListedRun'];
  readonly onClose: () => void;
}) {
  return (
    <SidePanel
      label="Run preview"
      title={run.agent_name === '' ? '(no name)' : run.agent_name}
      onClose={onClose}
    >
      <p>
        <Status status={run.status} /> · <Link href={`/traces/${run.trace_id}`}>Open the run</Link>
      </p>
      {run.error_message !== null && <p className={parts['bad']}>{run.error_message}</p>}
      <dl>
        <dt>Started</dt>
        <dd>
          <FullTime at={run.started_at} />
        </dd>
        <dt>Duration</dt>
        <dd>
          <Duration value={run.duration_ms} missing="Still running" />
        </dd>
        <dt>Outcome</dt>
        <dd>{run.outcome ?? <Missing reason="Outcome not set" />}</dd>
        <dt>Input</dt>
        <dd>{run.input_preview ?? <Missing reason="No input in the first spans, or one above 256 KiB" />}</dd>
        <dt>Models</dt>
        <dd>
          {run.models?.join(', ') || (
            <Missing reason={run.models ? 'No span names a model' : 'Too many spans for the list'} />
          )}
        </dd>
        <dt>Spans</dt>
        <dd>
          <Count value={run.span_count} missing="" />
          {(run.error_span_count ?? 0) > 0 && (
            <span className={parts['bad']}>, {run.error_span_count} failed</span>
          )}
        </dd>
        <dt>Tokens</dt>
        <dd>
          <Count value={run.total_tokens} missing="No span reports tokens" />
        </dd>
        <dt>Cost</dt>
        <dd>
          <Money value={run.total_cost_usd} missing="No span has a cost" />
        </dd>
        {run.session_id !== null && (
          <>
            <dt>Session</dt>
            <dd>
              <Link href={sessionPath(run.session_id)}>{run.session_id}</Link>
            </dd>
          </>
        )}
        {run.user_id !== null && (
          <>
            <dt>User</dt>
            <dd>
              <Link href={`/sessions?user=${encodeURIComponent(run.user_id)}`}>{run.user_id}</Link>
            </dd>
          </>
        )}
        {run.tags.length > 0 && (
          <>
            <dt>Tags</dt>
            <dd>{run.tags.join(', ')}</dd>
          </>
        )}
      </dl>
    </SidePanel>
  );
}
