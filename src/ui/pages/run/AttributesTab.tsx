import { Link } from 'wouter';
import { traceIdIn } from '../../format/trace-id.js';
import { AttributeRows } from '../../json/AttributeRows.js';
import { itemsOf, member, textOf, type Attribute, type Json } from '../../json/parse.js';
import parts from '../../parts/parts.module.css';
import styles from './run.module.css';

/** OTLP/JSON attributes in the order sent. */
function attributesOf(list: Json | undefined): readonly Attribute[] {
  return (itemsOf(list) ?? []).flatMap((item) => {
    const key = textOf(item, 'key');
    return key === undefined ? [] : [{ key, value: plainValue(member(item, 'value')) }];
  });
}

const NOTHING: Json = { kind: 'literal', value: null };

/** A value without its OTLP type: `{intValue: "3"}` is `3`. */
function plainValue(value: Json | undefined): Json {
  if (value?.kind !== 'object') return NOTHING;
  const [type, inner] = value.entries[0] ?? ['', NOTHING];
  switch (type) {
    case 'intValue':
      return inner.kind === 'string' ? { kind: 'number', digits: inner.text } : inner;
    case 'arrayValue':
      return { kind: 'array', items: (itemsOf(member(inner, 'values')) ?? []).map(plainValue) };
    case 'kvlistValue':
      return {
        kind: 'object',
        entries: attributesOf(member(inner, 'values')).map(({ key, value: each }) => [key, each]),
      };
    default:
      return inner;
  }
}

/** Attributes, events, links, scope and resource. Spans of the batch API have none. */
export function AttributesTab({ detail }: { readonly detail: Json }) {
  const attributes = attributesOf(member(detail, 'attributes'));
  const events = itemsOf(member(detail, 'events')) ?? [];
  const links = itemsOf(member(detail, 'links')) ?? [];
  const resource = attributesOf(member(member(detail, 'resource'), 'attributes'));
  const scope = member(detail, 'scope');
  const isOtlp = member(detail, 'attributes')?.kind === 'array';
  if (!isOtlp)
    return (
      <p className={parts['faint']}>
        No OpenTelemetry attributes (sent via batch API). Metadata is in the JSON tab.
      </p>
    );
  return (
    <div className={styles['stack']}>
      <Table
        title="Attributes"
        attributes={attributes}
        dropped={member(detail, 'dropped_attributes_count')}
      />
      <section className={styles['stack']}>
        <h3>Events ({events.length})</h3>
        {events.map((event, at) => (
          <div key={at} className={styles['event']}>
            <strong>{textOf(event, 'name')}</strong>{' '}
            <span className={parts['faint']}>{textOf(event, 'timestamp')}</span>
            <AttributeRows attributes={attributesOf(member(event, 'attributes'))} />
          </div>
        ))}
      </section>
      <section className={styles['stack']}>
        <h3>Links ({links.length})</h3>
        {links.map((link, at) => (
          <div key={at} className={styles['event']}>
            <Link href={`/traces/${traceIdIn(textOf(link, 'trace_id') ?? '') ?? ''}`}>
              Trace {textOf(link, 'trace_id')}
            </Link>{' '}
            <span className={parts['faint']}>span {textOf(link, 'span_id')}</span>
            <AttributeRows attributes={attributesOf(member(link, 'attributes'))} />
          </div>
        ))}
      </section>
      <Table title="Resource" attributes={resource} />
      {scope?.kind === 'object' && (
        <p>
          Scope <code>{textOf(scope, 'name')}</code> {textOf(scope, 'version')}
        </p>
      )}
    </div>
  );
}

function Table({
  title,
  attributes,
  dropped,
}: {
  readonly title: string;
  readonly attributes: readonly Attribute[];
  readonly dropped?: Json | undefined;
}) {
  return (
    <section className={styles['stack']}>
      <h3>
        {title} ({attributes.length})
      </h3>
      {dropped?.kind === 'number' && dropped.digits !== '0' && (
        <p className={parts['bad']}>The sender dropped {dropped.digits} more.</p>
      )}
      <AttributeRows attributes={attributes} />
    </section>
  );
}
