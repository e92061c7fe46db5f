import type { Schemas } from '../../api/client.js';
import { formatCount, formatCounted, formatExact } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { Time } from '../../parts/figures.js';
import { severityClass } from './LogRows.js';
import type { LogsState } from './logs-state.js';
import styles from './logs.module.css';

type Facets = Schemas['LogFacets'];

/** Filters with the number of records for each choice. */
export function LogFacets({
  facets,
  state,
  onChange,
}: {
  readonly facets: Facets;
  readonly state: LogsState;
  readonly onChange: (change: Partial<LogsState>) => void;
}) {
  return (
    <div className={styles['facets']}>
      <Facet
        title="Severity"
        items={facets.severities
          .toReversed()
          .filter(({ name, count }) => count > 0 || name === state.severity)}
        selected={state.severity}
        classOf={severityClass}
        onSelect={(name) => {
          onChange({ severity: name });
        }}
      />
      <Facet
        title="Service"
        items={facets.services}
        selected={state.service}
        onSelect={(service) => {
          onChange({ service });
        }}
      />
      {facets.of_other_services > 0 && (
        <p className={parts['faint']}>
          {formatCounted(facets.of_other_services, 'record')} of services not listed
        </p>
      )}
      {facets.counted_after !== null && (
        <p className={parts['faint']}>
          Too many records to count: counts are complete from <Time at={facets.counted_after} /> on.
        </p>
      )}
    </div>
  );
}

function Facet<Name extends string>({
  title,
  items,
  selected,
  classOf,
  onSelect,
}: {
  readonly title: string;
  readonly items: readonly { readonly name: Name; readonly count: number }[];
  readonly selected: Name | '';
  readonly classOf?: (name: Name) => string | undefined;
  /** Empty for any. */
  readonly onSelect: (name: Name | '') => void;
}) {
  if (items.length === 0) return null;
  return (
    <section role="group" aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {items.map(({ name, count }) => (
          <li key={name}>
            <button
              type="button"
              className={styles['facet']}
              aria-pressed={name === selected && name !== ''}
              disabled={name === ''}
              title={name === '' ? 'Records without a service cannot be selected' : name}
              onClick={() => {
                onSelect(name === selected ? '' : name);
              }}
            >
              <span className={cx(styles['name'], classOf?.(name))}>{name === '' ? '(none)' : name}</span>
              <span title={formatExact(count)}>{formatCount(count)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
