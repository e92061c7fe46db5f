import { Link } from 'wouter';
import { AttributeRows } from '../../json/AttributeRows.js';
import { JsonView } from '../../json/JsonView.js';
import { member, printJson, textOf, tryParseJson, type Attribute, type Json } from '../../json/parse.js';
import { LongText } from '../../messages/LongText.js';
import { CopyButton } from '../../parts/CopyButton.js';
import { formatRelative, formatTimeExactly } from '../../format/time.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { SidePanel } from '../../parts/SidePanel.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { useNow } from '../../state/clock.js';
import { useSettings } from '../../state/settings.js';
import { severityClass } from './LogRows.js';
import type { LogsState, RecordPlace } from './logs-state.js';
import styles from './logs.module.css';
import { useRecord } from './use-logs.js';

/** A record next to the list, with all attributes. */
export function LogRecord({
  place,
  onChange,
  onClose,
}: {
  readonly place: RecordPlace;
  readonly onChange: (change: Partial<LogsState>) => void;
  readonly onClose: () => void;
}) {
  const { data, error, refetch } = useRecord(place);
  return (
    <SidePanel label="Log record" title="Log record" className={styles['record']} onClose={onClose}>
      {error && data === undefined ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton rows={4} />
      ) : data === null ? (
        <p>This record is no longer stored, or the link belongs to another daemon.</p>
      ) : (
        <Whole record={data} onChange={onChange} />
      )}
    </SidePanel>
  );
}

function Whole({
  record,
  onChange,
}: {
  readonly record: Json;
  readonly onChange: (change: Partial<LogsState>) => void;
}) {
  const [severity = '', service = '', trace, span] = ['severity', 'service_name', 'trace_id', 'span_id'].map(
    (name) => textOf(record, name),
  );
  const sent = textOf(record, 'severity_text') ?? '';
  const event = textOf(record, 'event_name');
  const observed = textOf(record, 'observed_at');
  return (
    <>
      <p className={parts['filters']}>
        {trace !== undefined && (
          <>
            <Link
              className={parts['button']}
              href={`/traces/${trace}${span === undefined ? '' : `?span=${span}`}`}
            >
              Open the run
            </Link>
            <button
              type="button"
              className={parts['button']}
              onClick={() => {
                onChange({ trace, span: '' });
              }}
            >
              Logs of this run
            </button>
          </>
        )}
        <CopyButton label="Copy JSON" text={() => printJson(record, true)} />
      </p>
      <Body text={textOf(record, 'body')} event={textOf(record, 'event_name')} />
      <dl>
        <dt>Time</dt>
        <dd>
          <ExactTime at={textOf(record, 'timestamp') ?? ''} />
        </dd>
        {observed !== undefined && (
          <>
            <dt>Observed</dt>
            <dd>
              <ExactTime at={observed} />
            </dd>
          </>
        )}
        <dt>Severity</dt>
        <dd>
          <span className={severityClass(severity)}>{severity}</span>
          {sent !== '' && sent.toLowerCase() !== severity && ` (sent as ${sent})`}
        </dd>
        <dt>Service</dt>
        <dd>{service === '' ? <Missing reason="Not sent" /> : service}</dd>
        {event !== undefined && (
          <>
            <dt>Event</dt>
            <dd>
              {event}{' '}
              <button
                type="button"
                className={parts['button']}
                aria-label="Filter by event"
                onClick={() => {
                  onChange({ event });
                }}
              >
                Filter
              </button>
            </dd>
          </>
        )}
        <dt>Span</dt>
        <dd>{span ?? <Missing reason="No span" />}</dd>
      </dl>
      <Section
        title="Attributes"
        attributes={entriesOf(member(record, 'attributes'))}
        onFilter={(key, value) => {
          onChange({ attribute: `${key}=${value}` });
        }}
      />
      <Section title="Resource" attributes={entriesOf(member(record, 'resource'))} />
      <Section title="Scope" attributes={entriesOf(member(record, 'scope'))} />
    </>
  );
}

/** With milliseconds; the tooltip has the original value. */
function ExactTime({ at }: { readonly at: string }) {
  const { zone } = useSettings();
  const now = useNow();
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={at}>
      {formatTimeExactly(ms, zone)} <span className={parts['faint']}>{formatRelative(ms, now)}</span>
    </time>
  );
}

function Body({ text, event }: { readonly text: string | undefined; readonly event: string | undefined }) {
  if (text === undefined) return <p className={parts['faint']}>{event ?? 'No body.'}</p>;
  const json = text.startsWith('{') || text.startsWith('[') ? tryParseJson(text) : undefined;
  if (json !== undefined) return <JsonView value={json} label="Body" />;
  return (
    <pre className={styles['whole']} tabIndex={0} aria-label="Body">
      <LongText text={text}>{(shown) => shown}</LongText>
    </pre>
  );
}

function Section({
  title,
  attributes,
  onFilter,
}: {
  readonly title: string;
  readonly attributes: readonly Attribute[];
  readonly onFilter?: (key: string, value: string) => void;
}) {
  if (attributes.length === 0) return null;
  return (
    <section>
      <h3>
        {title} ({attributes.length})
      </h3>
      <AttributeRows attributes={attributes} {...(onFilter && { onFilter })} />
    </section>
  );
}

function entriesOf(value: Json | undefined): readonly Attribute[] {
  return value?.kind === 'object' ? value.entries.map(([key, each]) => ({ key, value: each })) : [];
}
